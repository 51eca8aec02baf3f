"""What a fit knows: draws on the reported scale, and every table that is read from them."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from irt import _graded as graded
from irt import _posterior_file as posterior_file
from irt import _tables as tables
from irt._argument_checks import require_names, require_numbers
from irt._d_study import DRAWS, DStudy, StudySettings, d_study
from irt._design import Design
from irt._explained_effects import ITEM, covariate_contrasts, moved_to, weighted_slopes
from irt._files import replacing
from irt._fit_settings import FitSettings
from irt._graded import GradedParameters, Items
from irt._item_covariates import Mix
from irt._likelihoods import items_among
from irt._model import ITEM_EFFECT_SCALE, ONE_SLOPE, UNEXPLAINED, ItemEffects
from irt._partial_credit import name_of
from irt._printing import json_value
from irt._responses import Floats, ResponseMatrix, positions
from irt._variance_components import VarianceComponents, require_item_effects, variance_components
from irt.fitting import _likelihood_passes as fused
from irt.kernels import ItemParameters

FORMAT = 1
"""Of `fit.json`."""
AS_SAVED = ("log_likelihood", "elpd_loo", "elpd_loo_se", "converged", "diagnostics", "seconds")
"""Fields of a fit that `fit.json` holds as they are, beside its settings."""
SENTENCES = ("warnings", "notes", "model_choice")
"""Those that it holds as lists."""
PACKAGES = ("numpy", "scipy", "jax", "numpyro")
"""Whose versions `fit.json` records."""
BAND_DRAWS = 400
"""Draws that a band is read from: 20 beyond each end at 90 %."""
CURVE_DRAWS = 6000
"""Most draws of information curves."""
CURVE_CELLS = 300_000
"""Draws times items of information curves, so that time and memory stay the same for long exams."""


def require_fit(*fits: object) -> None:
    """ValueError for anything but fits."""
    for fit in fits:
        if not isinstance(fit, Fit):
            raise ValueError(f"fit is a {type(fit).__name__}; wanted a Fit (irt.fit makes one, irt.load_fit reads one)")


class Estimate(NamedTuple):
    """A quantity with its posterior standard deviation, interval, and probability of being positive."""

    estimate: float
    sd: float
    low: float
    high: float
    probability: float

    def text(self, times: float = 1.0, unit: str = "") -> str:
        """The estimate with its interval, such as `+0.31 [+0.10, +0.52]`; with a unit, one digit."""
        digits = 1 if unit else 2
        middle, lower, upper = (f"{times * number:+.{digits}f}" for number in (self.estimate, self.low, self.high))
        return f"{middle}{unit} [{lower}, {upper}]"


@dataclass(frozen=True)
class Information:
    """Fisher information at `theta` `[T]`: per item `[I, T]` and of all items together `[T]`, mean and band."""

    theta: Floats
    items: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    total: Floats
    total_low: Floats
    total_high: Floats

    @property
    def standard_error(self) -> Floats:
        """Standard error of an ability estimated by all the items, `[T]`."""
        return np.asarray(1.0 / np.sqrt(np.maximum(self.total, 1e-12)))


@dataclass(frozen=True, repr=False)
class Fit:
    """A fitted model. `draws` maps a quantity's name to draws `[D, ...]`, chains in order along the first axis.

    `settings` are the options of the fit, with the model that was chosen and the backend, chains and facets that were
    used: `irt.fit(data, settings=fit.settings)` fits it again.

    Abilities, difficulties and effects are on the reported scale: with facets, abilities have mean 0 and standard
    deviation 1 over the students of the table; without, ability is Normal(0, 1) in the population. `point` holds the
    posterior means (`nuts`) or the mode (`map`); `errors` analytic standard errors where a method has them (else the
    spread of the draws is one). `warnings` are plain sentences on what is not to be relied on, `notes` on
    how the table was read and the fit was made; `converged` is False when the answer should not be used.

    Ratings have no `c` and `d` but `thresholds` `[D, I, K]` (`gpcm`, `pcm`: `steps`), whose mean per item is `b`; an
    item with fewer than K (its `data.top`) repeats its last one.

    Where levels have effects on items (`item_effects`), `a` is the discrimination for levels not seen before.
    """

    settings: FitSettings
    data: ResponseMatrix
    design: Design
    draws: Mapping[str, Floats]
    point: Mapping[str, Floats]
    chance: Floats
    log_likelihood: float
    elpd_loo: float | None
    elpd_loo_se: float | None
    converged: bool
    diagnostics: Mapping[str, float | int | str]
    warnings: tuple[str, ...]
    seconds: Mapping[str, float]
    model_choice: tuple[Mapping[str, float | int | str], ...] = field(default=())
    errors: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    item_effects: ItemEffects | None = None

    @property
    def model(self) -> str:
        """The model's name."""
        return self.settings.model

    @property
    def method(self) -> str:
        """The method of estimation."""
        return self.settings.method

    @property
    def backend(self) -> str:
        """The implementation of the method."""
        return self.settings.chosen_backend

    @property
    def chains(self) -> int:
        """How many chains the draws are of."""
        return self.settings.chains

    @property
    def interval(self) -> float:
        """Probability of the intervals."""
        return self.settings.interval

    @property
    def seed(self) -> int:
        """The random seed."""
        return self.settings.seed

    def __repr__(self) -> str:
        size = f"{len(self.data.students)} students x {len(self.data.items)} items"
        state = "converged" if self.converged else "NOT CONVERGED"
        return f"Fit({self.model} by {self.method}, {size}, reliability {self.reliability:.3f}, {state})"

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row per item: `item`, `a b c d` each with `_sd _low _high`, infit, outfit, point_biserial, flags.

        Flags, empty where there is nothing to say, are read as `items["flags"]`: pandas has an attribute `.flags`.

        Infit and outfit are mean squares of residuals at the expected abilities a posteriori and the items' point
        estimates, those of `irt.checks.item_residuals`; empty where fewer than 2 students were asked.
        Graded items have `a b b1 ... bK` and `top`, the number of thresholds; cells beyond it are empty.
        """
        columns: dict[str, object] = {"item": list(self.data.items)}
        for name in "abcd" if self.graded is None else "ab":
            columns |= self._columns(name, self.draws[name], self.point[name])
        if self.graded is not None:
            columns |= self._threshold_columns(self.graded) | {"top": self.graded.top}
        table = pd.DataFrame(columns).join(tables.item_fit(self.data, self.estimated_items, self.chance))
        error, common = float(np.median(self.abilities["theta_sd"])), self.model in ONE_SLOPE
        return tables.with_weak_items(
            table, self.data, self.tails, error, common=common, free=not self.positive_by_prior
        )

    @cached_property
    def abilities(self) -> pd.DataFrame:
        """One row per student: `student,theta,theta_sd,theta_low,theta_high`."""
        return pd.DataFrame(
            {"student": list(self.data.students)} | self._columns("theta", self.draws["theta"], self.point["theta"])
        )

    @cached_property
    def components(self) -> pd.DataFrame:
        """Zero-sum effects, one row per level (or cell of an interaction): `facet,level,effect,sd,low,high`."""
        frames = [
            pd.DataFrame(
                {"facet": term.name, "level": list(term.levels)}
                | self._columns("effect", self.draws[f"effect.{term.name}"], self.point[f"effect.{term.name}"])
            )
            for term in self.design.terms
        ]
        names = {"effect_sd": "sd", "effect_low": "low", "effect_high": "high"}
        empty = pd.DataFrame(columns=["facet", "level", "effect", "sd", "low", "high"])
        return pd.concat(frames, ignore_index=True).rename(columns=names) if frames else empty

    @property
    def parameters(self) -> ItemParameters:
        """The items' point estimates, on the scale of the abilities; ValueError for graded items (see `graded`)."""
        if isinstance(self.estimated_items, ItemParameters):
            return self.estimated_items
        raise ValueError("graded items have thresholds, not a, b, c, d; wanted Fit.graded")

    @property
    def graded(self) -> GradedParameters | None:
        """The point estimates of graded items; None for right and wrong answers."""
        return self.estimated_items if isinstance(self.estimated_items, GradedParameters) else None

    @property
    def estimated_items(self) -> Items:
        """The items' point estimates, whichever kind of answers they are about."""
        return items_among(self.point, self.data.top)

    @property
    def tails(self) -> tuple[float, float]:
        """Probabilities below the lower and the upper end of an interval."""
        return (1 - self.interval) / 2, (1 + self.interval) / 2

    @property
    def positive_by_prior(self) -> bool:
        """Whether discriminations are a population of positive ones: by every method, but maximum likelihood."""
        return self.method != "mml" or "spread_b" in self.diagnostics

    def require_right_or_wrong(self, task: str) -> None:
        """ValueError when the fit is of ratings, which `task` cannot read."""
        if self.graded is not None:
            raise ValueError(f"{task} reads right and wrong answers; a fit of ratings (model '{self.model}') was given")

    @cached_property
    def residual_scale(self) -> Estimate | None:
        """Standard deviation of what the facets do not explain, on the ability scale; None without facets."""
        if not self.design.terms or not self.design.residual:
            return None
        return self.summary(self.draws["residual_scale"], float(self.point["residual_scale"]))

    @cached_property
    def expected(self) -> Floats:
        """Posterior mean probability of a right answer (share of the highest score) `[S, I]`."""
        if self.item_effects is not None:
            return self.item_effects.expected
        thin = self.thinned(BAND_DRAWS)
        if self.graded is None:  # a compiled pass: tables of right and wrong answers may be large
            return fused.mean_probability(*(thin[name] for name in ("theta", "a", "b", "c", "d")))
        total = np.zeros(self.data.scores.shape)
        for theta, items in tables.each_draw(self.data, thin):
            total += items.share(theta[:, None])
        return total / len(thin["theta"])

    def contrast(
        self, facet: str, level_a: str, level_b: str, *, logits: bool = False, at: Mix | None = None
    ) -> Estimate:
        """Effect of `level_a` minus that of `level_b`; ValueError names an unknown facet or level.

        Of an interaction (`"llm:retriever"`, levels `"a x b"`): of the whole combinations, their facets included. The
        levels of a covariate are any numbers within its range, read between its values along straight lines. In
        standard deviations of these students, or in `logits` of an item of typical (geometric mean) discrimination; on
        average over the items, or `at` a mix of questions (as in `Fit.at`).
        """
        if at is not None:
            return self.at(at).contrast(facet, level_a, level_b, logits=logits)
        term = self.design.term(facet)
        weights = term.weights(str(level_a)) - term.weights(str(level_b))
        draws, point = self.design.worth(facet, self.draws), self.design.worth(facet, self.point)
        return self._difference(draws @ weights, float(point @ weights), logits)

    def at(self, mix: Mix) -> Fit:
        """The fit read at another mix of questions: abilities, effects of levels and difficulties as they are there.

        `mix` names item covariates with the value that the questions have (their mean is all that matters), or with
        those of a sample of such questions, whose error then counts: `{"overlap": 0.6}`, `{"overlap": [0.5, 0.7]}`.
        ValueError for a fit without item covariates, and for means beyond the values of its items.
        """
        known = self.design.item_covariates
        if known is None:
            raise ValueError("at: found a fit without item covariates; wanted one with them (irt.fit, item_covariates)")
        drawn, estimated = known.away(mix, len(self.draws["a"]), self.seed)
        draws, point = (
            moved_to(values, self.design, away) for values, away in ((self.draws, drawn), (self.point, estimated[None]))
        )
        return replace(self, draws=draws, point=point)

    def covariate_effects(self, *, logits: bool = False) -> pd.DataFrame:
        """`covariate,per,facet,level,other,effect,sd,low,high,probability`: what item covariates do to answers.

        Each is what `per` more of the covariate adds to the lead of `level` over `other`, in the units of `contrast`;
        without a level (facet `item`), to all answers: questions with more of it are so much easier.
        """
        known = self.design.item_covariates
        columns = ["covariate", "per", "facet", "level", "other"]
        if known is None:
            return pd.DataFrame(columns=[*columns, "effect", *Estimate._fields[1:]])
        rows = []
        for at, (covariate, step) in enumerate(zip(known.names, known.steps.tolist(), strict=True)):
            for where, weights in covariate_contrasts(self.design):
                draws, point = (
                    step * weighted_slopes(values, where[0], weights, at) for values in (self.draws, self.point)
                )
                rows.append((covariate, step, *where, *self._difference(draws, float(point), logits)))
        return pd.DataFrame(rows, columns=[*columns, "effect", *Estimate._fields[1:]])

    def explained_shares(self) -> list[tuple[str, Estimate]]:
        """What share of the variance of difficulties (`item`) and of effects of levels on items (by facet) the item
        covariates explain; empty without them.
        """
        if self.design.item_covariates is None:
            return []
        scales = {ITEM: "spread_b"} | {name: f"{ITEM_EFFECT_SCALE}{name}" for name in self.design.item_facets}
        shares = {
            name: 1 - (self.draws[UNEXPLAINED + scale] / self.draws[scale]) ** 2 for name, scale in scales.items()
        }
        return [(name, self.summary(share)) for name, share in shares.items()]

    def compare_students(self, student_a: str, student_b: str, *, logits: bool = False) -> Estimate:
        """Ability of one student minus that of another, with correlated uncertainty; `logits` as in `contrast`."""
        first, second = positions("student", self.data.students, (student_a, student_b))
        theta, point = self.draws["theta"], self.point["theta"]
        return self._difference(theta[:, first] - theta[:, second], float(point[first] - point[second]), logits)

    def probability_best(self, facet: str) -> pd.DataFrame:
        """`level,probability` of having the largest effect of the facet, most probable first.

        Of an interaction: of being the best combination, the effects of its facets included.
        """
        return tables.best(self.design.term(facet).levels, self.design.worth(facet, self.draws), "level")

    def variance_components(self, *, random: bool = False) -> VarianceComponents:
        """What differences between answers come from, as variances in squared logits, with shares and intervals.

        Facets are the levels at hand; with `random`, a population that they are a sample of. ValueError for a fit
        without effects of levels on items, and one of ratings.
        """
        self.require_right_or_wrong("variance components")
        return variance_components(self.draws, self.design, self.tails, random=random)

    def d_study(
        self,
        facet: str | None = None,
        between: tuple[str, str] | None = None,
        *,
        questions: Sequence[int] | None = None,
        levels: Mapping[str, Sequence[int]] | None = None,
        certainty: float = 0.9,
        random: bool = False,
        seed: int = 0,
    ) -> DStudy:
        """How well exams with so many `questions` would tell two levels of a facet, or two students, from each other.

        `between` names the two, by default the two levels with the largest effects. `levels` are numbers of levels of
        other facets to average over, by default those at hand; with `random`, they are a sample of such levels.
        `certainty` is the probability of the right order that is wanted. ValueError for unknown names, and for a fit
        without effects of levels on items, and one of ratings.
        """
        self.require_right_or_wrong("a D-study")
        settings = StudySettings(questions, levels, certainty, random, seed)
        thin = self.thinned(DRAWS)
        return d_study(thin, self.design, self.data.students, facet, between, settings, self.tails)

    def level_items(self, facet: str) -> pd.DataFrame:
        """`facet,level,item,effect,sd`: what speaks for a level (first) and against it (last), in logits.

        Posterior means and standard deviations of its effects on items, beyond ability and shrunk towards 0. ValueError
        for a facet whose levels have none.
        """
        require_item_effects(self.design, "level_items")
        assert self.item_effects is not None
        if facet not in self.item_effects.mean:
            raise ValueError(f"level_items: found '{facet}'; wanted one of {', '.join(self.item_effects.mean)}")
        mean, sd = self.item_effects.mean[facet], self.item_effects.sd[facet]
        frames = [
            pd.DataFrame(
                {"facet": facet, "level": level, "item": self.data.items, "effect": mean[:, at], "sd": sd[:, at]}
            ).sort_values("effect", ascending=False, kind="stable")
            for at, level in enumerate(self.design.term(facet).levels)
        ]
        return pd.concat(frames, ignore_index=True)

    def information(self, theta: Sequence[float] | Floats, items: Sequence[str] | None = None) -> Information:
        """Fisher information of `items` (all by default) at `theta`: posterior mean and `interval` band."""
        grid = require_numbers("theta", theta)
        names = self.data.items if items is None else require_names("items", items)
        # Steep items give information long tails: short exams take more draws, so that curves come out smooth.
        thin = self.thinned(max(BAND_DRAWS, min(CURVE_DRAWS, CURVE_CELLS // max(len(self.data.items), 1))))
        drawn = items_among(thin, self.data.top)
        mean, low, high = (np.empty((len(names), len(grid))) for _ in range(3))
        total = np.zeros((len(thin["a"]), len(grid)))
        for row, index in enumerate(positions("item", self.data.items, names)):
            curves = drawn.at([index]).information(grid)  # [D, T]
            mean[row], (low[row], high[row]) = curves.mean(axis=0), np.quantile(curves, self.tails, axis=0)
            total += curves
        bounds = np.quantile(total, self.tails, axis=0)
        return Information(grid, names, mean, low, high, total.mean(axis=0), bounds[0], bounds[1])

    def information_by(self, groups: Mapping[str, Sequence[str]], theta: Sequence[float] | Floats) -> pd.DataFrame:
        """Long table `group,theta,n_items,total,total_low,total_high,mean,mean_low,mean_high` (mean is per item)."""
        if not groups:
            raise ValueError("groups are empty; wanted a mapping of at least one label to its items")
        frames = []
        for label, ids in groups.items():
            if not ids:
                raise ValueError(f"group '{label}' has no items")
            result = self.information(theta, ids)
            totals = {"": result.total, "_low": result.total_low, "_high": result.total_high}
            columns = {f"total{end}": values for end, values in totals.items()}
            columns |= {f"mean{end}": values / len(ids) for end, values in totals.items()}
            frames.append(pd.DataFrame({"group": label, "theta": result.theta, "n_items": len(ids)} | columns))
        return pd.concat(frames, ignore_index=True)

    @property
    def reliability(self) -> float:
        """Empirical reliability of the abilities: variance of the estimates over that plus mean squared error."""
        theta = self.draws["theta"]
        between = float(np.var(theta.mean(axis=0)))
        return between / (between + float(np.mean(theta.var(axis=0))))

    @cached_property
    def accuracy_by_level(self) -> pd.DataFrame:
        """`facet,level,accuracy,low,high`: expected share right on these items with all else at its average.

        The levels of an interaction are combinations, the effects of their facets included.
        """
        thin = self.thinned(BAND_DRAWS)
        return tables.accuracy_by_level(thin, items_among(thin, self.data.top), self.design, self.tails)

    def q3(self) -> pd.DataFrame:
        """`item_a,item_b,q3` (Yen 1984), largest absolute value first: pairs that depend beyond ability."""
        return tables.q3(self.data, self.expected)

    def predictive_check(self, seed: int | None = None) -> dict[str, pd.DataFrame]:
        """Posterior predictive tables `students` and `items`: observed, expected, low, high, p_value, surprising."""
        drawn = tables.replicas(self.data, self.design, self.thinned(BAND_DRAWS), self.seed if seed is None else seed)
        return tables.predictive_check(self.data, drawn, self.tails)

    def summary(self, draws: Floats, point: float | None = None) -> Estimate:
        """Estimate, sd, interval and probability of being positive of scalar draws `[D]`."""
        low, high = np.quantile(draws, self.tails)
        centre = float(draws.mean()) if point is None or self.method == "nuts" else point
        return Estimate(centre, float(draws.std(ddof=1)), float(low), float(high), float(np.mean(draws > 0)))

    def spans(self, name: str) -> Floats:
        """Widths `[N]` of the intervals of a quantity drawn."""
        low, high = np.quantile(self.draws[name], self.tails, axis=0)
        return np.asarray(high - low)

    def thinned(self, count: int) -> dict[str, Floats]:
        """At most `count` draws, evenly spaced."""
        total = len(self.draws["a"])
        if count >= total:
            return dict(self.draws)
        keep = np.unique(np.linspace(0, total - 1, count).astype(int))
        return {
            name: values[: len(keep)] if values.strides[0] == 0 else values[keep] for name, values in self.draws.items()
        }

    def save(self, folder: str | Path) -> None:
        """Write `items.csv abilities.csv components.csv posterior.nc fit.json`; `fit.json` comes last.

        So a folder that has it is complete. All are put in place when all are written: a save that ends before leaves
        the folder as it was.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        levels = {term.name: term.levels for term in self.design.terms}
        arrays = posterior_file.PosteriorArrays(
            self.data, self.draws, self.point, self.errors, self.chance, self.item_effects
        )
        with ExitStack() as stack:  # puts the files in place last entered first
            summary = stack.enter_context(replacing(folder / "fit.json"))
            posterior_file.write(arrays, self.chains, levels, stack.enter_context(replacing(folder / "posterior.nc")))
            for name, table in (("items", self.items), ("abilities", self.abilities), ("components", self.components)):
                table.to_csv(stack.enter_context(replacing(folder / f"{name}.csv")), index=False)
            summary.write_text(json.dumps(self.record(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            (folder / "fit.json").unlink(missing_ok=True)

    def record(self) -> dict[str, Any]:
        """The content of `fit.json`."""
        return {
            "format": FORMAT,
            **self.settings.record(),
            **{name: getattr(self, name) for name in AS_SAVED},
            "n_students": len(self.data.students),
            "n_items": len(self.data.items),
            "item_facets": list(self.design.item_facets),
            "reliability": self.reliability,
            "residual_scale": None if self.residual_scale is None else self.residual_scale._asdict(),
            **{name: list(getattr(self, name)) for name in SENTENCES},
            **({"covariate_effects": json_value(self.covariate_effects())} if self.design.item_covariates else {}),
            "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES},
        }

    def _difference(self, draws: Floats, point: float, logits: bool) -> Estimate:
        """Summary of a difference of abilities, drawn `[D]`."""
        if not logits:
            return self.summary(draws, point)
        typical, estimated = (np.exp(np.log(np.abs(values["a"])).mean(axis=-1)) for values in (self.draws, self.point))
        return self.summary(draws * typical, point * float(estimated))

    def _threshold_columns(self, items: GradedParameters) -> dict[str, object]:
        columns: dict[str, object] = {}
        real = graded.real_thresholds(items.top)
        drawn = name_of(type(items))
        wide = self._columns(drawn, self.draws[drawn], items.thresholds)
        for k in range(real.shape[1]):
            named = {name.replace(drawn, f"b{k + 1}"): values[:, k] for name, values in wide.items()}
            columns |= {name: np.where(real[:, k], values, np.nan) for name, values in named.items()}
        return columns

    def _columns(self, name: str, draws: Floats, point: Floats) -> dict[str, Floats]:
        sd, low, high = tables.spread(draws, self.tails)
        return {name: point, f"{name}_sd": self.errors.get(name, sd), f"{name}_low": low, f"{name}_high": high}
