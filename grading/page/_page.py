"""Writing the page of free-text grading: gather, score, and fill the template with everything escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from examcore import IntervalEstimate, Language, find_language, language_named, write_text
from examcore.page import (
    clipped,
    installed_version,
    page_frame,
    page_template,
    percent,
    percent_range,
    plain_number,
    points,
)
from grading._printing import noted
from grading._records import Sampling
from grading.page import _background as background
from grading.page._evidence import GradingEvidence, Sources, default_tau, gather
from grading.page._questions import QuestionSummary, asked_questions
from grading.page._scores import board, name, names, shown_taus, tau_view
from grading.page._verdict import caption, negated, verdict_view
from grading.scores._thresholds import Choice, candidates, choose_by_passages

CONTENTS = (
    ("verdict", "Verdict"),
    ("systems", "Systems"),
    ("tau", "Tau"),
    ("replies", "Grades and replies"),
    ("questions", "Questions"),
    ("queries", "Queries"),
    ("left-out", "What was left out"),
    ("making", "How it was made"),
)
SHOWN_BY = (math.isnan, name, names, negated, percent, percent_range, plain_number, points)
"""What the template shows ids, numbers and intervals by."""
PAIRS = 200
"""Pairs of systems in the table."""
CARDS = 30
"""Questions of a kind that are shown with their passages; the table has all."""
TEXT = 700
"""Characters of a passage that are shown."""


@cache
def language_of(text: str) -> Language | None:
    """The language of others' text on the page; None where the text does not tell."""
    code = find_language(text)
    return None if code is None else language_named(code)


class PageResult(NamedTuple):
    """The page's numbers: what tau was used, the systems, and how many questions they answer; `report` is the page."""

    report: Path
    tau: float
    tau_held_out: Mapping[str, object] | None
    k: int | None
    best: str | None
    systems: Mapping[str, IntervalEstimate]
    told_apart_from_best: Sequence[str]
    queries: int
    questions: int
    answered: int
    dead: int
    universal: int
    redundant: int
    grades: int
    unparsed: int
    warnings: Sequence[str]

    def lines(self) -> list[str]:
        """The result for a reader."""
        return [str(self.report), *([f"best: {self.best}"] if self.best else []), *noted(self.warnings)]


def write_grading_report(folder: Path, sources: Sources, sampling: Sampling, command: str) -> PageResult:
    """Write `report.html` into a folder of `ragexam grade run`, and return its numbers.

    `command` is what the page says it was made by. Raises `ValueError` in one line when the folder has no grades, for a
    damaged file, and for a tau of 0 or less.
    """
    evidence = gather(folder, sources, sampling)
    known = candidates(evidence.graded) if evidence.graded.highest > 0 else ()
    choice = _choice(evidence)
    tau, origin = _tau(evidence, choice)
    used = board(evidence, tau)
    boards = [used if one == tau else board(evidence, one) for one in shown_taus(known, tau)]
    asked = asked_questions(evidence, used)
    verdict = verdict_view(evidence, used, boards, asked)
    pairs = () if used.comparison is None else used.comparison.pairs
    gaps = sorted(pair.detectable for pair in pairs if not math.isnan(pair.detectable))
    view = {
        **page_frame(_title(evidence), _subtitle(evidence, asked), CONTENTS),
        "verdict": verdict,
        "pairs": pairs,
        "most_pairs": PAIRS,
        "gap": gaps[len(gaps) // 2] if gaps else None,
        "tau": tau_view(evidence, used, boards, choice, origin),
        "replies": background.replies_view(evidence),
        "most_cards": CARDS,
        "text_of": lambda query, passage: clipped(evidence.text_of(query, passage), TEXT),
        "language_of": language_of,
        # A query's questions together, since one alone is short.
        "query_language": lambda query: language_of("\n".join(evidence.bank.get(query, {}).values())),
        "queries": background.queries_view(used),
        "left_out": background.left_out_view(evidence, used),
        "making": background.making_view(evidence, command, installed_version()),
        "evidence": evidence,
        "board": used,
        "asked": asked,
        "caption": caption(evidence, used),
        "level": percent(sampling.interval),
        **{one.__name__: one for one in SHOWN_BY},
    }
    path = evidence.folder / "report.html"
    write_text(path, [page_template("grading.page", "grading.html").render(view)])
    return PageResult(
        report=path,
        tau=used.tau,
        tau_held_out=None if choice is None else {"tau": choice.tau, "kappa": choice.held_out},
        k=None if evidence.systems.articles else evidence.sources.k,
        # Nobody is best where several share the first place, or where nobody answers anything.
        best=used.leaders[0] if len(used.leaders) == 1 and used.best and used.best.score.estimate > 0 else None,
        systems={one.system: one.score for one in used.ranked},
        told_apart_from_best=[other for other, pair in used.against_best.items() if pair.told_apart],
        queries=len(evidence.bank),
        questions=len(asked),
        answered=sum(one.passages > 0 for one in asked),
        dead=sum(one.dead for one in asked),
        universal=sum(one.universal for one in asked),
        redundant=sum(bool(one.redundant) for one in asked),
        grades=len(evidence.graded.grades),
        unparsed=evidence.graded.unparsed,
        warnings=verdict["warnings"],
    )


def _choice(evidence: GradingEvidence) -> Choice | None:
    if evidence.official is None:
        return None
    try:
        return choose_by_passages(evidence.graded, evidence.official, evidence.sampling, rel=evidence.sources.rel)
    except ValueError as error:
        raise ValueError(f"{evidence.sources.qrels}: {error}") from None


def _tau(evidence: GradingEvidence, choice: Choice | None) -> tuple[float, str]:
    """The tau and where it comes from."""
    if evidence.sources.tau is not None:
        return evidence.sources.tau, "as asked for (--tau)"
    if choice is not None:
        return choice.tau, "which agrees best with the official judgements"
    return default_tau(evidence.graded, evidence.record), "the default for such grades (--tau)"


def _title(evidence: GradingEvidence) -> str:
    if len(evidence.systems.runs) > 1:
        return "Which system answers most questions?"
    return "Which questions do the passages answer?"


def _subtitle(evidence: GradingEvidence, asked: list[QuestionSummary]) -> str:
    systems = len(evidence.systems.runs)
    return (
        f"{len(asked)} questions of {len(evidence.bank)} queries, {len(evidence.graded.grades)} grades"
        f"{f', {systems} systems' if systems > 1 else ', 1 system' if systems else ''}"
    )
