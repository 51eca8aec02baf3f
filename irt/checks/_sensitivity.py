"""How far do the results move when a prior counts half, or double?

Power-scaling (Kallioinen, Paananen, Bürkner & Vehtari 2024): the prior's density is raised to the power 1/2 or 2 by
weighing the draws again, with Pareto-smoothed weights that say when they cannot be trusted. Only the priors that a user
sets are scaled (`irt._model.Priors`), not the population distributions whose scales they govern. A result that moves by
more than .3 posterior standard deviations rests on the prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import softmax

from irt import _prior_densities as prior_densities
from irt._model import (
    ITEM_COVARIATE,
    ITEM_EFFECT_SCALE,
    SHARED_GUESSING,
    UNEXPLAINED,
    Priors,
    guessing_centre,
)
from irt._responses import Floats
from irt._result import Fit
from irt._variance_components import logits_per_unit
from irt.checks._inputs import optional
from irt.checks._loo import smoothed

POWERS = (0.5, 2.0)
NOTABLE = 0.3
"""Posterior standard deviations: a shift that readers of an interval would see."""
TRUSTED_K = 0.7
"""Pareto k up to which weights can be trusted (Vehtari, Gelman & Gabry 2017)."""
FEWEST_DRAWS = 100
"""Draws without which the weights have no tail to smooth."""
MOST_LEVELS = 30
"""Levels whose pairs are compared; of more, each with the average."""
LABELS = {"theta": "ability", "a": "discrimination", "b": "difficulty", "c": "guessing", "d": "upper asymptote"}


class Shift(NamedTuple):
    """Element `[N]` changes of a quantity under one power: of the mean in posterior sds, and of the sd as a ratio."""

    mean: Floats
    spread: Floats


def prior_sensitivity(fit: Fit) -> pd.DataFrame:
    """`prior,quantity,element,shift_half,shift_double,sd_half,sd_double,k,flag,note,sentence`, largest shift first.

    For each prior and each kind of quantity (ability, contrasts of each facet, item parameters), the element that moves
    most: the change of its mean, in posterior standard deviations, with half and with double the prior, and the ratio
    of its new standard deviation to the old. `k` is the Pareto shape of the weights; above .7 the row is empty. So it
    is where the method holds a scale fixed (`map`): only draws of the scale can tell. Raises ValueError when the
    fit has fewer than 100 draws.
    """
    fit.require_right_or_wrong("the check of the priors")
    if fit.method == "mml":
        raise ValueError("a fit by 'mml' draws no scales of priors; wanted 'nuts' or 'laplace'")
    count = len(fit.draws["a"])
    if count < FEWEST_DRAWS:
        raise ValueError(f"{count} draws cannot be weighed again; wanted at least {FEWEST_DRAWS}")
    quantities = _quantities(fit)
    scaled = log_priors(fit)
    table = pd.concat([_rows(name, log_prior, quantities) for name, log_prior in scaled.items()], ignore_index=True)
    shifts = [table[name].abs().to_numpy(dtype=np.float64, na_value=-1.0) for name in ("shift_half", "shift_double")]
    size = np.maximum(shifts[0], shifts[1])
    return table.iloc[np.argsort(-size, kind="stable")].reset_index(drop=True)


def log_priors(fit: Fit) -> dict[str, Floats]:
    """Log density `[D]` of each prior at the draws, up to a constant, by its name in `Priors`.

    The draws are put back on the model's own scale: its unit is the geometric mean of the discriminations, its origin
    the mean of the facets' effects over the students. `common_a` is scaled on the log scale, where it is normal.
    """
    draws, priors = fit.draws, fit.settings.priors or Priors()
    unit = logits_per_unit(draws)
    origin = np.zeros(len(unit))
    found: dict[str, Floats] = {}
    for term in fit.design.terms:
        origin = origin + unit * draws[f"effect.{term.name}"][:, term.level_of].mean(axis=1)
        scale = prior_densities.term_scale(priors).log(draws[f"scale.{term.name}"] * unit)
        found["term_scale"] = found.get("term_scale", 0.0) + scale
    residual = prior_densities.residual_scale(priors, bool(fit.design.terms))
    if fit.design.terms and fit.design.residual:
        found["residual_scale"] = residual.log(draws["residual_scale"] * unit)
    elif not fit.design.terms:
        found["common_a"] = residual.log(unit)
    for name in fit.design.item_facets:
        scale = prior_densities.item_effect_scale(priors).log(_unexplained(draws, f"{ITEM_EFFECT_SCALE}{name}"))
        found["item_effect_scale"] = found.get("item_effect_scale", 0.0) + scale
    if fit.model != "1pl":
        found["spread_a"] = prior_densities.spread_a(priors).log(draws["spread_a"])
    found["centre_b"] = prior_densities.centre_b(priors).log(draws["centre_b"] * unit + origin)
    found["spread_b"] = prior_densities.spread_b(priors).log(_unexplained(draws, "spread_b") * unit)
    if fit.design.item_covariates is not None:
        found["item_covariate_scale"] = _log_prior_of_covariates(fit, priors, unit)
    if fit.model in ("3pl", SHARED_GUESSING, "4pl"):
        centre = guessing_centre(fit.model, fit.chance)
        found["guessing_weight"] = prior_densities.guessing(priors, centre).log(draws["c"][:, : len(centre)])
    if fit.model == "4pl":
        share = (draws["d"] - draws["c"]) / (1 - draws["c"])
        found["upper_weight"] = prior_densities.upper_share(priors, share.shape[1]).log(share)
    return found


def _unexplained(draws: Mapping[str, Floats], scale: str) -> Floats:
    """Draws of what item covariates leave of a scale: all of it where there are none."""
    return draws.get(UNEXPLAINED + scale, draws[scale])


def _log_prior_of_covariates(fit: Fit, priors: Priors, unit: Floats) -> Floats:
    """Of the effects of item covariates, normal in logits per standard deviation of each."""
    assert fit.design.item_covariates is not None
    density, width = prior_densities.item_covariate(priors), fit.design.item_covariates.unit
    found = [fit.draws[ITEM_COVARIATE], *(fit.draws[f"{ITEM_COVARIATE}.{name}"] for name in fit.design.item_facets)]
    logs = [density.log(each * width * unit.reshape(-1, *[1] * (each.ndim - 1))) for each in found]
    return np.asarray(sum(each.reshape(len(unit), -1).sum(axis=1) for each in logs))


def power_weights(log_prior: Floats) -> tuple[Floats, float]:
    """Weights `[D, 2]` of the draws when the prior's density is raised to 1/2 and to 2, and the larger Pareto shape."""
    log, shapes = smoothed(np.stack([(power - 1) * log_prior for power in POWERS], axis=1))
    return np.asarray(softmax(log, axis=0)), float(shapes.max())


