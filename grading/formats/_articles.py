"""Articles that an exam's questions are asked of: all passages of a system for a query, or each passage alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from examcore import Exam, Question
from grading._records import BankQuestion, KeyAnswer
from grading.formats._passages import Passage, PassageQuestion


class Articles(NamedTuple):
    """What is read: pairs of an exam question and an article, the articles' passages, and what takes no part."""

    pairs: tuple[PassageQuestion, ...]
    passages: Mapping[tuple[str, str], tuple[Passage, ...]]
    without_passages: tuple[str, ...]
    without_questions: tuple[str, ...]


def articles_of(exam: Exam, passages: Sequence[Passage]) -> Articles:
    """Each question with each article of its query; an article is all passages of one system, or one passage.

    A question's query is its `metadata.query`, its topic or its document: the first of them that the passages know.
    Raises `ValueError` when they know none.
    """
    found: dict[tuple[str, str], list[Passage]] = {}
    for one in passages:
        found.setdefault((one.query, one.system or one.id), []).append(one)
    known = {query for query, _ in found}
    queries = _queries(exam, known)
    asked = [
        BankQuestion(one.id, queries[one.id], one.stem, (KeyAnswer(one.answer),), subtopic=one.topic)
        for one in exam.questions
    ]
    pairs = [
        PassageQuestion(question, Passage(query, name, "\n\n".join(one.text for one in texts), texts[0].system))
        for (query, name), texts in found.items()
        for question in asked
        if question.query == query
    ]
    wanted = set(queries.values())
    return Articles(
        tuple(pairs),
        {key: tuple(texts) for key, texts in found.items()},
        tuple(sorted(wanted - known)),
        tuple(sorted(known - wanted)),
    )


def _queries(exam: Exam, known: set[str]) -> dict[str, str]:
    """The query of each question, by the first way in which any question has a query that is known."""
    ways: tuple[Callable[[Question], str], ...] = (
        lambda one: str(one.metadata.get("query", "")),
        lambda one: one.topic,
        lambda one: one.document_id,
    )
    for way in ways:
        found = {one.id: way(one) for one in exam.questions}
        if known & set(found.values()) - {""}:
            return found
    shown = ", ".join(sorted(known)[:3])
    raise ValueError(
        f"passages: their queries ({shown or 'none'}) are no topic or document of the exam's questions; "
        "wanted query = topic, document id or metadata.query of questions"
    )
