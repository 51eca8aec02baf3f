"""Answers in free text: right, wrong or declined, how far to trust their grading, and what they add to choosing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examcore import (
    INTERVAL_LEVEL,
    IntervalEstimate,
    Question,
    RunFolder,
    bootstrap,
    cohen_kappa,
    counted,
    kendall,
    read_chunks,
    read_json_lines,
    read_log,
    shown_json,
    wilson,
)
from examcore.page import percent_range
from rag import Answer, AnswerStore, Pipeline
from ragexam.report._claim_files import read_claim_labels, read_claim_nuggets, read_decisions
from ragexam.report._claim_scores import ClaimFindings
from ragexam.report._claimed_answers import (
    DECLINED,
    LABELS,
    RIGHT,
    WRONG,
    FreeTextAnswer,
    known_passages,
    passage_texts,
)
from ragexam.report._claims_section import answer_card, claims_section
from ragexam.report._component_names import pipeline_names
from ragexam.report._page_parts import (
    PageSection,
    PageTable,
    column_heads,
    number_cell,
    percent_cell,
    table_row,
    text_cell,
)

FEWEST_RANKED = 3
"""Pipelines below which two rankings are not compared."""
WORST = 10
"""Wrong answers that the page shows."""


@dataclass(frozen=True)
class FreeTextAnswers:
    """The free-text answers of a run.

    `choosing` says which answers `[P, Q]` of pipelines that also answered by choosing are right, `writing` which in
    free text, over the questions that all of them answered both ways; `hand` are labels given by hand, by pipeline and
    question. `claims` are the answers with what a judge decided about their claims.
    """

    choosing: NDArray[np.float64]
    writing: NDArray[np.float64]
    hand: Mapping[tuple[str, str], str]
    claims: ClaimFindings

    @property
    def answers(self) -> Sequence[FreeTextAnswer]:
        """All of them."""
        return self.claims.answers

    @property
    def judges(self) -> list[str]:
        """Who judged the answers that no rule could tell."""
        return list(dict.fromkeys(one.judge for one in self.answers if one.judge))

    @property
    def judged(self) -> int:
        """How many answers a judge graded."""
        return sum(bool(one.judge) for one in self.answers)

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """The labels of each pipeline's answers."""
        ranked = sorted(self.answers, key=lambda one: one.pipeline)
        return {name: Counter(one.label for one in some) for name, some in groupby(ranked, lambda one: one.pipeline)}

    def worst(self) -> list[FreeTextAnswer]:
        """Answers to read, one of each pipeline after another: the wrong ones, then the others that claim what their
        passages do not state; of each, those first whose passages state least of them.
        """
        faithful = [self.claims.faithfulness(one) for one in self.answers]
        ranked = [
            (one.pipeline, one.label != WRONG, 1.0 if np.isnan(share) else share, place)
            for place, (one, share) in enumerate(zip(self.answers, faithful, strict=True))
            if one.label == WRONG or share < 1
        ]
        piles = [[place for *_, place in some] for _, some in groupby(sorted(ranked), lambda one: one[0])]
        return [self.answers[place] for turn in zip_longest(*piles) for place in turn if place is not None]

    def agreement(self, *, by_rule: bool = False) -> IntervalEstimate | None:
        """Cohen's kappa of the grades, or of those by rule alone, with the labels given by hand; None without any."""
        labelled = [one for one in self.answers if one.key in self.hand]
        both = [(one.by_rule if by_rule else one.label, self.hand[one.key]) for one in labelled]
        return cohen_kappa(*zip(*both, strict=True)) if both else None

    def rank_agreement(self) -> IntervalEstimate | None:
        """Kendall's tau-b of accuracy by choosing and in free text, over questions; None for few pipelines."""
        if len(self.choosing) < FEWEST_RANKED or not self.choosing.size:
            return None

        def tau(places: NDArray[np.int64]) -> float:
            one, other = (table[:, places].mean(axis=1)[None] for table in (self.choosing, self.writing))
            return float(kendall(one, other, np.ones_like(one))[0])

        return bootstrap(tau, self.choosing.shape[1])

    def record(self) -> dict[str, Any]:
        """The answers as JSON types."""
        kappa = {"grades": self.agreement(), "rules_alone": self.agreement(by_rule=True)}
        tau = self.rank_agreement()
        return {
            "n": len(self.answers),
            "judges": self.judges,
            "judged": self.judged,
            "pipelines": {
                name: {label: counts[label] for label in LABELS} | {"n": counts.total()}
                for name, counts in self.counts.items()
            },
            "hand_labels": len(self.hand),
            "kappa": {name: None if one is None else one.as_dict() for name, one in kappa.items()},
            "claims": self.claims.record() if self.claims.is_judged else None,
            "rank_agreement": None if tau is None else {"pipelines": len(self.choosing), **tau.as_dict()},
        }

    def lines(self) -> list[str]:
        """The answers for a reader."""
        width = max(map(len, self.counts), default=0)
        rows = [
            f"  {name:<{width}}  " + ", ".join(f"{label} {counts[label] / counts.total():.0%}" for label in LABELS)
            for name, counts in self.counts.items()
        ]
        head = f"{counted(len(self.answers), 'free-text answer')} of {counted(len(rows), 'pipeline')}"
        return [head, *rows, *self.trust(), *(self.claims.lines() if self.claims.is_judged else ())]

    def trust(self) -> list[str]:
        """How the answers were graded, and how far that can be trusted, in sentences."""
        how = f"Rules graded {len(self.answers) - self.judged} of {len(self.answers)} answers"
        if self.judges:
            who = ", ".join(self.judges)
            sentences = [f"{how}, {who} the {self.judged} whose choice no rule could tell."]
        else:
            other = "without a judge (grid.judge), one that states the key in other words counts as wrong"
            sentences = [f"{how}: {other}."]
        kappa, rules = self.agreement(), self.agreement(by_rule=True) if self.judges else None
        if kappa is not None:
            alone = "" if rules is None else f" ({_shown(rules)} by rules alone)"
            labels = counted(len(self.hand), "label")
            sentences.append(f"Against {labels} given by hand, Cohen's kappa is {_shown(kappa)}{alone}.")
        else:
            sentences.append("No answer was labelled by hand, so how well they were graded is not known.")
        if (tau := self.rank_agreement()) is not None:
            sentences.append(
                f"Kendall's tau of free text and choosing is {_shown(tau)} over {len(self.choosing)} pipelines that "
                "answered both ways."
            )
        return sentences


