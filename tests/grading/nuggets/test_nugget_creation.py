"""Nuggets grown over batches of passages: what is asked, what is kept, and what happens to bad replies."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from examcore import Prompt
from grading.nuggets._nugget_creation import (
    TopicNuggets,
    distinct_nuggets,
    grow_nuggets,
    weigh_nuggets,
)
from tests.grading.scripted import asking
from tests.scripted_model import Reply, ScriptedModel


def shown(prompt: Prompt) -> list[str]:
    """The list so far in a prompt."""
    return list(json.loads(prompt.user.partition("The list so far: ")[2].partition("\n")[0])["nuggets"])


def passages(prompt: Prompt) -> list[str]:
    return re.findall(r"^\[\d+\] (.*)$", prompt.user, re.MULTILINE)


def adding(prompt: Prompt) -> str:
    """The list so far and the passages, each of which is a fact."""
    return json.dumps({"nuggets": [*shown(prompt), *passages(prompt)]})


def facts(count: int) -> list[str]:
    words = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "mu", "nu", "xi")
    return [f"{words[one % 13]} has {one} parts of {words[one // 13]}" for one in range(count)]


def grown(
    tmp_path: Path, reply: Reply, *topics: TopicNuggets, most: int = 30
) -> tuple[ScriptedModel, tuple[TopicNuggets, ...]]:
    model = ScriptedModel(reply)
    grow_nuggets(asking(model, tmp_path), topics, most=most)
    return model, topics


def test_ten_passages_are_read_at_a_time_with_the_list_so_far(tmp_path: Path) -> None:
    model, (found,) = grown(tmp_path, adding, TopicNuggets("t", "the query", facts(23)))
    assert [len(passages(one)) for one in model.asked] == [10, 10, 3]
    assert [shown(one) for one in model.asked] == [[], facts(10), facts(20)]
    assert all("Query: the query\n" in one.user for one in model.asked)
    assert found.texts == facts(23)


def test_a_topic_has_at_most_so_many_nuggets_the_first_of_the_list(tmp_path: Path) -> None:
    model, (found,) = grown(tmp_path, adding, TopicNuggets("t", "q", facts(40)))
    assert found.texts == facts(30)
    assert "30 at most" in model.asked[0].user
    _, (few,) = grown(tmp_path, adding, TopicNuggets("t", "q", facts(40)), most=4)
    assert few.texts == facts(4)


def test_the_reply_is_the_list_and_what_the_model_drops_is_gone(tmp_path: Path) -> None:
    replies = iter(['{"nuggets": ["old fact", "wrong fact"]}', '{"nuggets": ["old fact in other words"]}'])
    _, (found,) = grown(tmp_path, lambda _: next(replies), TopicNuggets("t", "q", facts(12)))
    assert found.texts == ["old fact in other words"]


def test_a_batch_without_a_list_is_asked_again_in_halves(tmp_path: Path) -> None:
    def overwhelmed(prompt: Prompt) -> str:
        return adding(prompt) if len(passages(prompt)) <= 5 else "Too much."

    model, (found,) = grown(tmp_path, overwhelmed, TopicNuggets("t", "q", facts(10)))
    assert [len(passages(one)) for one in model.asked] == [10, 5, 5]
    assert (found.texts, found.unread, found.unread_passages) == (facts(10), ["Too much."], 0)


def test_passages_of_which_no_list_is_read_leave_the_list_as_it_was(tmp_path: Path) -> None:
    def confused(prompt: Prompt) -> str:
        return "?" if any("has 12 " in one for one in passages(prompt)) else adding(prompt)

    _, (found,) = grown(tmp_path, confused, TopicNuggets("t", "q", facts(21)))
    assert found.texts == [*facts(10), *facts(21)[15:]]
    assert (found.unread_passages, len(found.unread)) == (5, 2)


def test_an_empty_list_deletes_no_facts_and_is_a_list_where_there_are_none(tmp_path: Path) -> None:
    replies = iter(['{"nuggets": []}', '{"nuggets": ["fact"]}', '{"nuggets": []}'])
    _, (found,) = grown(tmp_path, lambda _: next(replies, '{"nuggets": []}'), TopicNuggets("t", "q", facts(21)))
    assert found.texts == ["fact"]
    assert found.unread_passages == 1


def test_topics_grow_side_by_side_and_do_not_mix(tmp_path: Path) -> None:
    first, second = facts(12), [f"the {one}" for one in facts(3)]
    model, found = grown(tmp_path, adding, TopicNuggets("a", "qa", first), TopicNuggets("b", "qb", second))
    assert [one.user.partition("\n")[0] for one in model.asked] == ["Query: qa", "Query: qb", "Query: qa"]
    assert [one.texts for one in found] == [first, second]


@pytest.mark.parametrize(
    ("second", "is_kept"),
    [
        ("Sweat glands lie deep in the dermis of the human skin.", False),
        ("sweat  glands lie deep in the DERMIS of the human skin", False),
        ("Sweat glands lie deep in the dermis of the human skin too", False),
        ("Sweat glands lie in the skin", True),
        ("Sweat glands do not lie deep in the dermis of the human skin", True),
        ("Hair roots lie deep in the dermis of the human skin", True),
    ],
)
def test_a_nugget_that_says_the_same_goes(second: str, is_kept: bool) -> None:
    first = "Sweat glands lie deep in the dermis of the human skin"
    assert distinct_nuggets([first, second]) == ([first, second] if is_kept else [first])


def test_other_numbers_are_other_facts_however_alike_the_words() -> None:
    years = [f"The gross domestic product of the country rose by 3 percent in {year}" for year in (2019, 2020)]
    assert distinct_nuggets(years) == years
    assert distinct_nuggets([*years, years[0].upper()]) == years


def test_importance_is_asked_ten_at_a_time_and_what_has_no_label_alone(tmp_path: Path) -> None:
    def weighing(prompt: Prompt) -> str:
        numbered = re.findall(r"^(\d+)\. \w+ has (\d+) ", prompt.user, re.MULTILINE)
        if len(numbered) == 1:
            return "unsure" if numbered[0][1] == "11" else '{"1": "vital"}'
        return json.dumps({at: "okay" for at, number in numbered if number not in ("3", "11")})

    model = ScriptedModel(weighing)
    topic = TopicNuggets("t", "q", (), texts=facts(12))
    weigh_nuggets(asking(model, tmp_path), [topic])
    assert len(model.asked) == 4
    assert {one.text: one.importance for one in topic.nuggets if one.importance != "okay"} == {facts(12)[3]: "vital"}
    assert [one.text for one in topic.nuggets if not one.read] == [facts(12)[11]]
