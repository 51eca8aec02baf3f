"""Answers drawn from a known truth."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from irt import _graded as graded
from irt._argument_checks import require_whole
from irt._graded import GradedParameters
from irt._model import MODELS, ONE_SLOPE, RATINGS, SHARED_GUESSING, Options, chance_level, guessing_centre
from irt._partial_credit import PartialCreditParameters
from irt._responses import Floats, ResponseMatrix
from irt.kernels import ItemParameters, probability

Facets = Mapping[str, int | Sequence[str]]


@dataclass(frozen=True)
class Truth:
    """What lies behind simulated answers to `I` items by `S` students, on the reported scale.

    `effects` holds `[L]` per facet and, named `llm:icl`, per interaction, its cells in a fit's order. `residual_scale`
    is the root mean square of the students' own `residual_scales` `[S]`. `document` `[I]` says which text an item is
    about and `testlets` `[S, D]` what each student has on top of ability for each text. `miskeyed` `[I]` marks wrong
    keys, `dif` `[I]` is added to the difficulty for the students of `focal` `[S]`. `form` `[S]` and `block` `[I]` tell
    who was asked what by design. `probability` `[S, I]` is that of the recorded score, wrong keys and all.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    theta: Floats
    effects: Mapping[str, Floats]
    residual_scale: float
    residual_scales: Floats = field(default_factory=lambda: np.empty(0))
    document: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    testlets: Floats = field(default_factory=lambda: np.empty((0, 0)))
    miskeyed: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    dif: Floats = field(default_factory=lambda: np.empty(0))
    focal: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    form: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    block: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    probability: Floats = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True)
class Simulation:
    """Simulated answers and the truth they came from."""

    data: ResponseMatrix
    truth: Truth


@dataclass(frozen=True)
class GradedTruth:
    """Parameters behind simulated ratings, on the reported scale; `effects` `[L]` per facet."""

    a: Floats
    thresholds: Floats
    top: NDArray[np.int64]
    theta: Floats
    effects: Mapping[str, Floats]
    residual_scale: float

    @property
    def b(self) -> Floats:
        """Mean threshold of each item `[I]`."""
        return graded.mean_threshold(self.thresholds, self.top)


@dataclass(frozen=True)
class GradedSimulation:
    """Simulated ratings and the truth they came from."""

    data: ResponseMatrix
    truth: GradedTruth


@dataclass(frozen=True)
class SimulationSettings:
    """How answers are drawn; `irt.simulate` takes every field by name.

    Abilities: `effect_sd` of facets' effects, `interactions` of facets with cells of `interaction_sd`, and a residual
    of `residual_sd`, which may name a scale per level of one facet.

    Items: discriminations are log-normal around `mean_a`, their logarithms of `log_a_sd` and correlated with difficulty
    (`b_sd`) by `a_b_correlation`; guessing of 3pl and 4pl is `guessing` for every item, else drawn around 1/`options`
    (one number, a list, or a mapping of items q0, q1, ...), once for all items by 3pl-shared. The items of each of
    `documents` texts share a random effect (`document_sd`) of every student (local dependence). `shared_sd` names
    facets whose levels have a random effect of this size on every item, which all students of the level share: what a
    retriever found for a question, what a model knows (local dependence of students). `miskeyed` random items credit
    one wrong option; `dif_items` others are harder by `dif_size` for the last level of `dif_facet` (the first facet by
    default).

    Answers: `trials` of each cell (one by default). With `forms` of 3 or more, items fall into as many blocks and form
    f asks blocks f and f + 1, so that forms are chained by shared blocks; `missing` is the share of cells left out at
    random on top.
    """

    effect_sd: float = 1.0
    residual_sd: float | Mapping[str, float] = 0.3
    log_a_sd: float = 0.3
    mean_a: float = 1.0
    b_sd: float = 1.0
    a_b_correlation: float = 0.0
    options: Options = 4
    guessing: float | None = None
    trials: int | None = None
    missing: float = 0.0
    forms: int = 1
    interactions: Sequence[Sequence[str]] = ()
    interaction_sd: float = 0.3
    documents: int | None = None
    document_sd: float = 0.5
    shared_sd: Mapping[str, float] | None = None
    miskeyed: int = 0
    dif_items: int = 0
    dif_size: float = 0.6
    dif_facet: str | None = None


