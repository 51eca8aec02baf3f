"""The differences between stored settings and present ones."""

from __future__ import annotations

from collections.abc import Mapping


def differences(stored: Mapping[str, object], now: Mapping[str, object], path: str = "") -> list[str]:
    """`exam.questions: stored 60, now 80` for each setting that differs, at any depth; empty when none does.

    In the order of `now`; settings that only `stored` has come last. None counts as a missing setting.
    """
    found: list[str] = []
    for key in [*now, *(key for key in stored if key not in now)]:
        before, after = stored.get(key), now.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += differences(before, after, f"{path}{key}.")
        elif before != after:
            found.append(f"{path}{key}: stored {_shown(before)}, now {_shown(after)}")
    return found


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)
