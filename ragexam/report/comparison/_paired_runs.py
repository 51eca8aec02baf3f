"""What two runs have in common: questions that are word for word the same, pipelines, levels of components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from examcore import Question
from ragexam.report._response_scores import facets_of, levels_of
from ragexam.report._run_evidence import RunEvidence, read_evidence


@dataclass(frozen=True)
class PairedRuns:
    """Two runs, and the ids of what both have.

    `questions` are those with the same id, stem, choices and key in both; `reworded` have the same id only. `levels`
    are the common levels of each component that both runs name.
    """

    a: RunEvidence
    b: RunEvidence
    name_a: str
    name_b: str
    questions: tuple[str, ...]
    reworded: tuple[str, ...]
    pipelines: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]

    @property
    def only_a(self) -> int:
        """Questions that only the first run has."""
        return len(self.a.questions) - len(self.questions) - len(self.reworded)

    @property
    def only_b(self) -> int:
        """Questions that only the second run has."""
        return len(self.b.questions) - len(self.questions) - len(self.reworded)


def pair_runs(run_a: Path, run_b: Path) -> PairedRuns:
    """Read two run folders; ValueError in one line for what is none, and where nothing is common to both."""
    a, b = read_evidence(run_a), read_evidence(run_b)
    known = {question.id: question for question in a.questions}
    both = [question for question in b.questions if question.id in known]
    same = tuple(question.id for question in both if _same(question, known[question.id]))
    students = {str(name) for name in a.scores["student"]}
    pipelines = tuple(name for name in dict.fromkeys(b.scores["student"].astype(str)) if name in students)
    levels = {
        facet: common
        for facet in facets_of(b.scores)
        if facet in facets_of(a.scores)
        and (common := tuple(one for one in levels_of(b.scores, facet) if one in levels_of(a.scores, facet)))
    }
    if not same and not pipelines and not any(levels.values()):
        raise ValueError(
            f"{run_b}: no question, pipeline or component in common with {run_a}; wanted two runs that share some"
        )
    reworded = tuple(question.id for question in both if question.id not in set(same))
    return PairedRuns(a, b, *_names(run_a, run_b), same, reworded, pipelines, levels)


def _same(one: Question, other: Question) -> bool:
    """Choices may stand in another order; what is asked and what is right may not differ."""
    return (one.stem, sorted(one.choices), one.answer) == (other.stem, sorted(other.choices), other.answer)


def _names(run_a: Path, run_b: Path) -> tuple[str, str]:
    """The shortest ends of the paths that tell the runs apart."""
    parts_a, parts_b = run_a.resolve().parts, run_b.resolve().parts
    for count in range(1, max(len(parts_a), len(parts_b)) + 1):
        names = "/".join(parts_a[-count:]), "/".join(parts_b[-count:])
        if names[0] != names[1]:
            return names
    raise ValueError(f"{run_b}: the same folder as {run_a}; wanted two runs")
