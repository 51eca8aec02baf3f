"""What more questions, or more levels of the other facets, would buy: the D-study of generalisability theory.

In a fully crossed design the squared standard error of the difference of two levels of a facet, each averaged over `M`
pipelines that answer `n` questions, is (Brennan 2001, chapters 3 and 5)

    2 (question x facet) / n  +  2 (answers) / (n M)  +  2 (residual) / M  [ + 2 (interaction) / levels of the others ]

The first two fall with the number of questions, the others do not. All is in units of ability, draw by draw.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from irt._argument_checks import require_probability, require_whole
from irt._design import Design, Term
from irt._printing import json_record, table_text
from irt._question_source import drawn_sources
from irt._responses import Floats, positions
from irt._variance_components import UNIVERSES, require_item_effects

DRAWS = 200
"""Draws that a study is made of: 10 beyond each end at 90 %."""
STUDENTS = 9
"""Abilities that information is averaged over at most, evenly spaced among those of a level."""
MULTIPLES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Lengths that are looked at by default, in lengths of the exam at hand."""


class Compared(NamedTuple):
    """The two sides of a study: abilities `[D, T]` of each, pipelines averaged over, and facets in which they differ.

    `gap` `[D]` is the true difference in each draw, `floor` `[D]` the squared error that questions do not lower.
    """

    gap: Floats
    theta: tuple[Floats, Floats]
    pipelines: tuple[float, float]
    apart: tuple[str, ...]
    floor: Floats


class StudySettings(NamedTuple):
    """What a study looks at: numbers of questions and of other facets' levels, the certainty wanted, the universe."""

    questions: Sequence[int] | None = None
    levels: Mapping[str, Sequence[int]] | None = None
    certainty: float = 0.9
    random: bool = False
    seed: int = 0


