"""Another's code on a thread of its own: what it returns and raises comes back, and nobody waits longer than wanted."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from rag._third_party import CallTimeoutError, ThirdPartyThread


def test_what_is_returned_and_raised_comes_back_from_one_other_thread() -> None:
    aside = ThirdPartyThread()
    assert {aside.call(threading.get_ident) for _ in range(3)}.isdisjoint({threading.get_ident()})
    assert aside.call(threading.get_ident) == aside.call(threading.get_ident)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        aside.call(lambda: 1 / 0)
    with pytest.raises(SystemExit, match="3"):
        aside.call(lambda: exit(3))


def test_a_timeout_of_the_code_itself_is_no_overdue_call() -> None:
    def late() -> None:
        raise TimeoutError("theirs")

    with pytest.raises(TimeoutError, match="theirs"):
        ThirdPartyThread().call(late, 60)


def test_a_call_that_hangs_is_waited_for_no_longer_than_wanted() -> None:
    release, began = threading.Event(), time.monotonic()
    with pytest.raises(CallTimeoutError, match=r"^$"):
        ThirdPartyThread().call(lambda: release.wait(60), 0.1)
    assert 0.1 <= time.monotonic() - began < 5
    release.set()


def test_the_thread_ends_with_whoever_asked() -> None:
    aside = ThirdPartyThread()
    thread = aside.call(threading.current_thread)
    assert thread.is_alive()
    assert thread.daemon, "it keeps no process from ending"
    del aside
    gc.collect()
    thread.join(20)
    assert not thread.is_alive()
