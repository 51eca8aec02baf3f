"""Every option of `irt.fit`, written once: Python calls, the command line and configuration files read this record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from irt._argument_checks import require_names, require_pairs, require_probability, require_whole
from irt._item_covariates import ItemTable
from irt._model import MODELS, RATINGS, Options, Priors
from irt._printing import json_record

BACKENDS: Mapping[str, tuple[str, ...]] = {
    "nuts": ("numpyro", "gibbs", "pymc"),  # gibbs: with effects of levels on items
    "map": ("numpy",),
    "laplace": ("numpy",),
    "mml": ("numpy",),
    "svi": ("jax",),  # numpyro on jax
}
"""Backends of each method for right and wrong answers, the default first."""
RATING_BACKENDS: Mapping[str, tuple[str, ...]] = {
    "nuts": ("numpyro",),
    "map": ("numpy",),
    "laplace": ("numpy",),
    "mml": ("numpy",),
}
SAMPLING = "Sampling by nuts"
"""Heading of the options that other methods do not read."""
METHODS = tuple(BACKENDS)
EFFECT_METHODS = ("nuts", "map", "laplace")
"""Those that have effects of levels on items."""
ALWAYS_RECORDED = ("model", "method", "backend", "interval", "seed", "chains", "facets", "covariates", "interactions")
"""Options that `fit.json` has for its readers even at their default."""
LEAST_DRAWS = 4
"""Per chain: convergence compares the spread of two halves, which takes two draws each."""


def option(default: Any, help_text: str, metavar: str | None = None, **more: Any) -> Any:
    """A field of a record whose help the command line shows."""
    return field(default=default, metadata={"help": help_text, "metavar": metavar, **more})


@dataclass(frozen=True)
class FitSettings:
    """What to fit and how; the `help` of a field's metadata says what it does.

    To add an option, follow CONTRIBUTING.md: `irt.fit` takes every field by name. Raises ValueError
    (one line) for a value out of range, and for a model, method and backend that do not go together.
    """

    model: str = option(
        "2pl",
        "1pl, 2pl, 3pl, 3pl-shared (one guessing parameter for all items), 4pl, auto (the simplest of 1pl to 3pl that "
        "the data do not reject); of ratings: grm (graded responses), gpcm or pcm (partial credit, pcm with one slope)",
    )
    method: str = option("nuts", "estimation method: nuts, map, laplace, mml or svi")
    facets: Sequence[str] | None = option(
        None, "facet columns whose effects make up ability; None: every facet of the table (mml: none), (): none"
    )
    interactions: Sequence[Sequence[str]] = option((), "facets whose combinations have effects of their own")
    covariates: Sequence[str] = option((), "columns of numbers with a smooth effect (mml: a straight line)")
    options: Options = option(  # noqa: RUF009 - a field
        4, "choices per item (a number, a list or a mapping); guessing is centred on 1/options"
    )
    item_effects: bool | None = option(
        None,
        "effects of each facet's levels on each item, which their students share: by default with nuts, map and "
        "laplace, wherever two students have a level in common",
    )
    item_covariates: ItemTable | None = option(  # noqa: RUF009 - a field
        None, "numbers or labels of every item that may explain its difficulty and effects of levels on it, by name"
    )
    priors: Priors | None = option(  # noqa: RUF009 - a field
        None, "scales of the priors; with mml, items become a population whose spreads are estimated"
    )
    interval: float = option(0.9, "probability of the central intervals")
    seed: int = option(0, "random seed")
    backend: str | None = option(
        None,
        "implementation of the method; default for nuts: gibbs with effects on items, else numpyro; else the only one",
    )
    warmup: int = option(400, "warm-up draws (gibbs: sweeps) per chain", heading=SAMPLING)
    draws: int = option(3000, "maximum draws per chain", heading=SAMPLING)
    chains: int = option(2, "number of chains", heading=SAMPLING)
    target_accept: float = option(0.9, "acceptance probability that step sizes aim at", heading=SAMPLING)

    def __post_init__(self) -> None:
        set_field = object.__setattr__  # the record is frozen; names are kept as tuples
        set_field(self, "facets", None if self.facets is None else require_names("facets", self.facets))
        set_field(self, "covariates", require_names("covariates", self.covariates))
        set_field(self, "interactions", require_pairs(self.interactions))
        if self.priors is not None and not isinstance(self.priors, Priors):
            raise ValueError(f"priors is a {type(self.priors).__name__}; wanted irt.Priors() or None")
        require_known(self.model, self.method, self.backend)
        self._require_item_effects()
        require_probability("interval", self.interval)
        for name, least in (("seed", 0), ("warmup", 0), ("draws", LEAST_DRAWS), ("chains", 1)):
            require_whole(name, getattr(self, name), least)
        require_probability("target_accept", self.target_accept)

    def _require_item_effects(self) -> None:
        """ValueError for item covariates where the model has no effects of levels on items, which they explain."""
        set_field = object.__setattr__
        set_field(self, "item_covariates", self.item_covariates or None)
        if self.item_covariates is None:
            return
        if not self.can_have_item_effects or self.item_effects is False:
            backend = "" if self.backend is None else f", backend '{self.backend}'"
            effects = ", item_effects=False" if self.item_effects is False else ""
            raise ValueError(
                f"item_covariates: found method '{self.method}', model '{self.model}'{backend}{effects}; wanted "
                "effects of levels on items (method 'nuts', 'map' or 'laplace')"
            )
        set_field(self, "item_effects", True)

    @property
    def can_have_item_effects(self) -> bool:
        """Whether method, model and backend have effects of levels on items."""
        return self.method in EFFECT_METHODS and (self.model in RATINGS or self.backend != "numpyro")

    @property
    def chosen_backend(self) -> str:
        """The backend to fit with."""
        return require_known(self.model, self.method, self.backend)

    def changed(self, **options: Any) -> FitSettings:
        """The same settings with other values of some options; TypeError for an option that does not exist."""
        known = [each.name for each in fields(self)]
        for name in options:
            if name not in known:
                raise TypeError(f"unknown option '{name}' of a fit; wanted one of {', '.join(known)}")
        return replace(self, **options)

    def record(self, always: Collection[str] = ALWAYS_RECORDED) -> dict[str, Any]:
        """What `fit.json` holds of the options: those that it `always` has, and others where they are not the default.

        The choices per item are among the arrays of a fit, as `chance`.
        """
        usual = {each.name: each.default for each in fields(self)}
        said = [name for name in usual if name in always or getattr(self, name) != usual[name]]
        return {name: value for name, value in json_record(self).items() if name in said and name != "options"}


def recorded_settings(record: Mapping[str, Any]) -> FitSettings:
    """The settings in a `fit.json`; an option that it lacks has its default."""
    said = {each.name: record[each.name] for each in fields(FitSettings) if each.name in record}
    priors = said.get("priors")
    return FitSettings(**said | {"priors": None if priors is None else Priors(**priors)})


def require_known(model: str, method: str, backend: str | None) -> str:
    """The backend to fit with, by default the method's first; ValueError for what does not exist or go together."""
    if model not in (*MODELS, "auto", *RATINGS):
        of_ratings = ", ".join(RATINGS)
        raise ValueError(f"unknown model '{model}'; wanted {', '.join(MODELS)} or auto (of ratings: {of_ratings})")
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; wanted {', '.join(METHODS[:-1])} or {METHODS[-1]}")
    backends = RATING_BACKENDS if model in RATINGS else BACKENDS
    if method not in backends:
        *others, last = backends
        raise ValueError(f"model '{model}' has no method '{method}'; wanted {', '.join(others)} or {last}")
    backend = backends[method][0] if backend is None else backend
    if backend not in backends[method]:
        wanted = " or ".join(backends[method])
        raise ValueError(f"model '{model}' by '{method}' has no backend '{backend}'; wanted {wanted}")
    return backend
