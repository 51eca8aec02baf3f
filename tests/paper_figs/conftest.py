from __future__ import annotations

from pathlib import Path

import pytest

from paper_figs._task_results import TaskResults, read_run
from tests.paper_figs.released_folder import write_released


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fits")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_released(tmp_path_factory.mktemp("experiments") / "hard & long" / "released")


@pytest.fixture(scope="session")
def hard(released: Path, cache: Path) -> TaskResults:
    return read_run(str(released), cache)
