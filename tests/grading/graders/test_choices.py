"""EXAM's own reader: choices by likelihood over an article's passages, or none."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from examcore import Exam, Likelihoods, Question
from grading.formats._passages import Passage, articles_of
from grading.graders._choices import ABSTAINED, RIGHT, WRONG, choice_reader, supported
from tests.grading.scripted import asking
from tests.scripted_model import ScriptedModel


def question(name: str, *choices: str, topic: str = "bread", **more: str) -> Question:
    return Question(name, f"What about {name}?", choices or ("yeast", "sand", "glass"), 0, topic=topic, **more)  # type: ignore[arg-type]


def read(passages: list[Passage], *questions: Question, path: Path, margin: float = 1.0) -> dict[tuple[str, str], str]:
    exam = Exam(questions)
    articles = articles_of(exam, passages)
    reader = choice_reader(asking(ScriptedModel(), path), exam, articles, margin)
    return {(one.grade.passage, one.grade.question): one.rule for one in reader.grade(articles.pairs)}


def test_an_article_answers_what_a_passage_supports_wrong_or_right_and_else_abstains(tmp_path: Path) -> None:
    passages = [
        Passage("bread", "p1", "Much of it is said of flour.", "A"),
        Passage("bread", "p2", "The yeast lifts the dough.", "A"),
        Passage("bread", "p1", "A house stands on sand.", "B"),
        Passage("bread", "p9", "Nothing of the kind.", "C"),
    ]
    found = read(passages, question("q1"), path=tmp_path)
    assert found == {("A", "q1"): RIGHT, ("B", "q1"): WRONG, ("C", "q1"): ABSTAINED}


def test_wrong_and_abstained_are_both_0_and_say_why(tmp_path: Path) -> None:
    exam = Exam((question("q1"),))
    articles = articles_of(exam, [Passage("bread", "p1", "sand"), Passage("bread", "p2", "flour")])
    wrong, none = choice_reader(asking(ScriptedModel(), tmp_path), exam, articles).grade(articles.pairs)
    assert (wrong.grade.grade, wrong.grade.answer, wrong.grade.reply) == (
        0,
        "sand",
        "passage p1 supports it by 4.000 nats",
    )
    assert (none.grade.grade, none.grade.answer) == (0, "")
    assert none.grade.reply == "no passage supports a choice (at most 0.000 nats)"


def test_without_systems_each_passage_is_an_article(tmp_path: Path) -> None:
    passages = [Passage("bread", "p1", "yeast"), Passage("bread", "p2", "glass")]
    assert read(passages, question("q1"), path=tmp_path) == {("p1", "q1"): RIGHT, ("p2", "q1"): WRONG}


def test_no_passage_supports_by_more_than_the_margin_it_makes(tmp_path: Path) -> None:
    passages = [Passage("bread", "p1", "yeast")]
    assert read(passages, question("q1"), path=tmp_path, margin=3.9) == {("p1", "q1"): RIGHT}
    assert read(passages, question("q1"), path=tmp_path, margin=4.0) == {("p1", "q1"): ABSTAINED}


def test_the_rule_is_elimination_then_the_likeliest() -> None:
    """The rule spelled out by loops, over random likelihoods."""
    rng = np.random.default_rng(5)
    texts = ("one", "two words", "three more words")
    abstained = 0
    for _ in range(300):
        closed = rng.normal(-5, 2, 3)
        passages = [Likelihoods(tuple(closed + rng.normal(0, 1, 3)), (1, 2, 3), 9) for _ in range(rng.integers(1, 4))]
        margin = float(rng.uniform(0, 2))
        lifts = [[total - alone for total, alone in zip(one.sums, closed, strict=True)] for one in passages]
        supports = [[min(one, one - (sum(lift) - one) / 2) for one in lift] for lift in lifts]
        standing = [
            (passages[p].sums[c] / len(texts[c]), c, p)
            for p, c in product(range(len(passages)), range(3))
            if supports[p][c] > margin
        ]
        found = supported(closed.tolist(), passages, texts, margin)
        if standing:
            best = max(standing)
            assert (found.choice, found.passage) == best[1:]
            assert found.support == pytest.approx(supports[best[2]][best[1]])
        else:
            abstained += 1
            assert found.choice is None
    assert 20 < abstained < 280


def test_what_moves_all_choices_alike_supports_none_nor_does_what_lowers_one_least() -> None:
    """A text of the same kind as the question makes every choice likelier, whatever it says."""
    closed = [-9.0, -5.0, -7.0]
    lifted = Likelihoods(tuple(one + 4 for one in closed), (1, 1, 1), 9)
    assert supported(closed, [lifted], ("a", "b", "c"), 0.01).choice is None
    lowered = Likelihoods((-9.5, -8.0, -10.0), (1, 1, 1), 9)
    assert supported(closed, [lowered], ("a", "b", "c"), 0.01).choice is None
    raised = Likelihoods((-8.0, -5.0, -7.0), (1, 1, 1), 9)
    assert supported(closed, [raised], ("a", "b", "c"), 0.01).choice == 0


def test_an_article_without_passages_supports_nothing() -> None:
    found = supported([-1.0, -2.0], [], ("a", "b"), 0.0)
    assert found.choice is None
    assert math.isnan(found.support)


@pytest.mark.parametrize(
    "one", [question("q1", topic="bread"), question("q1", topic="food", document_id="bread")], ids=["topic", "document"]
)
def test_a_question_is_of_the_query_that_its_topic_or_document_names(one: Question) -> None:
    other = question("q2", topic="tides", document_id="tides")
    articles = articles_of(Exam((one, other)), [Passage("bread", "p", "x"), Passage("moss", "p", "y")])
    assert [(pair.question.id, pair.passage.query) for pair in articles.pairs] == [("q1", "bread")]
    assert articles.without_passages == ("tides",)
    assert articles.without_questions == ("moss",)


def test_passages_of_unknown_queries_are_refused() -> None:
    with pytest.raises(ValueError, match=r"passages: their queries \(moss\) are no topic or document of the exam's"):
        articles_of(Exam((question("q1"),)), [Passage("moss", "p", "y")])
