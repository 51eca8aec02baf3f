"""TREC RAG nugget assignments as grades of systems: support 1, partial support 0.5, anything else 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from examcore import shown_json
from grading._records import Grade
from grading.formats._grades import ReadGrades
from grading.scores._nuggets import SUPPORT, Assignments


def graded_nuggets(runs: Sequence[Assignments]) -> ReadGrades:
    """Grades of nuggets, named by their text.

    A text that stands twice among a topic's nuggets cannot be told apart between systems: it is left out and counted,
    and so are nuggets that not every system was judged on. Labels outside the vocabulary count as no support and are
    counted.
    """
    unknown = Counter[str]()
    for run in runs:
        unknown.update(run.unknown()["support"])
    grades, twice = _once(runs)
    judged = Counter((one.query, one.question) for one in grades)
    common = tuple(one for one in grades if judged[one.query, one.question] == len(runs))
    notes = []
    if unknown:
        named = ", ".join(f"{count} {shown_json(label)}" for label, count in unknown.most_common(5))
        notes.append(f"{unknown.total()} labels are outside the vocabulary and count as no support: {named}.")
    if twice:
        notes.append(f"{twice} labels are of nuggets that stand twice in their topic and are left out.")
    if partly := sum(count < len(runs) for count in judged.values()):
        notes.append(f"{partly} nuggets were not judged for all {len(runs)} systems and are left out.")
    return ReadGrades(common, tuple(notes))


def _once(runs: Sequence[Assignments]) -> tuple[list[Grade], int]:
    """The grades of nuggets whose text stands once in its topic, and how many labels the others have."""
    grades, twice = [], 0
    for run in runs:
        for topic, nuggets in run.topics.items():
            texts = Counter(one.text for one in nuggets)
            known = [one for one in nuggets if texts[one.text] == 1]
            grades += [Grade(topic, run.run, one.text, SUPPORT.get(one.support, 0.0)) for one in known]
            twice += len(nuggets) - len(known)
    return grades, twice