@dataclass(frozen=True)
class RatingSimulationSettings:
    """How ratings are drawn: standard deviations of facets' effects, of what they leave, of log discriminations and of
    mean thresholds; the typical discrimination; the share of cells left out at random; and, for facets that it names,
    the size in logits of effects that their levels have on every item (`shared_sd`).

    An item's thresholds are `gap` apart on average, each gap between a half and one and a half times that. `model` is
    `grm`, `gpcm` or `pcm`; with `pcm` all items have the discrimination `mean_a`.
    """

    model: str = "grm"
    effect_sd: float = 1.0
    residual_sd: float = 0.3
    log_a_sd: float = 0.3
    mean_a: float = 1.5
    b_sd: float = 0.7
    gap: float = 0.8
    missing: float = 0.0
    shared_sd: Mapping[str, float] | None = None


def simulate(
    students: int | None = None,
    items: int = 50,
    model: str = "2pl",
    facets: Facets | None = None,
    *,
    seed: int,
    settings: SimulationSettings | None = None,
    **options: Any,
) -> Simulation:
    """Draw a table from the model; the same seed gives the same table.

    With `facets` (levels by name, or their number) students are the full crossing, repeated to reach `students` (a
    multiple; by default once), and ability is zero-sum facet effects and interactions plus a residual, scaled to mean
    0 and standard deviation 1. Without, ability is Normal(0, 1), moved to mean 0 over the students. Options are fields
    of `irt.SimulationSettings`, by name or as `settings`. Raises ValueError for settings that cannot be met.
    """
    how = replace(settings or SimulationSettings(), **options)
    require_whole("seed", seed, 0)
    _require_possible(model, items, how)
    # What was added later draws from a stream of its own, so that older seeds keep their tables.
    rng, extra = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    table = _crossing(facets, students) if facets else None
    count = students if table is None else len(table)
    if count is None:
        raise ValueError("students is None; wanted a number of students, or facets")
    ids = tuple(f"q{index}" for index in range(items))
    names = tuple(f"s{index}" for index in range(count)) if table is None else tuple(table.index)
    chance = chance_level(ResponseMatrix(np.zeros((count, items)), names, ids), how.options)
    theta, effects, residual_scale, own_scales = _abilities(
        rng, extra, table, _residual_scales(how.residual_sd, table, count), how
    )
    parameters = _parameters(rng, model, chance, how)
    document = np.arange(items) * (how.documents or 1) // items
    testlets = (how.document_sd if how.documents else 0.0) * extra.standard_normal((count, how.documents or 1))
    wrong, dif = _planted(extra, items, how)
    shared = _shared(np.random.default_rng([seed, 2]), table, how.shared_sd or {}, (count, items))
    focal = _focal(table, how.dif_facet, count) if how.dif_items else np.zeros(count, dtype=np.bool_)
    a, b, c, d = parameters
    p = probability(theta[:, None] + testlets[:, document] + shared, a, b + np.outer(focal, dif), c, d)
    p = np.where(wrong, (1 - p) * chance / (1 - chance), p)
    form, block = extra.permutation(np.arange(count) % how.forms), np.arange(items) * how.forms // items
    scores = rng.binomial(how.trials or 1, p).astype(np.float64)
    if how.missing:
        scores[rng.random(scores.shape) < how.missing] = np.nan
    if how.forms > 1:
        scores[(block - form[:, None]) % how.forms > 1] = np.nan
    tries = None if how.trials is None else np.full(scores.shape, float(how.trials))
    truth = Truth(
        *parameters,
        theta,
        effects,
        residual_scale,
        own_scales,
        document,
        testlets,
        wrong,
        dif,
        focal,
        form,
        block,
        np.asarray(p),
    )
    return Simulation(ResponseMatrix(scores, names, ids, tries, table), truth)


