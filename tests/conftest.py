"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.chromium import Chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """One Chromium for the tests of a module."""
    with Chromium() as tab:
        yield tab
