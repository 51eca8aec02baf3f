"""Which items to keep: iterative pruning, chosen on some students and judged on others.

The paper's Algorithm 1 fits, drops the least discriminating items, refits, and repeats. The gain seen on the same
answers flatters it: noise in the estimates is selected too. So items are chosen on calibration students only, and the
gain is estimated from held-out students' own answers, against random pruning to the same length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from irt import kernels
from irt.estimation import fit as fit_model
from irt.judging import Gain, Judge, population
from irt.model import Options
from irt.reading import replacing, require_estimable
from irt.responses import Floats, ResponseMatrix, facet_names, levels
from irt.result import Fit

FORMAT = 1
FEWEST = 6
MINIMUM_ITEMS = 2
GRID = tuple(np.linspace(-3, 3, 25).round(2).tolist())
TARGETS = (-1.0, 0.0, 1.0)
Progress = Callable[[int, int], None]


class Drop(NamedTuple):
    """An item left out, why, and in which round."""

    item: str
    reason: str
    round: int


@dataclass(frozen=True)
class Round:
    """The exam after a round, on calibration students (curves over `Pruned.theta`) and judged on held-out ones.

    `claimed_gain` is what the calibration answers themselves would claim; `heldout_gain` is the honest one;
    `step_gain` compares with the round before.
    """

    round: int
    n_items: int
    total_information: Floats
    mean_information: Floats
    standard_error: Floats
    reliability: float
    claimed_gain: float
    heldout_gain: Gain
    step_gain: Gain


@dataclass(frozen=True)
class Pruned:
    """Items kept (in exam order) and dropped, the path there, and the gain judged on held-out students."""

    kept: tuple[str, ...]
    dropped: tuple[Drop, ...]
    trajectory: tuple[Round, ...]
    heldout_gain: Gain
    theta: tuple[float, ...]
    targets: tuple[float, ...]
    calibration: tuple[str, ...]
    heldout: tuple[str, ...]
    model: str
    method: str
    interval: float
    seed: int
    stopped: str
    warnings: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The content of `prune.json`."""
        return {
            "format": FORMAT,
            "kept": list(self.kept),
            "dropped": [drop._asdict() for drop in self.dropped],
            "trajectory": [_round_json(row) for row in self.trajectory],
            "heldout_gain": self.heldout_gain._asdict(),
            "theta": list(self.theta),
            "targets": list(self.targets),
            "calibration": list(self.calibration),
            "heldout": list(self.heldout),
            "model": self.model,
            "method": self.method,
            "interval": self.interval,
            "seed": self.seed,
            "stopped": self.stopped,
            "warnings": list(self.warnings),
        }

    def save(self, folder: str | Path) -> Path:
        """Write `prune.json` into the folder, atomically; its path."""
        path = Path(folder) / "prune.json"
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def prune(
    data: ResponseMatrix,
    fit: Fit | None = None,
    *,
    keep: float = 0.7,
    quantile: float = 0.1,
    holdout: float = 0.3,
    seed: int = 0,
    stop: str | None = None,
    method: str = "map",
    model: str | None = None,
    facets: Sequence[str] | None = None,
    options: int | Mapping[str, int] = 4,
    interval: float | None = None,
    targets: Sequence[float] = TARGETS,
    progress: Progress | None = None,
) -> Pruned:
    """Drop the least discriminating `quantile` of the items, refit, repeat until the share `keep` is left.

    A share `holdout` of the students, spread over the levels of `facets` (all the table's by default), takes no part in
    choosing. Refits use free abilities, Normal(0, 1), so that they need no estimable design. `fit` supplies model,
    facets and interval when they are not given. `stop="auto"` ends as soon as a further round shows no credible gain on
    the held-out students. Raises ValueError with fewer than 6 students, or for a share outside (0, 1).
    """
    _require_shares(keep, quantile, holdout, stop)
    require_estimable(data)
    students = len(data.students)
    if students < FEWEST:
        raise ValueError(
            f"{students} students are too few to hold any out; at least {FEWEST} were wanted to judge pruning"
        )
    model = model or ("2pl" if fit is None or fit.model == "1pl" else fit.model)
    if model == "grm" or data.top is not None:
        raise ValueError("ratings (model 'grm') cannot be pruned yet: the judge reads right and wrong answers")
    if model == "1pl":
        raise ValueError("model '1pl' gives every item the same discrimination; '2pl', '3pl' or '4pl' were wanted")
    band = interval or (fit.interval if fit is not None else 0.9)
    names = _stratifiers(data, fit, facets)
    calibration, heldout = split_students(data, holdout, seed, names)
    refit = _Refit(model, method, options, band, seed)
    part = data.select_students(heldout)
    judge = Judge(part, model, refit.options_of(part), band)
    path = _Path(data.select_students(calibration), refit, judge, tuple(float(value) for value in targets))
    stopped = path.walk(keep, quantile, stop, progress)
    return Pruned(
        kept=path.current,
        dropped=tuple(path.dropped),
        trajectory=tuple(path.rounds),
        heldout_gain=path.rounds[-1].heldout_gain,
        theta=GRID,
        targets=path.targets,
        calibration=calibration,
        heldout=heldout,
        model=model,
        method=method,
        interval=band,
        seed=seed,
        stopped=stopped,
        warnings=_warnings(path.rounds[-1].heldout_gain, len(calibration), len(heldout)),
    )


