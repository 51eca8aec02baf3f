"""Programs compiled once are found on disk, and a bad disk does no harm."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irt.fitting._compiled_programs import compiled, folder


def doubled(x: Any) -> Any:
    return 2 * x + 1


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGEXAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "programs"


def test_a_program_is_kept_and_found_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    x = np.arange(3.0, dtype=np.float32)
    np.testing.assert_allclose(compiled(doubled, x)(x), 2 * x + 1)
    assert len(list(cache.iterdir())) == 1

    def refuse(self: Any) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(jax.stages.Lowered, "compile", refuse)
    np.testing.assert_allclose(compiled(doubled, x)(x), 2 * x + 1)


def test_a_spoilt_file_is_compiled_anew_and_mended(cache: Path) -> None:
    x = np.arange(3.0, dtype=np.float32)
    compiled(doubled, x)
    (path,) = cache.iterdir()
    path.write_bytes(b"nonsense")
    np.testing.assert_allclose(compiled(doubled, x)(x), 2 * x + 1)
    assert path.read_bytes() != b"nonsense"


def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAGEXAM_CACHE", str(tmp_path / "file"))
    x = np.arange(3.0, dtype=np.float32)
    np.testing.assert_allclose(compiled(doubled, x)(x), 2 * x + 1)


def test_the_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGEXAM_CACHE", str(tmp_path))
    assert folder() == tmp_path / "programs"
    monkeypatch.delenv("RAGEXAM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder() == tmp_path / "ragexam" / "programs"
