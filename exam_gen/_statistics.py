"""What is in an exam and what was lost on the way (table 4 of the auto-rag-eval paper)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from exam_gen._baselines import Baseline, fixed_answer_baseline, key_positions, length_baseline
from exam_gen._language_notice import language_counts
from exam_gen.rules._rule import BEYOND, rule_of
from examcore import ENGLISH, STEM, Dropped, Question, overlap

_WORDS = ("what", "which", "how", "why", "when", "where", "who", "whom", "whose")


class Spread(NamedTuple):
    """Mean, standard deviation, least and most."""

    mean: float
    sd: float
    least: float
    most: float


@dataclass(frozen=True)
class ExamStatistics:
    """Counts, baselines, lengths and coverage of an exam; shares are out of its questions, lengths in characters.

    `generated` = all of `unparsable` + all of `dropped` + `beyond` + `set_aside` + `surviving`: unparsable replies by
    kind, questions dropped by rule, good ones beyond the wanted number, the pool of examples, and the exam. `labels`
    counts the questions with each label, by its kind (`bloom`, `form` …); a question may have several, or none.
    `overlap`, by kind of query (`stem` is one), is the share of the content words of each question's first query that
    stand in its passage. `languages` counts questions by code; `question_words` are shares of those in English.
    `uncovered_topics` are those of the corpus that no question asks about (empty when the corpus is not given).
    """

    generated: int
    unparsable: Mapping[str, int]
    dropped: Mapping[str, int]
    beyond: int
    set_aside: int
    surviving: int
    positions: tuple[int, ...]
    fixed_answer: Baseline
    longest_answer: Baseline
    shortest_answer: Baseline
    stem_length: Spread
    choice_length: Spread
    key_length: Spread
    context_length: Spread
    question_words: Mapping[str, float]
    first_words: Mapping[str, int]
    topics: Mapping[str, int]
    uncovered_topics: tuple[str, ...]
    documents: int
    chunks: int
    labels: Mapping[str, Mapping[str, int]]
    overlap: Mapping[str, Spread]
    languages: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """The statistics as plain mappings, for JSON; without `languages` where all questions are in English."""
        found = {one.name: _plain(getattr(self, one.name)) for one in fields(self)}
        if self.languages.keys() <= {ENGLISH}:
            del found["languages"]
        return found


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return value._asdict() if isinstance(value, Baseline | Spread) else value


def exam_statistics(
    questions: Sequence[Question],
    dropped: Sequence[Dropped] = (),
    *,
    pool: Sequence[Question] = (),
    topics: Collection[str] = (),
) -> ExamStatistics:
    """Statistics of an exam and of what was dropped on the way to it.

    A dropped record without a question was unparsable, its reason is the kind; with one, the rule that dropped it
    counts. `pool` are the survivors set aside as examples, `topics` those of the corpus.
    """
    beyond = sum(one.reason == BEYOND for one in dropped)
    kinds = Counter(rule_of(one.reason.removeprefix("unparsable:")) for one in dropped if one.question is None)
    rules = Counter(rule_of(one.reason) for one in dropped if one.question is not None and one.reason != BEYOND)
    by_topic = Counter(question.topic for question in questions)
    return ExamStatistics(
        generated=kinds.total() + rules.total() + beyond + len(pool) + len(questions),
        unparsable=dict(kinds.most_common()),
        dropped=dict(rules.most_common()),
        beyond=beyond,
        set_aside=len(pool),
        surviving=len(questions),
        positions=key_positions(questions),
        fixed_answer=fixed_answer_baseline(questions),
        longest_answer=length_baseline(questions, max),
        shortest_answer=length_baseline(questions, min),
        stem_length=_spread([len(question.stem) for question in questions]),
        choice_length=_spread([len(choice) for question in questions for choice in question.choices]),
        key_length=_spread([len(question.answer) for question in questions]),
        context_length=_spread([len(question.context) for question in questions]),
        question_words=_question_words([one for one in questions if one.language == ENGLISH]),
        first_words=_first_words(questions),
        topics=dict(by_topic.most_common()),
        uncovered_topics=tuple(sorted(set(topics) - set(by_topic))),
        documents=len({question.document_id for question in questions}),
        chunks=len({question.chunk_id for question in questions}),
        labels=_labels(questions),
        overlap={kind: _spread(overlaps(questions, kind)) for kind in query_kinds(questions)},
        languages=language_counts(questions),
    )


def query_kinds(questions: Sequence[Question]) -> list[str]:
    """The kinds of queries that the questions have, stems first."""
    return list(dict.fromkeys([STEM, *(query.kind for one in questions for query in one.queries)]))


def overlaps(questions: Sequence[Question], kind: str) -> list[float]:
    """The mean overlap of each question's queries of a kind with the passage, and its title; without a passage none.

    A question without such queries is searched for by its stem.
    """
    sourced = [one for one in questions if one.context]
    return [
        math.fsum(overlap(text, source, one.language) for text in texts) / len(texts)
        for one in sourced
        for source in [f"{one.metadata.get('title', '')} {one.context}"]
        for texts in [[query.text for query in one.queries if query.kind == kind] or [one.stem]]
    ]


def _labels(questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for question in questions:
        for kind, names in question.labels.items():
            counts.setdefault(kind, Counter()).update(set(names))
    return {kind: dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))) for kind, found in counts.items()}


def _spread(values: Sequence[float]) -> Spread:
    if not values:
        return Spread(np.nan, np.nan, np.nan, np.nan)
    return Spread(float(np.mean(values)), float(np.std(values)), float(min(values)), float(max(values)))


def _question_words(questions: Sequence[Question]) -> dict[str, float]:
    """The share of stems with each question word as a whole word (several may stand in one), and with none."""
    found = [set(re.findall(r"\b(?:" + "|".join(_WORDS) + r")\b", question.stem.lower())) for question in questions]
    counts = {word: sum(word in words for words in found) for word in _WORDS}
    shares = {word: count / len(found) for word, count in counts.items() if count}
    return shares | ({"other": sum(not words for words in found) / len(found)} if found else {})


def _first_words(questions: Sequence[Question]) -> dict[str, int]:
    found = (re.search(r"\w+", question.stem.lower()) for question in questions)
    return dict(Counter(match.group() if match else "" for match in found).most_common())
