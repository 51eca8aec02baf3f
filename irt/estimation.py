"""`fit`: from a table of answers to a checked posterior."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from irt.convergence import mixing
from irt.design import Design, build_design
from irt.loo import loo
from irt.model import MODELS, Options, Priors, Problem, build_problem, report_scale
from irt.reading import require_estimable
from irt.responses import Floats, ResponseMatrix, facet_names
from irt.result import Fit

METHODS = ("nuts", "map")
BACKENDS = {"nuts": "numpyro", "map": "numpy"}
Progress = Callable[[int, int], None]
LAPLACE_DRAWS = 2000
LAPLACE_CELLS = 40_000_000
LOO_CELLS = 400_000
FEW_STUDENTS = 200
DIVERGENT_SHARE = 0.001
"""Transitions that may diverge in the repeated run, which is then said; in the first run none may."""
UNRELIABLE = 0.1


def fit(
    data: ResponseMatrix,
    model: str = "2pl",
    method: str = "nuts",
    facets: Sequence[str] | None = None,
    *,
    interactions: Sequence[Sequence[str]] = (),
    options: Options = 4,
    backend: str | None = None,
    seed: int = 0,
    interval: float = 0.9,
    warmup: int = 1000,
    draws: int = 1500,
    chains: int = 2,
    target_accept: float = 0.9,
    priors: Priors | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Fit `1pl`, `2pl`, `3pl`, `4pl`, or `auto` (the simplest of 1pl to 3pl that PSIS-LOO does not reject).

    `method="nuts"` samples the posterior (numpyro) and passes a convergence gate, trying once more with more draws when
    it fails; `method="map"` gives the joint mode with Laplace standard errors in a fraction of a second. `facets=None`
    uses every facet of the table, `()` none. `options` is the number of choices per item (one number, a list, or a
    mapping), on which guessing is centred. Raises ValueError (one line) for a table or design that cannot be estimated.
    """
    _require_known(model, method, backend, interval, chains)
    require_estimable(data)
    names = facet_names(data) if facets is None else tuple(facets)
    data = data.with_facets(names)
    design = build_design(data, names, interactions)
    sampler = _Sampler(data, design, method, seed, interval, warmup, draws, chains, target_accept, progress)
    if model != "auto":
        return sampler.fit(build_problem(data, design, model, options, priors or Priors()))
    fits = [
        sampler.fit(build_problem(data, design, name, options, priors or Priors())) for name in ("1pl", "2pl", "3pl")
    ]
    return choose(fits)


def choose(fits: Sequence[Fit]) -> Fit:
    """The simplest fit whose PSIS-LOO is within two standard errors of the best one, with the comparison recorded."""
    scored = [loo(fit.data, fit.thinned(1000)) for fit in fits]
    unreliable = [fit.model for fit, each in zip(fits, scored, strict=True) if np.mean(each.k > 0.7) > UNRELIABLE]
    if unreliable:
        raise ValueError(
            f"model 'auto' cannot compare {', '.join(unreliable)} by PSIS-LOO (Pareto k above 0.7 for more than "
            f"{UNRELIABLE:.0%} of the answers); name a model, or use method 'nuts'"
        )
    pointwise = [each.pointwise for each in scored]
    totals = [float(values.sum()) for values in pointwise]
    best = int(np.argmax(totals))
    rows: list[dict[str, float | int | str]] = []
    chosen = best
    for index, (candidate, values) in enumerate(zip(fits, pointwise, strict=True)):
        difference = pointwise[best] - values
        error = float(np.sqrt(len(values) * difference.var()))
        gap = float(difference.sum())
        rows.append({"model": candidate.model, "elpd_loo": totals[index], "behind": gap, "behind_se": error})
        if gap <= 2 * error and index < chosen:
            chosen = index
    pick = fits[chosen]
    reason = f"Chose {pick.model} of {', '.join(fit.model for fit in fits)} by PSIS-LOO: "
    row = rows[chosen]
    if chosen == best:
        reason += "it predicts left-out answers best."
    else:
        reason += (
            f"{fits[best].model} predicts left-out answers better by {row['behind']:.1f} (standard error "
            f"{row['behind_se']:.1f}), which does not pay for its extra parameters."
        )
    return replace(pick, model_choice=tuple(rows), warnings=(*pick.warnings, reason))


