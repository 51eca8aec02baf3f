"""What tests of several rooms share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tests.chromium import Chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """One Chromium for all tests of a session."""
    with Chromium() as tab:
        yield tab


@pytest.fixture(scope="module", autouse=True)
def no_garbage_of_earlier_files() -> Iterator[None]:
    """Leave what a file of tests loaded out of later garbage collections, which took a tenth of all time."""
    yield
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later garbage collection: a full one took .7 s, and sittings ask for it."""
    gc.freeze()