@dataclass(frozen=True)
class DStudy:
    """How well exams of several lengths tell `first` from `second`, two levels of `facet` or two students (None).

    All are medians and intervals over draws. `gap` is one row `estimate,low,high`, the difference in ability. `table`
    has, for each design (the numbers of levels of the other facets, if any were asked for), `questions`, `se` (standard
    error of the difference) and `right_order` (probability that such an exam puts the two in their true order), each
    with `_low` and `_high`. `needed` has for each design the `questions` from which on that is `certainty` at least,
    NaN where no number suffices, and `limit`, the `right_order` of an exam without end. `sources` has the shares of the
    squared error of an exam like the one at hand: `source,share,low,high`.
    """

    facet: str | None
    first: str
    second: str
    gap: pd.DataFrame
    table: pd.DataFrame
    needed: pd.DataFrame
    sources: pd.DataFrame
    certainty: float
    random: bool
    interval: float

    def record(self) -> dict[str, Any]:
        """The study as JSON can hold it; a number of questions that does not exist is null."""
        return json_record(self)

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The study for a reader."""
        gap = self.gap.iloc[0]
        shares = ", ".join(f"{row.source} {row.share:.0%}" for row in self.sources.itertuples())
        return [
            f"{self.first} minus {self.second}: ability {gap['estimate']:+.2f} [{gap['low']:+.2f}, {gap['high']:+.2f}]",
            f"squared error of an exam like this one: {shares}",
            table_text(self.table),
            *(self._needed(row) for _, row in self.needed.iterrows()),
            UNIVERSES[self.random],
        ]

    def _needed(self, row: pd.Series) -> str:
        others = [f"{int(row[name])} levels of {name}" for name in self.needed.columns[: -len(NEEDED)]]
        start = f"with {' and '.join(others)}, the" if others else "the"
        if np.isnan(row["questions"]):
            return (
                f"{start} order is right with probability {row['limit']:.2f} however many questions are asked: "
                f"no number of them gives {self.certainty:.2f}, for pipelines differ beyond these two"
            )
        high = "no end" if np.isnan(row["high"]) else f"{row['high']:.0f}"
        return (
            f"{start} order is right with probability {self.certainty:.2f} from {row['questions']:.0f} questions on "
            f"[{row['low']:.0f}, {high}]"
        )


NEEDED = ("questions", "low", "high", "limit")
"""Columns of `DStudy.needed` after those of the other facets."""


def two_levels(
    draws: Mapping[str, Floats],
    design: Design,
    facet: str,
    pair: tuple[str, str],
    levels: Mapping[str, int],
    random: bool,
) -> Compared:
    """Two levels of a facet, averaged over pipelines with so many levels of other facets (by default those there are).

    Their residuals are a sample of what combinations do beyond the sum of their parts. With `random`, so are the levels
    of the other facets, and interactions with them count.
    """
    term = _facet(design, facet)
    first, second = _places(term, pair)
    growth = np.prod([count / len(design.term(name).levels) for name, count in levels.items()])
    rows = [np.flatnonzero(term.level_of == place) for place in (first, second)]
    pipelines = tuple(max(float(len(own) * growth), 1.0) for own in rows)
    floor = np.zeros(len(draws["a"]))
    if design.residual:
        floor = floor + draws["residual_scale"] ** 2 * sum(1 / count for count in pipelines)
    for other in design.terms if random else ():
        if facet in other.facets and len(other.facets) > 1:
            crossed = [levels.get(name, len(design.term(name).levels)) for name in other.facets if name != facet]
            floor = floor + 2 * draws[f"scale.{other.name}"] ** 2 / np.prod(crossed)
    effects = draws[f"effect.{facet}"]
    theta = tuple(draws["theta"][:, own[_spaced(len(own))]] for own in rows)
    return Compared(
        effects[:, first] - effects[:, second],
        (theta[0], theta[1]),
        (pipelines[0], pipelines[1]),
        (facet,),
        floor,
    )


def two_students(
    draws: Mapping[str, Floats], design: Design, students: Sequence[str], pair: tuple[str, str]
) -> Compared:
    """Two students, whose abilities questions alone leave uncertain; effects of the levels they share cancel."""
    first, second = positions("student", tuple(students), pair)
    differing = [design.term(name) for name in design.item_facets]
    apart = tuple(term.name for term in differing if term.level_of[first] != term.level_of[second])
    theta = draws["theta"]
    both = (theta[:, [first]], theta[:, [second]])
    return Compared(theta[:, first] - theta[:, second], both, (1.0, 1.0), apart, np.zeros(len(theta)))


def best_two(draws: Mapping[str, Floats], design: Design, facet: str) -> tuple[str, str]:
    """The two levels of a facet with the largest mean effects."""
    term = _facet(design, facet)
    order = np.argsort(-draws[f"effect.{facet}"].mean(axis=0), kind="stable")
    return term.levels[order[0]], term.levels[order[1]]


class ErrorParts(NamedTuple):
    """Squared error of a difference per question `[D]`, the share of it that effects on questions have, and the rest
    `[D]`, which does not fall with their number.
    """

    per_question: Floats
    effects: Floats
    floor: Floats

    def squared(self, questions: float) -> Floats:
        """The squared standard error `[D]` with so many questions."""
        return self.per_question / questions + self.floor


def error_parts(draws: Mapping[str, Floats], compared: Compared, seed: int) -> ErrorParts:
    """Of each draw, over its own source of questions."""
    rows = []
    for place, source in enumerate(drawn_sources(draws, seed, compared.apart)):
        sides = zip(compared.theta, compared.pipelines, strict=True)
        told = [source.information(theta[place], count) for theta, count in sides]
        errors = np.array([1.0 / side.mean for side in told])
        rows.append((errors.sum(), errors @ [side.effect_share for side in told] / errors.sum()))
    per_question, effects = np.array(rows).T
    return ErrorParts(per_question, effects, compared.floor)


def right_order(gap: Floats, squared_error: Floats) -> Floats:
    """Probability `[D]` that an estimate has the sign of the gap; ½ where both are 0."""
    return np.asarray(ndtr(np.abs(gap) / np.sqrt(np.maximum(squared_error, np.finfo(float).tiny))))


def questions_for(gap: Floats, parts: ErrorParts, certainty: float) -> Floats:
    """Questions `[D]` from which on `right_order` is at least `certainty`; infinite where none suffice."""
    allowed = (gap / ndtri(certainty)) ** 2 - parts.floor
    with np.errstate(divide="ignore"):
        return np.where(allowed > 0, parts.per_question / np.where(allowed > 0, allowed, 1.0), np.inf)


def d_study(
    draws: Mapping[str, Floats],
    design: Design,
    students: Sequence[str],
    facet: str | None,
    between: tuple[str, str] | None,
    settings: StudySettings,
    tails: tuple[float, float],
) -> DStudy:
    """The study of draws on the reported scale; see `Fit.d_study`."""
    counts, designs = _checked(settings, design, facet, draws["a"].shape[1])
    if facet is None and between is None:
        raise ValueError("d-study: found neither a facet nor two students; wanted one of them")
    pair = best_two(draws, design, facet) if between is None and facet is not None else between
    assert pair is not None
    if pair[0] == pair[1]:
        raise ValueError(f"found '{pair[0]}' twice; wanted two different names")

    def compared(levels: Mapping[str, int]) -> Compared:
        if facet is None:
            return two_students(draws, design, students, pair)
        return two_levels(draws, design, facet, pair, levels, settings.random)

    rows, needed = [], []
    for levels in designs:
        sides = compared(levels)
        parts = error_parts(draws, sides, settings.seed)
        for count in counts:
            squared = parts.squared(count)
            shown = {"se": np.sqrt(squared), "right_order": right_order(sides.gap, squared)}
            rows.append({**levels, "questions": count, **_columns(shown, tails)})
        number = _median(np.ceil(questions_for(sides.gap, parts, settings.certainty)), tails)
        limit = float(np.median(right_order(sides.gap, parts.floor)))
        needed.append({**levels, **dict(zip(NEEDED, (*number, limit), strict=True))})
    here = compared({})
    shares = _shares(parts if designs == [{}] else error_parts(draws, here, settings.seed), draws["a"].shape[1], tails)
    return DStudy(
        facet,
        *pair,
        gap=pd.DataFrame([_median(here.gap, tails)], columns=["estimate", "low", "high"]),
        table=pd.DataFrame(rows),
        needed=pd.DataFrame(needed),
        sources=shares,
        certainty=settings.certainty,
        random=settings.random,
        interval=tails[1] - tails[0],
    )


def _shares(parts: ErrorParts, questions: int, tails: tuple[float, float]) -> pd.DataFrame:
    """What the squared error of so many questions is made of."""
    total = parts.squared(questions)
    falling = parts.per_question / questions / total
    each = {
        "questions": falling * parts.effects,
        "answers": falling * (1 - parts.effects),
        "pipelines": parts.floor / total,
    }
    rows = [(name, values.mean(), *np.quantile(values, tails)) for name, values in each.items()]
    return pd.DataFrame(rows, columns=["source", "share", "low", "high"])


def _columns(shown: Mapping[str, Floats], tails: tuple[float, float]) -> dict[str, float]:
    return {
        f"{name}{end}": value
        for name, values in shown.items()
        for end, value in zip(("", "_low", "_high"), _median(values, tails), strict=True)
    }


def _median(values: Floats, tails: tuple[float, float]) -> tuple[float, float, float]:
    """Median and interval; NaN for what is infinite."""
    found = np.quantile(values, (0.5, *tails), method="inverted_cdf")
    middle, low, high = np.where(np.isfinite(found), found, np.nan)
    return float(middle), float(low), float(high)


def _spaced(count: int) -> Floats:
    return np.unique(np.linspace(0, count - 1, min(count, STUDENTS)).astype(int))


def _facet(design: Design, name: str) -> Term:
    """The facet of this name; ValueError for a term whose levels have no effects on items."""
    term = design.term(name)
    if name not in design.item_facets:
        raise ValueError(f"d-study: found '{name}'; wanted one of {', '.join(design.item_facets)}")
    return term


def _places(term: Term, pair: tuple[str, str]) -> tuple[int, int]:
    for level in pair:
        if level not in term.levels:
            raise ValueError(f"unknown level '{level}' of facet '{term.name}'; it has {', '.join(term.levels)}")
    return term.levels.index(pair[0]), term.levels.index(pair[1])


def _checked(
    settings: StudySettings, design: Design, facet: str | None, items: int
) -> tuple[list[int], list[dict[str, int]]]:
    """The numbers of questions, and every combination of the numbers of levels."""
    require_item_effects(design, "d-study")
    require_whole("seed", settings.seed, 0)
    require_probability("certainty", settings.certainty)
    if settings.certainty <= 0.5:
        raise ValueError(f"certainty is {settings.certainty:g}; wanted more than 0.5, what a coin gives")
    counts = [max(round(times * items), 1) for times in MULTIPLES] if settings.questions is None else settings.questions
    levels = settings.levels or {}
    if facet is None and levels:
        raise ValueError("levels: found numbers of levels for two students; wanted them with a facet")
    for name, numbers in {"questions": counts, **levels}.items():
        for number in numbers:
            require_whole(name, number, 1)
    for name in levels:
        if name == facet or name not in design.item_facets:
            others = ", ".join(each for each in design.item_facets if each != facet) or "none"
            raise ValueError(f"levels: found '{name}'; wanted another facet of the fit ({others})")
    combined = itertools.product(*levels.values())
    return list(counts), [dict(zip(levels, each, strict=True)) for each in combined]
