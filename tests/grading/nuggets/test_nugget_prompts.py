"""Replies about nuggets: which lists and labels are read in them, and which are not."""

from __future__ import annotations

import pytest

from grading.nuggets._nugget_prompts import IMPORTANCE_LABELS, SUPPORT_LABELS, parse_labels, parse_nuggets


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"nuggets": ["a b", "c"]}', ["a b", "c"]),
        ('Here you are:\n```json\n{"facts": ["a"]}\n```', ["a"]),
        ('["a", "b"]', ["a", "b"]),
        ('{"nuggets": [{"text": "a", "importance": "vital"}, {"nugget": "b"}]}', ["a", "b"]),
        ('{"nuggets": ["a", "", "  \\n "]}', ["a"]),
        ('{"nuggets": ["a", "b', ["a", "b"]),
        ('{"nuggets": []}', []),
        ("I cannot say.", None),
        ("", None),
        ('{"nuggets": "a"}', None),
        ('{"nuggets": [1, 2]}', None),
    ],
)
def test_a_list_of_texts_is_read_and_nothing_else(reply: str, wanted: list[str] | None) -> None:
    assert parse_nuggets(reply) == wanted


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"1": "support", "2": "not_support"}', {0: "support", 1: "not_support"}),
        ('```json\n{"1": "Partial Support", "2": "not-support"}\n```', {0: "partial_support", 1: "not_support"}),
        ('{"labels": {"2": "support"}}', {1: "support"}),
        ('["support", "partial_support"]', {0: "support", 1: "partial_support"}),
        # A list of another length does not say which label belongs to which fact.
        ('["support"]', {}),
        ('["support", "support", "support"]', {}),
        ('{"1": "historical", "2": "support"}', {1: "support"}),
        ('{"0": "support", "3": "support", "one": "support"}', {}),
        ('{"1": ["support"], "2": null}', {}),
        ("support", {}),
        ("", {}),
    ],
)
def test_labels_belong_to_the_numbers_that_were_asked(reply: str, wanted: dict[int, str]) -> None:
    assert parse_labels(reply, 2, SUPPORT_LABELS) == wanted


def test_a_label_of_support_is_no_importance() -> None:
    assert parse_labels('{"1": "support", "2": "OK"}', 2, IMPORTANCE_LABELS) == {1: "okay"}