def split_students(
    data: ResponseMatrix, holdout: float, seed: int, facets: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`(calibration, heldout)` in table order; no facet level loses its last calibration student.

    Students are taken one by one at random among those whose levels are best represented in what is left.
    """
    rng = np.random.default_rng([seed, 3])
    count = max(2, round(holdout * len(data.students)))
    count = min(count, len(data.students) - 3)
    codes = [np.array([levels(data, name).index(v) for v in _column(data, name)]) for name in facets]
    remaining = set(range(len(data.students)))
    held: list[int] = []
    for _ in range(count):
        order = rng.permutation(sorted(remaining))
        left = [np.bincount(code[sorted(remaining)], minlength=code.max() + 1) for code in codes]
        taken = (
            [np.bincount(code[held], minlength=code.max() + 1) for code in codes]
            if held
            else [np.zeros_like(n) for n in left]
        )
        free = [s for s in order if all(n[code[s]] > 1 for n, code in zip(left, codes, strict=True))]
        if not free:
            break
        # The share of each of its levels already taken: the lowest sum spreads the held-out students evenly.
        load = [sum(t[c[s]] / (t[c[s]] + n[c[s]]) for t, n, c in zip(taken, left, codes, strict=True)) for s in free]
        pick = int(free[int(np.argmin(load))])
        held.append(pick)
        remaining.discard(pick)
    if len(held) < 2:
        raise ValueError(
            "no 2 students can be held out while every facet level stays in calibration; name fewer facets"
        )
    return (
        tuple(data.students[index] for index in sorted(remaining)),
        tuple(data.students[index] for index in sorted(held)),
    )


@dataclass(frozen=True)
class _Refit:
    """How to fit a part of the table."""

    model: str
    method: str
    options: int | Mapping[str, int]
    interval: float
    seed: int

    def __call__(self, data: ResponseMatrix) -> Fit:
        return fit_model(
            data,
            self.model,
            self.method,
            (),
            options=self.options_of(data),
            seed=self.seed,
            interval=self.interval,
        )

    def options_of(self, data: ResponseMatrix) -> Options:
        """Numbers of choices for a part of the items."""
        if isinstance(self.options, int):
            return self.options
        return {item: self.options[item] for item in data.items}


class _Path:
    """The walk from the full exam to the pruned one."""

    def __init__(self, data: ResponseMatrix, refit: _Refit, judge: Judge, targets: tuple[float, ...]) -> None:
        self.data, self.refit, self.judge, self.targets = data, refit, judge, targets
        self.current = data.items
        self.dropped: list[Drop] = []
        self.rounds: list[Round] = []
        self.full: Floats = np.empty(0)

    def walk(self, keep: float, quantile: float, stop: str | None, progress: Progress | None) -> str:
        """Prune; why it ended."""
        size = len(self.data.items)
        goal = max(MINIMUM_ITEMS, round(keep * size))
        result = self._fit(self.current)
        self.full = _point_information(result)
        self._record(0, self.current, self.current, result)
        number = 0
        while len(self.current) > goal:
            number += 1
            count = min(max(1, round(quantile * len(self.current))), len(self.current) - goal)
            leaving = _least(result, count, number)
            names = {drop.item for drop in leaving}
            kept = tuple(item for item in self.current if item not in names)
            if stop == "auto" and self.judge.gain(kept, self.current).low <= 0:
                return f"round {number} would show no credible gain on held-out students"
            result = self._fit(kept)
            self._record(number, kept, self.current, result)
            self.dropped += leaving
            self.current = kept
            if progress is not None:
                progress(size - len(kept), size - goal)
        return f"{len(self.current)} of {size} items are left"

    def _fit(self, items: Sequence[str]) -> Fit:
        """Refit the remaining items on the calibration students who were asked any of them."""
        part = self.data.select(items)
        answered = np.flatnonzero(part.asked.any(axis=1))
        if len(answered) < len(part.students):
            part = part.select_students([part.students[index] for index in answered])
        return self.refit(part)

    def _record(self, number: int, kept: Sequence[str], before: Sequence[str], result: Fit) -> None:
        curves = result.information(GRID)
        own = dict(zip(self.data.items, self.full, strict=True))
        claimed = float(np.mean([own[item] for item in kept]) / self.full.mean() - 1.0)
        errors = result.information(self.targets).standard_error
        self.rounds.append(
            Round(
                round=number,
                n_items=len(kept),
                total_information=curves.total,
                mean_information=curves.total / len(kept),
                standard_error=errors,
                reliability=result.reliability,
                claimed_gain=claimed,
                heldout_gain=self.judge.gain(kept, self.data.items),
                step_gain=self.judge.gain(kept, before),
            )
        )


def _least(result: Fit, count: int, number: int) -> list[Drop]:
    """The `count` least discriminating items, lowest first, ties in exam order."""
    a = result.point["a"]
    reason = f"lowest discrimination of {len(a)} items"
    order = np.argsort(a, kind="stable")[:count]
    return [Drop(result.data.items[index], f"{reason}: a = {a[index]:.2f}", number) for index in order]


def _point_information(result: Fit) -> Floats:
    """Information `[I]` of each item at its estimate, over a Normal(0, 1) population."""
    nodes, weights = population()
    curves = kernels.information(nodes, *(result.point[name][:, None] for name in "abcd"))
    return np.asarray(curves @ weights)


def _column(data: ResponseMatrix, name: str) -> Sequence[str]:
    assert data.facets is not None
    return [str(value) for value in data.facets[name]]


def _stratifiers(data: ResponseMatrix, fit: Fit | None, facets: Sequence[str] | None) -> tuple[str, ...]:
    if facets is not None:
        data.with_facets(facets)
        return tuple(facets)
    if fit is not None and fit.data.facets is not None:
        return tuple(name for name in facet_names(fit.data) if name in facet_names(data))
    return tuple(name for name in facet_names(data) if len(levels(data, name)) < len(data.students))


def _require_shares(keep: float, quantile: float, holdout: float, stop: str | None) -> None:
    for name, value in (("keep", keep), ("quantile", quantile), ("holdout", holdout)):
        if not 0 < value < 1:
            raise ValueError(f"{name} {value:g} is not a share between 0 and 1")
    if stop not in (None, "auto"):
        raise ValueError(f"stop '{stop}' is unknown; None or 'auto' were wanted")


def _warnings(gain: Gain, calibration: int, heldout: int) -> tuple[str, ...]:
    notes = []
    if gain.low <= 0 <= gain.high:
        notes.append("The gain from pruning is not credible: its interval includes 0.")
    if heldout < 10:
        notes.append(
            f"Only {heldout} students judge and {calibration} choose; expect wide intervals and a choice that would "
            "change with other students."
        )
    return tuple(notes)


def _round_json(row: Round) -> dict[str, Any]:
    return {
        "round": row.round,
        "n_items": row.n_items,
        "total_information": row.total_information.tolist(),
        "mean_information": row.mean_information.tolist(),
        "standard_error": row.standard_error.tolist(),
        "reliability": row.reliability,
        "claimed_gain": row.claimed_gain,
        "heldout_gain": row.heldout_gain._asdict(),
        "step_gain": row.step_gain._asdict(),
    }
