"""What tests of several rooms share."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator

import pytest

from tests.chromium import Chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """One Chromium for all tests of a session."""
    with Chromium() as tab:
        yield tab


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, bool | None, bool | None]:
    """Leave what a test loaded out of later garbage collections, which took a tenth of all time."""
    before = gc.get_stats()[2]["collections"]
    done = yield
    if gc.get_stats()[2]["collections"] > before:
        gc.collect()
        gc.freeze()
    return done


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later garbage collection: a full one took .7 s, and sittings ask for it."""
    gc.freeze()