def simulate_graded(
    students: int | None = None,
    items: int = 20,
    top: int | Sequence[int] = 4,
    facets: Facets | None = None,
    *,
    seed: int,
    settings: RatingSimulationSettings | None = None,
    **options: Any,
) -> GradedSimulation:
    """Draw ratings from 0 to `top` (one number, or one per item); the same seed gives the same table.

    Students, facets and abilities are those of `irt.simulate`; options are fields of `irt.RatingSimulationSettings`,
    by name or as `settings`. Raises ValueError as `irt.simulate`, and for a wrong number of tops or model.
    """
    how = replace(settings or RatingSimulationSettings(), **options)
    highest = np.broadcast_to(np.asarray(top, dtype=np.int64), (items,)) if np.ndim(top) == 0 else np.asarray(top)
    if highest.shape != (items,) or highest.min() < 1:
        raise ValueError(f"top {top} was given; wanted a highest score of at least 1 for each of {items} items")
    if how.model not in RATINGS:
        raise ValueError(f"unknown model '{how.model}'; wanted {', '.join(RATINGS)}")
    people = simulate(students, 2, facets=facets, seed=seed, effect_sd=how.effect_sd, residual_sd=how.residual_sd)
    rng = np.random.default_rng([seed, 1])
    a = how.mean_a * np.exp(how.log_a_sd * (how.model not in ONE_SLOPE) * rng.standard_normal(items))
    steps = how.gap * rng.uniform(0.5, 1.5, (items, int(highest.max())))
    thresholds = np.cumsum(steps, axis=1)
    centre = graded.mean_threshold(thresholds, highest)
    thresholds = graded.padded(thresholds + (how.b_sd * rng.standard_normal(items) - centre)[:, None], highest)
    theta = people.truth.theta
    kind = GradedParameters if how.model == "grm" else PartialCreditParameters
    shared = _shared(np.random.default_rng([seed, 2]), people.data.facets, how.shared_sd or {}, (len(theta), items))
    scores = kind(a, thresholds - (shared / a)[:, :, None], highest).draw(rng, theta, np.ones(shared.shape))
    if how.missing:
        scores[rng.random(scores.shape) < how.missing] = np.nan
    names = tuple(f"q{index}" for index in range(items))
    data = ResponseMatrix(scores, people.data.students, names, None, people.data.facets, top=highest)
    truth = GradedTruth(a, thresholds, highest, theta, people.truth.effects, people.truth.residual_scale)
    return GradedSimulation(data, truth)


def _require_possible(model: str, items: int, how: SimulationSettings) -> None:
    forms, planted, correlation = how.forms, (how.miskeyed, how.dif_items), how.a_b_correlation
    if model not in MODELS:
        raise ValueError(f"unknown model '{model}'; wanted {', '.join(MODELS)}")
    if forms == 2 or not 1 <= forms <= items:
        raise ValueError(f"forms {forms} cannot be chained; wanted 1, or from 3 to the number of items")
    if min(planted) < 0 or sum(planted) > items:
        raise ValueError(f"{planted[0]} mis-keyed and {planted[1]} DIF items do not fit into {items} items")
    if not -1 <= correlation <= 1:
        raise ValueError(f"a_b_correlation {correlation:g} is not between -1 and 1")


def _crossing(facets: Facets, students: int | None) -> pd.DataFrame:
    named = {
        name: [f"{name}{index}" for index in range(value)] if isinstance(value, int) else list(value)
        for name, value in facets.items()
    }
    cells = list(itertools.product(*named.values()))
    copies = 1 if students is None else students // len(cells)
    if copies < 1 or (students is not None and copies * len(cells) != students):
        raise ValueError(f"{students} students do not fill the {len(cells)} combinations of the facets evenly")
    rows = cells * copies
    ids = ["|".join(row) + (f"|{index // len(cells)}" if copies > 1 else "") for index, row in enumerate(rows)]
    return pd.DataFrame(rows, columns=pd.Index(list(named)), index=pd.Index(ids, name="student"), dtype=str)


def _residual_scales(residual_sd: float | Mapping[str, float], table: pd.DataFrame | None, count: int) -> Floats:
    """Each student's own residual scale `[S]`; a mapping names the levels of one facet."""
    if not isinstance(residual_sd, Mapping):
        return np.full(count, float(residual_sd))
    for name in () if table is None else table.columns:
        if set(table[name]) == set(residual_sd):  # type: ignore[index]
            return np.array([residual_sd[level] for level in table[name]], dtype=np.float64)  # type: ignore[index]
    raise ValueError(f"residual_sd names {', '.join(residual_sd)}, which are not the levels of one facet")


