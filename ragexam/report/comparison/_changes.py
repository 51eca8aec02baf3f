"""What two runs have in common, and what changed: accuracy question by question, ability on the scale of the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from examcore import INTERVAL_LEVEL, IntervalEstimate, Question, bootstrap_mean
from irt import Link, link
from ragexam.report._fitted_model import FittedModel, LevelDraws
from ragexam.report._response_scores import MEASURES, bound_of, facets_of, levels_of, pipelines_of, simultaneous_means
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


REACH = float(ndtri((1 + INTERVAL_LEVEL) / 2))
"""Standard errors from the middle of an interval to its end."""


@dataclass(frozen=True)
class AccuracyChanges:
    """B minus A on the common questions that all compared pipelines answered in both runs.

    `pipelines` has `student`, `levels` has `facet,level`, each with `before, after` and the measures of
    `simultaneous_means`; `questions` has `item,before,after,estimate`, the largest change first. `identical` says that
    no answer changed; `left_out` counts common questions that somebody did not answer.
    """

    overall: IntervalEstimate
    pipelines: pd.DataFrame
    levels: pd.DataFrame
    questions: pd.DataFrame
    n_questions: int
    left_out: int
    identical: bool


def accuracy_changes(pair: PairedRuns) -> AccuracyChanges | None:
    """None where no pipeline answered a common question in both runs."""
    if not pair.questions or not pair.pipelines:
        return None
    before, after = (
        one.scores.pivot_table(index="item", columns="student", values="score", aggfunc="mean", dropna=False).reindex(
            index=list(pair.questions), columns=list(pair.pipelines)
        )
        for one in (pair.a, pair.b)
    )
    answered = ~(before.isna() | after.isna()).any(axis=1).to_numpy()
    if not answered.any():
        return None
    before, after = before[answered], after[answered]
    gaps = (after - before).to_numpy(float)
    return AccuracyChanges(
        overall=bootstrap_mean(gaps.mean(axis=1)),
        pipelines=_by_pipeline(before, after),
        levels=_by_level(pair, before, after),
        questions=_by_question(before, after),
        n_questions=int(answered.sum()),
        left_out=int((~answered).sum()),
        identical=bool((gaps == 0).all()),
    )


def _by_pipeline(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    names = [(str(name),) for name in before.columns]
    table = simultaneous_means(names, (after - before).to_numpy(float), ["student"])
    ends = pd.DataFrame({"before": before.mean(), "after": after.mean()})
    return table.merge(ends, left_on="student", right_index=True)


def _by_level(pair: PairedRuns, before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """By level of each component, averaged over the compared pipelines that have it in both runs."""
    first, second = (pipelines_of(run.scores) for run in (pair.a, pair.b))
    names, columns, ends = [], [], []
    for facet, levels in pair.levels.items():
        for level in levels if len(levels) > 1 else ():
            having = [one for one in before.columns if first[one][facet] == level == second[one][facet]]
            if having:
                old, new = before[having], after[having]
                names.append((facet, level))
                columns.append((new - old).mean(axis=1).to_numpy(float))
                ends.append((facet, level, float(old.to_numpy().mean()), float(new.to_numpy().mean())))
    if not names:
        return pd.DataFrame(columns=["facet", "level", *MEASURES, "before", "after"])
    table = simultaneous_means(names, np.stack(columns, axis=1), ["facet", "level"])
    return table.merge(pd.DataFrame(ends, columns=["facet", "level", "before", "after"]), on=["facet", "level"])


def _by_question(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    old, new = before.mean(axis=1).to_numpy(), after.mean(axis=1).to_numpy()
    table = pd.DataFrame({"item": before.index, "before": old, "after": new, "estimate": new - old})
    return table.iloc[np.argsort(-table["estimate"].abs(), kind="stable")].reset_index(drop=True)


@dataclass(frozen=True)
class AbilityChanges:
    """The link, and what changed on the scale of the first run (90 % intervals, the fits taken as independent).

    `pipelines` has `student,before,after,estimate,low,high`; `levels` has `facet,level,estimate,low,high`: by how much
    a level's lead over the mean of the common levels one could choose has grown.
    """

    link: Link
    pipelines: pd.DataFrame
    levels: pd.DataFrame


def ability_changes(pair: PairedRuns) -> AbilityChanges | str:
    """The change of abilities, or one sentence on why the scales cannot be linked."""
    a, b = pair.a.model, pair.b.model
    if a is None or b is None:
        which = "both runs have" if a is b else f"{pair.name_a if a is None else pair.name_b} has"
        return f"Abilities are not compared: {which} no fitted measurement model."
    held = set(a.fit.data.items) & set(b.fit.data.items)
    try:
        found = link(a.fit, b.fit, anchors=[item for item in pair.questions if item in held])
    except ValueError as refusal:
        return f"Abilities are not compared, because the two scales cannot be linked: {refusal}."
    return AbilityChanges(found, _abilities(pair, a, found), _leads(pair, a, b, found))


def _abilities(pair: PairedRuns, a: FittedModel, found: Link) -> pd.DataFrame:
    before, after = a.fit.abilities.set_index("student"), found.abilities.set_index("student")
    names = [name for name in pair.pipelines if name in before.index and name in after.index]
    before, after = before.loc[names], after.loc[names]
    change = after["theta"] - before["theta"]
    reach = REACH * np.sqrt(after["theta_sd"] ** 2 + before["theta_sd"] ** 2)
    ends = {"before": before["theta"], "after": after["theta"]}
    table = pd.DataFrame({**ends, "estimate": change, "low": change - reach, "high": change + reach}, dtype=float)
    return table.rename_axis("student").reset_index()


def _leads(pair: PairedRuns, a: FittedModel, b: FittedModel, found: Link) -> pd.DataFrame:
    first, second = ({one.facet: one for one in model.draws} for model in (a, b))
    rows = []
    for facet, levels in pair.levels.items():
        common = [one for one in levels if bound_of(one) is None]
        if facet not in first or facet not in second or len(common) < 2:
            continue
        if not set(common) <= set(first[facet].levels) & set(second[facet].levels):
            continue
        change = _grown(first[facet], second[facet], common, found)
        low, high = np.quantile(change, [(1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2], axis=0)
        rows += [(facet, *row) for row in zip(common, change.mean(axis=0), low, high, strict=True)]
    return pd.DataFrame(rows, columns=["facet", "level", "estimate", "low", "high"])


def _grown(a: LevelDraws, b: LevelDraws, levels: list[str], found: Link) -> np.ndarray:
    """Draws `[D, L]` of how much each level's lead has grown; B's along draws of the line's slope."""
    count = min(len(a.draws), len(b.draws))
    rng = np.random.default_rng(0)
    leads = []
    for one in (a, b):
        # The fits are independent: any pairing of their draws is a draw of both.
        draws = one.of(levels)[rng.permutation(len(one.draws))[:count]]
        leads.append(draws - draws.mean(axis=1, keepdims=True))
    slope = found.slope.estimate * np.exp(rng.normal(0, found.slope.sd / found.slope.estimate, count))
    return np.asarray(slope[:, None] * leads[1] - leads[0])