class _Sampler:
    """The settings of one call, applied to one problem or to several when models are compared."""

    def __init__(
        self,
        data: ResponseMatrix,
        design: Design,
        method: str,
        seed: int,
        interval: float,
        warmup: int,
        draws: int,
        chains: int,
        target_accept: float,
        progress: Progress | None,
    ) -> None:
        self.data, self.design, self.method, self.seed, self.interval = data, design, method, seed, interval
        self.warmup, self.draws, self.chains, self.target_accept = warmup, draws, chains, target_accept
        self.progress = progress

    def fit(self, problem: Problem) -> Fit:
        notes = [*self.data.notes, *self.design.notes, *_advice(problem, self.data)]
        return self._map(problem, notes) if self.method == "map" else self._nuts(problem, notes)

    def _map(self, problem: Problem, notes: list[str]) -> Fit:
        from irt import laplace

        begin = time.perf_counter()
        mode = laplace.climb(problem, self.progress)
        per_draw = problem.successes.shape[1] * 4 + problem.successes.shape[0]
        count = int(np.clip(LAPLACE_CELLS // per_draw, 200, LAPLACE_DRAWS))
        raw = laplace.draw(problem, mode, count, self.seed)
        reported = report_scale(raw, self.design)
        if self.design.terms and self.design.residual:
            scale = laplace.residual_scale_draws(problem, mode, count, self.seed)
            reported["residual_scale"] = reported["residual_scale"] * scale / mode.scales.residual
        point = _mode_point(problem, mode, raw.theta)
        bounded = problem.free_a and mode.scales.spread_a >= 0.999 * laplace.widest_a(problem.priors)
        if bounded:
            notes.append(
                "Not converged: the spread of discriminations ran into its bound, where a joint mode is not to be "
                "trusted; use method='nuts'."
            )
        if not mode.converged:
            notes.append(f"The climb to the mode did not settle in {mode.rounds} rounds; use method='nuts'.")
        diagnostics: dict[str, float | int | str] = {"rounds": mode.rounds, "log_posterior": mode.log_posterior}
        return self._result(
            problem,
            reported,
            point,
            1,
            mode.log_likelihood,
            mode.converged and not bounded,
            diagnostics,
            notes,
            {
                "compile": 0.0,
                "fit": time.perf_counter() - begin,
            },
        )

    def _nuts(self, problem: Problem, notes: list[str]) -> Fit:
        from irt import nuts

        settings = nuts.Settings(self.warmup, self.draws, self.chains, self.target_accept, self.seed)
        sampled = nuts.sample(problem, settings, self.progress)
        compile_seconds, fit_seconds = sampled.compile_seconds, sampled.sample_seconds
        reported = report_scale(sampled.raw, self.design)
        diagnostics, failures = _gate(reported, sampled)
        again = settings
        if failures:
            again = replace(
                settings,
                warmup=2 * settings.warmup,
                draws=2 * settings.draws,
                target_accept=max(settings.target_accept, 0.97),
                seed=settings.seed + 1000,
            )
            notes.append(
                f"The first run did not pass the convergence gate ({'; '.join(failures)}); it was repeated with "
                f"{again.draws} draws per chain and a target acceptance of {again.target_accept:g}."
            )
            sampled = nuts.sample(problem, again, self.progress)
            compile_seconds += sampled.compile_seconds
            fit_seconds += sampled.sample_seconds
            reported = report_scale(sampled.raw, self.design)
            diagnostics, failures = _gate(reported, sampled, DIVERGENT_SHARE)
        if sampled.divergences and not failures:
            notes.append(
                f"{sampled.divergences} of {sampled.chains * again.draws} transitions diverged in the repeated run, no "
                "more than 1 in 1000: the tails of the steepest items may be cut a little short."
            )
        if failures:
            notes.append(f"Not converged: {'; '.join(failures)}. Do not rely on the intervals.")
        point = {name: values.mean(axis=0) for name, values in reported.items()}
        likelihood = float(np.mean(_log_likelihoods(self.data, reported)))
        seconds = {"compile": compile_seconds, "fit": fit_seconds}
        return self._result(
            problem, reported, point, sampled.chains, likelihood, not failures, diagnostics, notes, seconds
        )

    def _result(
        self,
        problem: Problem,
        reported: dict[str, Floats],
        point: Mapping[str, Floats],
        chains: int,
        likelihood: float,
        converged: bool,
        diagnostics: dict[str, float | int | str],
        notes: list[str],
        seconds: dict[str, float],
    ) -> Fit:
        result = Fit(
            model=problem.model,
            method=self.method,
            backend=BACKENDS[self.method],
            data=self.data,
            design=self.design,
            draws=reported,
            point=point,
            chance=problem.chance,
            chains=chains,
            interval=self.interval,
            seed=self.seed,
            log_likelihood=likelihood,
            elpd_loo=None,
            elpd_loo_se=None,
            converged=converged,
            diagnostics=diagnostics,
            warnings=(),
            seconds=seconds,
        )
        notes = [*notes, *_item_notes(result)]
        if self.method == "map" or self.data.asked.sum() > LOO_CELLS:
            return replace(result, warnings=tuple(notes))
        scored = loo(self.data, result.thinned(1000))
        poor = float(np.mean(scored.k > 0.7))
        if poor > 0.01:
            notes.append(f"PSIS-LOO is unreliable for {poor:.1%} of the answers (Pareto k above 0.7).")
        diagnostics = diagnostics | {"pareto_k_above_0.7": poor}
        return replace(
            result, elpd_loo=scored.elpd, elpd_loo_se=scored.se, diagnostics=diagnostics, warnings=tuple(notes)
        )


def _require_known(model: str, method: str, backend: str | None, interval: float, chains: int) -> None:
    if model not in (*MODELS, "auto"):
        raise ValueError(f"unknown model '{model}'; {', '.join(MODELS)} or auto were wanted")
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; {' or '.join(METHODS)} were wanted")
    if backend not in (None, BACKENDS[method]):
        raise ValueError(f"method '{method}' has no backend '{backend}'; {BACKENDS[method]} was wanted")
    if not 0 < interval < 1:
        raise ValueError(f"interval {interval:g} is not a probability between 0 and 1")
    if method == "nuts" and chains < 2:
        raise ValueError(f"{chains} chain cannot be checked for convergence; at least 2 were wanted")


def _advice(problem: Problem, data: ResponseMatrix) -> list[str]:
    students = len(data.students)
    if problem.guessing and students < FEW_STUDENTS:
        return [
            f"{students} students say little about guessing: {problem.model} rests on its prior "
            f"(chance level); about {FEW_STUDENTS} students are needed to estimate it."
        ]
    return []


def _item_notes(result: Fit) -> list[str]:
    """Sentences about items whose answers alone cannot place them."""
    right = result.data.successes.sum(axis=0)
    attempts = result.data.attempts.sum(axis=0)
    notes = []
    for word, extreme in (("correctly", right == attempts), ("wrongly", right == 0)):
        count = int(extreme.sum())
        if count:
            noun = "item was" if count == 1 else "items were"
            notes.append(f"{count} {noun} answered {word} by every student; the prior places them.")
    return notes


def _mode_point(problem: Problem, mode: object, theta: Floats) -> dict[str, Floats]:
    """The mode on the reported scale, whose unit is the typical spread of the abilities over draws."""
    from irt import laplace

    assert isinstance(mode, laplace.LaplaceFit)
    raw = laplace.mode_of(problem, mode)
    if not problem.design.terms:
        return {name: values[0] for name, values in report_scale(raw, problem.design).items()}
    unit = float(np.sqrt(np.mean(theta.var(axis=1))))
    own = float(raw.theta.std())
    point = {name: values[0] for name, values in report_scale(raw, problem.design).items()}
    grow = {"a", "b", "theta", "residual_scale", "spread_b", "centre_b"}
    for name in point:
        if name in grow or name.startswith(("effect.", "scale.")):
            point[name] = point[name] * (unit / own if name == "a" else own / unit)
    return point


def _gate(
    reported: Mapping[str, Floats], sampled: object, divergent_share: float = 0.0
) -> tuple[dict[str, float | int | str], list[str]]:
    """Diagnostics, and what failed of: R-hat <= 1.01, bulk and tail ESS >= 400, depth not saturated, divergences.

    At most `divergent_share` of the transitions may diverge.
    """
    from irt import nuts

    assert isinstance(sampled, nuts.Sampled)
    r_hat, bulk, tail, worst = 1.0, np.inf, np.inf, ""
    for name, values in reported.items():
        result = mixing(values.reshape(sampled.chains, len(values) // sampled.chains, -1))
        if result.r_hat.max() > r_hat:
            r_hat, worst = float(result.r_hat.max()), name
        bulk, tail = min(bulk, float(result.ess_bulk.min())), min(tail, float(result.ess_tail.min()))
    diagnostics: dict[str, float | int | str] = {
        "r_hat_max": r_hat,
        "r_hat_worst": worst,
        "ess_bulk_min": bulk,
        "ess_tail_min": tail,
        "divergences": sampled.divergences,
        "tree_depth_saturated": sampled.saturated,
        "chains": sampled.chains,
        "draws": len(reported["a"]),
    }
    failures = []
    if r_hat > 1.01:
        failures.append(f"R-hat {r_hat:.3f} of {worst} is above 1.01")
    if min(bulk, tail) < 400:
        failures.append(f"effective sample size {min(bulk, tail):.0f} is below 400")
    if sampled.divergences > divergent_share * len(reported["a"]):
        failures.append(f"{sampled.divergences} divergent transitions")
    if sampled.saturated > 0.01 * len(reported["a"]):
        failures.append(f"tree depth saturated {sampled.saturated} times")
    return diagnostics, failures


def _log_likelihoods(data: ResponseMatrix, draws: Mapping[str, Floats]) -> Floats:
    """Joint log-likelihood of each of up to 400 draws."""
    from irt import kernels

    keep = np.unique(np.linspace(0, len(draws["a"]) - 1, min(400, len(draws["a"]))).astype(int))
    k, n = data.successes, data.attempts
    return np.array(
        [
            kernels.log_likelihood(k, n, *(draws[name][index] for name in ("theta", "a", "b", "c", "d"))).sum()
            for index in keep
        ]
    )