def read_free_text(folder: RunFolder, questions: Sequence[Question]) -> FreeTextAnswers | None:
    """The free-text answers of a run, with the labels given by hand; None where there are none.

    Raises ValueError in one line for a damaged file.
    """
    if not folder.answers.is_file():
        return None
    with AnswerStore(folder.answers) as store:
        written, pipelines = store.free_text(), store.pipelines()
        answers = store.answers() if written else []
    known = {one.id: one for one in questions}
    mine = [one for one in answers if one.pipeline in written and one.question in known]
    if not mine:
        return None
    claims = _claims(folder, mine, questions)
    hand = read_hand_labels(folder.answer_labels, claims.answers) if folder.answer_labels.is_file() else {}
    right = {(one.pipeline, one.question): float(one.correct) for one in answers}
    twins = _twins(pipelines)
    tables = [
        np.array([[right.get((pair[side], name), np.nan) for name in known] for pair in twins]).reshape(
            len(twins), len(known)
        )
        for side in (0, 1)
    ]
    both = ~np.isnan(tables[0] + tables[1]).any(axis=0) if twins else np.zeros(0, bool)
    return FreeTextAnswers(tables[0][:, both], tables[1][:, both], hand, claims)


def _claims(folder: RunFolder, answers: Sequence[Answer], questions: Sequence[Question]) -> ClaimFindings:
    """The free-text answers, with what a judge and a reader decided about their claims so far."""
    chunks = read_chunks(folder.chunks) if folder.chunks.is_file() else []
    texts, known = known_passages(chunks, questions), {one.id: one for one in questions}
    has_nuggets = folder.claim_nuggets.is_file()
    nuggets = read_claim_nuggets(folder.claim_nuggets, questions) if has_nuggets else {}
    free_text = [
        FreeTextAnswer(
            one.pipeline,
            known[one.question],
            one.reply,
            one.chosen,
            one.passages,
            passage_texts(one.passages, texts, known[one.question].language),
            nuggets.get(one.question),
            one.judge,
        )
        for one in answers
    ]
    judge, said = read_decisions(read_log(folder.claims).records)
    found = ClaimFindings(free_text, judge, said, {})
    if folder.claim_labels.is_file():
        found = replace(found, hand=read_claim_labels(folder.claim_labels, found))
    return found


