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


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later garbage collection: a full one took .7 s, and sittings ask for it."""
    gc.freeze()