def shift(draws: Floats, weight: Floats) -> Shift:
    """What weights `[D]` that add up to 1 do to the means and standard deviations of draws `[D, N]`."""
    mean, sd = draws.mean(axis=0), np.maximum(draws.std(axis=0), 1e-12)
    new = weight @ draws
    spread = np.sqrt(np.maximum(weight @ draws**2 - new**2, 0.0))
    return Shift((new - mean) / sd, spread / sd)


def _quantities(fit: Fit) -> dict[str, tuple[list[str], Floats]]:
    """Draws `[D, N]` of what is reported, with the elements' names; constant ones are left out."""
    found: dict[str, tuple[list[str], Floats]] = {"ability": (list(fit.data.students), fit.draws["theta"])}
    for term in fit.design.terms:
        draws, names = fit.draws[f"effect.{term.name}"], list(term.levels)
        if len(names) <= MOST_LEVELS:
            first, second = np.triu_indices(len(names), 1)
            labels = [f"{names[i]} - {names[j]}" for i, j in zip(first, second, strict=True)]
            found[f"contrast of {term.name}"] = (labels, draws[:, first] - draws[:, second])
        else:
            found[f"effect of {term.name}"] = (names, draws)
    for name in "abcd":
        if np.ptp(fit.draws[name], axis=0).max() > 1e-12:
            found[LABELS[name]] = (list(fit.data.items), fit.draws[name])
    return found


def _rows(prior: str, log_prior: Floats, quantities: Mapping[str, tuple[list[str], Floats]]) -> pd.DataFrame:
    held = np.ptp(log_prior) < 1e-9
    weights, k = power_weights(log_prior)
    known = not held and k <= TRUSTED_K
    rows = []
    for quantity, (names, draws) in quantities.items():
        half, double = (shift(draws, weights[:, index]) for index in range(len(POWERS)))
        worst = int(np.argmax(np.maximum(np.abs(half.mean), np.abs(double.mean))))
        values = (half.mean[worst], double.mean[worst], half.spread[worst], double.spread[worst])
        rows.append((quantity, names[worst], *values))
    table = pd.DataFrame({"prior": prior, "quantity": [row[0] for row in rows]})
    table["element"] = [row[1] if known else "" for row in rows]
    for column, name in enumerate(("shift_half", "shift_double", "sd_half", "sd_double"), start=2):
        table[name] = optional([row[column] for row in rows], np.full(len(rows), known))
    table["k"] = optional(np.full(len(rows), k), np.full(len(rows), not held))
    table["flag"] = [known and max(abs(row[2]), abs(row[3])) > NOTABLE for row in rows]
    reason = "the method holds this scale fixed" if held else f"the weights cannot be trusted (Pareto k {k:.2f})"
    table["note"] = "" if known else reason
    table["sentence"] = [_sentence(prior, row) if bad else "" for row, bad in zip(rows, table["flag"], strict=True)]
    return table


def _sentence(prior: str, row: tuple[str, str, float, float, float, float]) -> str:
    quantity, element, half, double, _, _ = row
    return (
        f"The {quantity} of '{element}' rests on the prior '{prior}': it moves by {half:+.1f} standard deviations when "
        f"the prior counts half and by {double:+.1f} when it counts double; report it with that, or add students."
    )
