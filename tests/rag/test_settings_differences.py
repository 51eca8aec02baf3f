"""What differs between two groups of settings, and nothing else."""

from __future__ import annotations

from rag import differences


def test_only_what_differs_is_told_at_any_depth() -> None:
    stored = {"k": 1, "behind": {"m": {"model": "a", "dtype": "auto"}, "bm25": {"kind": "bm25"}}, "shots": [0, 1]}
    now = {"shots": [0, 2], "k": 1, "behind": {"m": {"model": "b", "dtype": "auto"}, "bm25": {"kind": "bm25"}}}
    assert differences(stored, now) == ["shots: stored [0, 1], now [0, 2]", "behind.m.model: stored 'a', now 'b'"]


def test_what_one_lacks_is_nothing_and_so_is_none() -> None:
    told = ["new: stored nothing, now 2", "gone: stored 1, now nothing"]
    assert differences({"a": None, "gone": 1}, {"new": 2}) == told
    assert differences({"gone": 1}, {"new": 2, "b": None}) == told
    assert differences({"a": {"b": 1}}, {"a": {"b": 1}}) == []


def test_a_group_in_place_of_a_value_is_told_whole() -> None:
    assert differences({"a": {"b": 1}}, {"a": 1}) == ["a: stored {'b': 1}, now 1"]