def read_hand_labels(path: Path, answers: Sequence[FreeTextAnswer]) -> dict[tuple[str, str], str]:
    """Labels given by hand to these answers: `{pipeline, question, label}` a line; raises ValueError in one line."""
    known = {one.key for one in answers}
    found: dict[tuple[str, str], str] = {}
    for one in read_json_lines(path):
        pipeline, question, label = (one.fields.get(name) for name in ("pipeline", "question", "label"))
        if label not in LABELS:
            raise ValueError(f"{one.place}: label is {shown_json(label)}; wanted {', '.join(LABELS)}")
        if (pipeline, question) not in known:
            found_pair = f"{shown_json(pipeline)} gave no free-text answer to {shown_json(question)}"
            raise ValueError(f"{one.place}: {found_pair}; wanted one of the run")
        found[str(pipeline), str(question)] = label
    return found


def free_text_section(found: FreeTextAnswers | None, scores: pd.DataFrame) -> PageSection:
    """Right, wrong and declined answers of each pipeline, and wrong ones to read; empty without such answers."""
    if found is None:
        return PageSection([])
    rows, named = [], pipeline_names(scores)
    for name, counts in found.counts.items():
        total = counts.total()
        tried = total - counts[DECLINED]
        interval = IntervalEstimate(counts[RIGHT] / total, *wilson(counts[RIGHT] / total, total))
        wrong = counts[WRONG] / tried if tried else float("nan")
        rows.append(
            table_row(
                text_cell(named.get(name, name)),
                percent_cell(counts[RIGHT] / total),
                number_cell(percent_range(interval), interval.low),
                percent_cell(counts[DECLINED] / total),
                percent_cell(wrong),
            )
        )
    heads = column_heads("pipeline", "#right", "#95\u00a0% interval", "#declined", "#wrong where it answered")
    table = PageTable("Free-text answers of each pipeline", heads, tuple(rows), sortable=True)
    note = "Wrong answers first, then those that their passages support least; pipelines take turns."
    cards = [answer_card(one, found.claims, named) for one in found.worst()[:WORST]]
    parts = [claims_section(found.claims, named)] if found.claims.is_judged else []
    return PageSection(found.trust(), tables=(table,), parts=parts, answers=cards, note=note)


def _twins(pipelines: Sequence[Pipeline]) -> list[tuple[str, str]]:
    """Pipelines that differ only in that one chooses and the other answers in free text."""
    by_parts: dict[tuple[Any, ...], dict[str, str]] = {}
    for one in pipelines:
        parts = (one.llm, one.retriever, one.shots, one.passages, one.budget, one.queries)
        by_parts.setdefault(parts, {})[one.answers or ""] = one.id
    chosen = [(some.get("likelihood") or some.get("letters"), some.get("text")) for some in by_parts.values()]
    return [(one, other) for one, other in chosen if one and other]


def _shown(found: IntervalEstimate) -> str:
    return f"{found.estimate:.2f} ({INTERVAL_LEVEL:.0%} interval {found.low:.2f} to {found.high:.2f})"