def _abilities(
    rng: np.random.Generator,
    extra: np.random.Generator,
    table: pd.DataFrame | None,
    scales: Floats,
    how: SimulationSettings,
) -> tuple[Floats, dict[str, Floats], float, Floats]:
    """Abilities, effects, and the residual scale of all students and of each, as `Truth` has them."""
    if table is None:
        if how.interactions:
            raise ValueError(f"interaction {tuple(how.interactions[0])} needs facets")
        theta = rng.standard_normal(len(scales))
        return theta - theta.mean(), {}, 1.0, np.ones(len(scales))
    theta = scales * rng.standard_normal(len(scales))
    effects: dict[str, Floats] = {}
    for name in table.columns:
        codes, labels = pd.factorize(table[name])
        effect = how.effect_sd * rng.standard_normal(len(labels))
        effects[str(name)] = effect - effect.mean()
        theta = theta + effects[str(name)][codes]
    for names in how.interactions:
        codes, effect = _interaction(extra, table, names, how.interaction_sd)
        effects[":".join(names)] = effect
        theta = theta + effect[codes]
    unit = float(theta.std())
    size = float(np.sqrt(np.mean(scales**2))) / unit
    return (theta - theta.mean()) / unit, {name: e / unit for name, e in effects.items()}, size, scales / unit


def _interaction(
    rng: np.random.Generator, table: pd.DataFrame, names: Sequence[str], sd: float
) -> tuple[NDArray[np.intp], Floats]:
    """Cell of each student and zero-sum effects of the cells, along every facet, in the order of `irt._design`."""
    for name in names:
        if name not in table.columns:
            raise ValueError(f"interaction {tuple(names)} names '{name}', which is not among the facets")
    coded = [pd.factorize(table[name]) for name in names]
    shape = tuple(len(labels) for _, labels in coded)
    cells = sd * rng.standard_normal(shape)
    for axis in range(len(shape)):
        cells = cells - cells.mean(axis=axis, keepdims=True)
    codes = np.ravel_multi_index(tuple(code for code, _ in coded), shape)
    return np.asarray(codes, dtype=np.intp), cells.ravel()


def _parameters(rng: np.random.Generator, model: str, chance: Floats, how: SimulationSettings) -> ItemParameters:
    items, correlation = len(chance), how.a_b_correlation
    steep = rng.standard_normal(items) if model != "1pl" else np.zeros(items)
    a = how.mean_a * np.exp(how.log_a_sd * steep)
    b = how.b_sd * (correlation * steep + np.sqrt(1 - correlation**2) * rng.standard_normal(items))
    centre = guessing_centre(model, chance)
    guesses = rng.beta(20 * centre, 20 * (1 - centre)) + np.zeros(items)
    if how.guessing is not None:
        guesses = np.full(items, how.guessing)
    c = guesses if model in ("3pl", SHARED_GUESSING, "4pl") else np.zeros(items)
    d = c + (1 - c) * rng.beta(19, 1, items) if model == "4pl" else np.ones(items)
    return ItemParameters(a, b, c, d)


def _planted(rng: np.random.Generator, items: int, how: SimulationSettings) -> tuple[NDArray[np.bool_], Floats]:
    """Which items have a wrong key, and what is added to the difficulty of which others, `[I]` each."""
    odd = rng.permutation(items)[: how.miskeyed + how.dif_items]
    wrong, dif = np.zeros(items, dtype=np.bool_), np.zeros(items)
    wrong[odd[: how.miskeyed]] = True
    dif[odd[how.miskeyed :]] = how.dif_size
    return wrong, dif


def _shared(
    rng: np.random.Generator, table: pd.DataFrame | None, sds: Mapping[str, float], shape: tuple[int, int]
) -> Floats:
    """What the levels of facets add on each item, `[S, I]`."""
    total = np.zeros(shape)
    for name, sd in sds.items():
        if table is None or name not in table.columns:
            raise ValueError(f"shared_sd names '{name}', which is not among the facets")
        codes, labels = pd.factorize(table[name])
        total += sd * rng.standard_normal((len(labels), shape[1]))[codes]
    return total


def _focal(table: pd.DataFrame | None, facet: str | None, count: int) -> NDArray[np.bool_]:
    """The students of the last level of the facet."""
    if table is None or (facet is not None and facet not in table.columns):
        raise ValueError(f"DIF needs a facet of the students; {facet or 'none'} was given")
    values = table[facet or table.columns[0]]
    return np.asarray(values == list(dict.fromkeys(values))[-1], dtype=np.bool_).reshape(count)
