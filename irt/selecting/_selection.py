"""Which items to keep: iterative pruning, chosen on some students and judged on others.

The paper's Algorithm 1 fits, drops the least discriminating items, refits, and repeats. The gain seen on the same
answers flatters it: noise in the estimates is selected too. So items are chosen on calibration students only, and the
gain is estimated from held-out students' own answers, against random pruning to the same length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from irt import kernels
from irt._argument_checks import require_probability
from irt._estimation import fit as fit_model
from irt._fit_settings import EFFECT_METHODS, require_known
from irt._model import RATINGS
from irt._reading import require_estimable
from irt._responses import Floats, ResponseMatrix, facet_names, levels, require_matrix
from irt._result import Fit, require_fit
from irt.fitting._estimation_outcome import Progress, begun, tell
from irt.selecting import _item_worth as item_worth
from irt.selecting._heldout_evaluation import (
    HeldOutEvaluator,
    InformationGain,
    agreement,
    population,
    scored,
    split_students,
)
from irt.selecting._item_worth import Balance, Drop, balance_of
from irt.selecting._prune_result import Pruned, Round
from irt.selecting._prune_settings import PruneSettings

FEWEST_STUDENTS_TO_PRUNE = 6
"""Of fewer students, those left after holding two out cannot be fitted."""
MINIMUM_ITEMS = 2
"""The fewest items a fit takes."""
GRID = tuple(np.linspace(-3, 3, 25).round(2).tolist())
"""Abilities at which information is reported."""


def prune(
    data: ResponseMatrix,
    fit: Fit | None = None,
    settings: PruneSettings | None = None,
    *,
    facets: Sequence[str] | None = None,
    options: int | Mapping[str, int] = 4,
    groups: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Pruned:
    """Drop the `quantile` of the items worth least, refit, repeat until the share `keep` is left.

    `settings` say how; `changes` replace some of them by name, as in `prune(data, keep=0.5, seed=1)`.

    Worth is the posterior expectation of the discrimination, or with `criterion="information"` of the information over
    the calibration students' abilities (or at the abilities `information_at`). Items that correlate negatively with the
    rest of the exam leave in the first round, as probable mis-keys. With `groups` (a label per item: topic, Bloom
    level, form) every group keeps its part of the exam to within one item, or at least the `shares` named.

    A share `holdout` of the students, spread over the levels of `facets` (all the table's by default), takes no part in
    choosing. Refits have the `facets`, whose levels have effects on items (`item_effects`), so that an item is worth
    what it tells of levels not seen before: what separates students only because levels suit some items by chance does
    not count. Without such effects, abilities are free, Normal(0, 1). `fit` supplies model, facets, interval and
    whether there are effects, when they are not given. `stop="auto"` ends as soon as a further round shows no gain on
    the held-out students; `targets` are abilities at which the standard error is recorded. Raises ValueError with fewer
    than 6 students, for settings that `PruneSettings` refuses, or for shares of groups that cannot be met. `progress`
    is told 0 of 1 once all is accepted.
    """
    require_matrix(data)
    if fit is not None:
        require_fit(fit)
    how = replace(settings or PruneSettings(), **changes)
    require_estimable(data)
    goal = max(MINIMUM_ITEMS, round(how.keep * len(data.items)))
    balance = balance_of(data.items, groups, how.shares, goal)
    if (students := len(data.students)) < FEWEST_STUDENTS_TO_PRUNE:
        raise ValueError(
            f"found {students} students, too few to hold any out; wanted at least {FEWEST_STUDENTS_TO_PRUNE} "
            "to judge pruning"
        )
    interval = how.interval if how.interval is not None else 0.9 if fit is None else fit.interval
    model = _model(how, fit, data)
    require_known(model, how.method, None)
    require_probability("interval", interval)
    named = _stratifiers(data, fit, facets)
    refit = partial(
        fit_model,
        model=model,
        method=how.method,
        facets=named if _with_effects(how, fit) else (),
        item_effects=how.item_effects or None,
        options=options,
        seed=how.seed,
        interval=interval,
    )
    calibration, heldout = split_students(data, how.holdout, how.seed, named)
    part = data.select_students(heldout)
    judge = HeldOutEvaluator(part, model, options, interval, data)
    begun(progress)
    walk = _PruningWalk(data.select_students(calibration), refit, judge, how, balance, goal)
    stopped = walk.run(progress)
    ranks = agreement(scored(part, walk.first), scored(part, walk.last), interval, how.seed)
    return Pruned(
        kept=walk.current,
        dropped=tuple(walk.dropped),
        trajectory=tuple(walk.rounds),
        heldout_gain=walk.rounds[-1].heldout_gain,
        theta=GRID,
        targets=tuple(float(value) for value in how.targets),
        calibration=calibration,
        heldout=heldout,
        model=model,
        method=how.method,
        interval=interval,
        seed=how.seed,
        stopped=stopped,
        criterion=how.criterion,
        rank_agreement=ranks,
        groups=_group_sizes(balance, data.items, walk.current) if groups is not None else {},
        warnings=_warnings(walk, len(calibration), len(heldout)),
    )


def _model(how: PruneSettings, fit: Fit | None, data: ResponseMatrix) -> str:
    """The model of the refits; ValueError for one without discriminations, and for ratings."""
    model = how.model or ("2pl" if fit is None or fit.model == "1pl" else fit.model)
    if model in RATINGS or data.top is not None:
        raise ValueError("ratings cannot be pruned yet: the judge reads right and wrong answers")
    if model == "1pl":
        raise ValueError("model '1pl' gives every item the same discrimination; wanted '2pl', '3pl' or '4pl'")
    return model


def _with_effects(how: PruneSettings, fit: Fit | None) -> bool:
    """Whether refits have the facets, and effects of their levels on items where these can be had."""
    if how.item_effects is not None:
        return how.item_effects
    return how.method in EFFECT_METHODS and (fit is None or bool(fit.design.item_facets))


class _PruningWalk:
    """The rounds from the full exam to the pruned one."""

    def __init__(
        self,
        data: ResponseMatrix,
        refit: Callable[[ResponseMatrix], Fit],
        judge: HeldOutEvaluator,
        how: PruneSettings,
        balance: Balance,
        goal: int,
    ) -> None:
        self.data, self.refit, self.judge, self.how, self.balance, self.goal = data, refit, judge, how, balance, goal
        self.current = data.items
        self.dropped: list[Drop] = []
        self.rounds: list[Round] = []
        self.first = self.last = self._fit(data.items)
        self.full = dict(zip(data.items, _point_information(self.first), strict=True))
        self._record(data.items, data.items, self.first)

    @property
    def suspects(self) -> list[str]:
        """Items kept although they correlate negatively with the rest: their group could not spare them."""
        rho = item_worth.negative_correlations(self.last.data)
        return [item for item, value in zip(self.last.data.items, rho, strict=True) if value < 0]

    def run(self, progress: Progress | None) -> str:
        """Prune; why it ended."""
        size, goal, auto = len(self.data.items), self.goal, self.how.stop == "auto"
        while len(self.current) > goal:
            gone = self._next_to_drop()
            wrong = [drop for drop in gone if drop.reason.startswith(item_worth.WRONG)]
            if auto and wrong:  # these leave whatever the judge says, but take nothing else with them
                gone = wrong
            kept = tuple(item for item in self.current if item not in {drop.item for drop in gone})
            if auto and not wrong and self.judge.gain(kept, self.current).low <= 0:
                return f"round {len(self.rounds)} would show no credible gain on held-out students"
            self.last = self._fit(kept)
            self._record(kept, self.current, self.last)
            self.dropped += gone
            self.current = kept
            tell(progress, size - len(kept), size - goal)
        return f"{len(self.current)} of {size} items are left"

    def _next_to_drop(self) -> list[Drop]:
        how, present = self.how, len(self.current)
        value = item_worth.expected_worth(self.last, how.criterion, how.information_at)
        suspects = int(np.sum(item_worth.negative_correlations(self.last.data) < 0))
        count = min(max(1, round(how.quantile * present), suspects), present - self.goal)
        number = len(self.rounds)
        return item_worth.items_to_drop(self.last, value, how.criterion, count, self.balance, self.goal, number)

    def _fit(self, items: Sequence[str]) -> Fit:
        """Refit the remaining items on the calibration students who were asked any of them."""
        part = self.data.select(items)
        answered = np.flatnonzero(part.asked.any(axis=1))
        return self.refit(part.select_students([part.students[index] for index in answered]))

    def _record(self, kept: Sequence[str], before: Sequence[str], result: Fit) -> None:
        curves = item_worth.expected_information(result, np.concatenate([GRID, self.how.targets])).sum(axis=1)
        total, at_targets = np.split(curves, [len(GRID)])
        claimed = float(np.mean([self.full[item] for item in kept]) / np.mean(list(self.full.values())) - 1.0)
        gain = self.judge.gain(kept, self.data.items)
        share = len(kept) / len(self.data.items)
        self.rounds.append(
            Round(
                round=len(self.rounds),
                n_items=len(kept),
                total_information=total,
                mean_information=total / len(kept),
                standard_error=1 / np.sqrt(np.maximum(at_targets, 1e-12)),
                reliability=result.reliability,
                claimed_gain=claimed,
                heldout_gain=gain,
                step_gain=self.judge.gain(kept, before),
                total_gain=InformationGain(*((1 + value) * share - 1 for value in gain)),
                random=self.judge.random(kept, self.data.items, self.balance.label, self.how.seed),
            )
        )


def _point_information(result: Fit) -> Floats:
    """Information `[I]` of each item at its estimate, over a Normal(0, 1) population."""
    nodes, weights = population()
    curves = kernels.information(nodes, *(result.point[name][:, None] for name in "abcd"))
    return np.asarray(curves @ weights)


def _group_sizes(balance: Balance, whole: Sequence[str], kept: Sequence[str]) -> dict[str, tuple[int, int]]:
    before, after = (Counter(balance.label[item] for item in items) for items in (whole, kept))
    return {label: (size, after[label]) for label, size in before.items()}


def _stratifiers(data: ResponseMatrix, fit: Fit | None, facets: Sequence[str] | None) -> tuple[str, ...]:
    if facets is not None:
        data.with_facets(facets)
        return tuple(facets)
    if fit is not None and fit.data.facets is not None:
        return tuple(name for name in facet_names(fit.data) if name in facet_names(data))
    return tuple(name for name in facet_names(data) if len(levels(data, name)) < len(data.students))


def _warnings(walk: _PruningWalk, calibration: int, heldout: int) -> tuple[str, ...]:
    notes = []
    gain = walk.rounds[-1].heldout_gain
    if walk.suspects:
        notes.append(
            f"{len(walk.suspects)} items kept correlate negatively with the rest of the exam, probably wrong keys: "
            f"{', '.join(walk.suspects[:5])}{', ...' if len(walk.suspects) > 5 else ''}."
        )
    if not walk.last.converged:
        notes.append(
            f"The last of the fits that chose did not converge ({walk.last.method}); items may be dropped for no "
            "reason of theirs. Take more students or items, or another method."
        )
    if gain.low <= 0 <= gain.high:
        notes.append("The gain from pruning is not credible: its interval includes 0.")
    if heldout < 10:
        notes.append(
            f"Only {heldout} students judge and {calibration} choose; expect wide intervals and a choice that would "
            "change with other students."
        )
    return tuple(notes)
