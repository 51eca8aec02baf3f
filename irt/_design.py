"""How ability is built from facets: zero-sum blocks, a residual, and whether the table can tell them apart."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from irt._item_covariates import ItemCovariates
from irt._responses import Floats, ResponseMatrix, facet_names, levels

SEPARATOR = " x "
WIGGLE = 0.25
"""Mean prior variance of the bends relative to that of the straight line."""
UNSEEN_BENDS = 1e-5
"""Share of the prior variance of smooth effects in the finest bends, which are left out: of many values 15 stay."""


@dataclass(frozen=True)
class Term:
    """One block of ability: a facet, an interaction of facets, or a covariate (`smooth`).

    `levels` are its `L` labels, `level_of` `[S]` says which one each student has. `root` `[L, W]` takes unit-scale
    weights (a column) to effects that sum to zero: the projection onto the zero-sum effects for a facet (doubly
    zero-sum for an interaction), `spline_root` or `line_root` for a covariate. The weights are zero-sum themselves, in
    each direction of `shape`: the levels of each facet, or `(W,)` for a covariate.
    """

    name: str
    facets: tuple[str, ...]
    levels: tuple[str, ...]
    level_of: NDArray[np.int64]
    root: Floats
    shape: tuple[int, ...]
    smooth: bool = False

    @property
    def matrix(self) -> Floats:
        """`[S, W]`: unit-scale weights to their contribution to ability."""
        rows: Floats = self.root[self.level_of]
        return rows

    @property
    def free_root(self) -> Floats:
        """`[L, free]`: independent unit-scale weights to the levels' effects."""
        return np.asarray(self.root @ zero_sum_basis(self.shape).T)

    def weights(self, level: str) -> Floats:
        """Weights `[L]` of the levels whose sum of effects is that of `level`; ValueError for an unknown one.

        A covariate has every number within its range as a level, between the two next to it.
        """
        if self.smooth and level not in self.levels:
            return self._between(level)
        if level not in self.levels:
            raise ValueError(f"unknown level '{level}' of facet '{self.name}'; it has {', '.join(self.levels)}")
        return np.asarray(np.eye(1, len(self.levels), self.levels.index(level))[0])

    def _between(self, level: str) -> Floats:
        values = covariate_values(self)
        order = np.argsort(values)
        low, high = values[order[[0, -1]]]
        try:
            place = float(np.interp(float(level), values[order], np.arange(len(order)), np.nan, np.nan))
        except ValueError:
            place = np.nan
        if np.isnan(place):
            raise ValueError(f"level '{level}' of covariate '{self.name}'; wanted a number from {low:g} to {high:g}")
        weights = np.maximum(1.0 - np.abs(np.arange(len(order)) - place), 0.0)
        return np.asarray(weights[np.argsort(order)])

    @property
    def freedom(self) -> int:
        """Number of independent contrasts."""
        return int(np.linalg.matrix_rank(self.root))


@dataclass(frozen=True)
class Design:
    """The terms of ability and whether a subject residual is left to estimate. Without terms, ability is free.

    The levels of `item_facets` have effects on each item (`irt._model`), which `item_covariates` may explain in part.
    """

    students: int
    terms: tuple[Term, ...]
    residual: bool
    warnings: tuple[str, ...] = ()
    item_facets: tuple[str, ...] = ()
    item_covariates: ItemCovariates | None = None

    @property
    def facets(self) -> tuple[str, ...]:
        """The facets whose levels have effects of their own."""
        return tuple(term.name for term in self.terms if len(term.facets) == 1 and not term.smooth)

    @property
    def shared_facets(self) -> tuple[str, ...]:
        """Those of which some level has two students or more."""
        return tuple(name for name in self.facets if len(self.term(name).levels) < self.students)

    def term(self, name: str) -> Term:
        """The term of this name; ValueError lists those that exist."""
        for term in self.terms:
            if term.name == name:
                return term
        known = ", ".join(f"'{term.name}'" for term in self.terms) or "none"
        raise ValueError(f"unknown facet '{name}'; the fit has {known}")

    def worth(self, name: str, values: Mapping[str, Floats]) -> Floats:
        """What each level of a term adds to ability `[..., L]`, all else at its average; `values` hold `effect.NAME`.

        Of an interaction: what each combination adds as a whole, the effects of its facets included.
        """
        whole = self.term(name)
        if whole.smooth:
            return values[f"effect.{name}"]
        cells = dict(zip(whole.facets, np.unravel_index(np.arange(len(whole.levels)), whole.shape), strict=True))
        total: Floats = np.zeros(1)
        for term in self.terms:
            if set(term.facets) <= set(whole.facets):
                where = np.ravel_multi_index([cells[facet] for facet in term.facets], term.shape)
                total = total + values[f"effect.{term.name}"][..., where]
        return total


def design_of(
    data: ResponseMatrix,
    facets: Sequence[str] | None,
    interactions: Sequence[Sequence[str]] = (),
    covariates: Sequence[str] = (),
    straight: bool = False,
) -> tuple[ResponseMatrix, Design]:
    """The table with the columns a design uses, and the design; `facets=None` takes all columns but the covariates."""
    free = [name for name in facet_names(data) if name not in covariates]
    names = free if facets is None else list(facets)
    data = data.with_facets(list(dict.fromkeys([*names, *covariates])))
    return data, build_design(data, names, interactions, covariates, straight)


def build_design(
    data: ResponseMatrix,
    facets: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    covariates: Sequence[str] = (),
    straight: bool = False,
) -> Design:
    """The checked design of these facets; one ValueError names what cannot be estimated.

    `covariates` are facet columns of numbers whose effect is smooth, or a `straight` line. Refused: a facet with one
    level, two facets that are the same up to names, levels never seen together with the rest (contrasts between
    unconnected components), any other rank deficiency, and a covariate that is not a number or has fewer than three
    values.
    """
    named = [*facets, *covariates]
    if len(set(named)) < len(named):
        raise ValueError(f"facets {named} name a facet twice")
    mains = tuple(_main(data, facet) for facet in facets)
    for term in mains:
        if len(term.levels) < 2:
            raise ValueError(
                f"facet '{term.name}' has one level, '{term.levels[0]}'; at least 2 are wanted (leave it out, "
                "see irt.constant_facets)"
            )
    _require_connected(mains)
    crossed = tuple(_interaction(mains, names) for names in interactions)
    terms = mains + crossed + tuple(_covariate(data, name, straight) for name in covariates)
    _require_rank(terms)
    students = len(data.students)
    used = 1 + sum(term.freedom for term in terms)
    warnings = []
    if terms and used >= students:
        warnings.append(
            f"The facets have as many free effects as there are students ({students}); no subject residual can be "
            "estimated and intervals leave it out."
        )
    return Design(students, terms, not terms or used < students, tuple(warnings))


def connected_students(data: ResponseMatrix, facets: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Students grouped by connected component of the facet graph, the largest first.

    Two levels are joined when a student has both; contrasts exist only within a component. Fit one as
    `part = data.select_students(group)`, then `part.select(part.answered_items)`, for a group may not have been asked
    all items; `irt.constant_facets` names facets of which it has one level.
    """
    if not facets:
        raise ValueError("no facets were given; wanted the names of at least one")
    groups = _components(tuple(_main(data, facet) for facet in facets))
    return tuple(tuple(data.students[index] for index in group) for group in groups)


def _main(data: ResponseMatrix, facet: str) -> Term:
    names = levels(data, facet)
    where = {name: position for position, name in enumerate(names)}
    assert data.facets is not None
    level_of = np.array([where[value] for value in data.facets[facet]], dtype=np.int64)
    return Term(facet, (facet,), names, level_of, np.eye(len(names)) - 1.0 / len(names), (len(names),))


def _covariate(data: ResponseMatrix, name: str, straight: bool) -> Term:
    term = _main(data, name)
    values = covariate_values(term)
    if len(set(values)) < 3:
        raise ValueError(f"covariate '{name}' has {len(set(values))} values; at least 3 are wanted (make it a facet)")
    root = (line_root if straight else spline_root)(values)
    return replace(term, root=root, shape=(root.shape[1],), smooth=True)


def covariate_values(term: Term) -> Floats:
    """The levels of a covariate as numbers `[L]`; ValueError for one that is none."""
    values = []
    for level in term.levels:
        try:
            values.append(float(level))
        except ValueError:
            raise ValueError(f"covariate '{term.name}': '{level}' is not a number") from None
    if not np.isfinite(values).all():
        raise ValueError(f"covariate '{term.name}' has a value that is not finite")
    return np.array(values)


def _interaction(mains: Sequence[Term], names: Sequence[str]) -> Term:
    by_name = {term.name: term for term in mains}
    for name in names:
        if name not in by_name:
            raise ValueError(f"interaction {tuple(names)} names '{name}', which is not among the facets of the fit")
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise ValueError(f"interaction {tuple(names)} needs at least two different facets")
    parts = [by_name[name] for name in names]
    labels = tuple(SEPARATOR.join(cell) for cell in itertools.product(*(part.levels for part in parts)))
    level_of = np.zeros_like(parts[0].level_of)
    root: Floats = np.ones((1, 1))
    for part in parts:
        level_of = level_of * len(part.levels) + part.level_of
        root = np.asarray(np.kron(root, part.root), dtype=np.float64)
    return Term(":".join(names), tuple(names), labels, level_of, root, tuple(len(part.levels) for part in parts))


def _components(terms: Sequence[Term]) -> list[list[int]]:
    """Student indices per connected component, largest first, ties by first student."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    students = len(terms[0].level_of)
    offsets = np.cumsum([students, *(len(term.levels) for term in terms)])
    rows = np.tile(np.arange(students), len(terms))
    columns = np.concatenate([offset + term.level_of for offset, term in zip(offsets, terms, strict=False)])
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(offsets[-1], offsets[-1]))
    _, labels = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for student, label in enumerate(labels[:students]):
        groups.setdefault(int(label), []).append(student)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def _require_connected(terms: Sequence[Term]) -> None:
    if len(terms) < 2:
        return
    _require_no_alias(terms)
    groups = _components(terms)
    if len(groups) == 1:
        return
    inside, outside = (_levels_seen(terms, group) for group in (groups[0], groups[1]))
    raise ValueError(
        f"the facets fall into {len(groups)} unconnected components: no student joins {outside} to {inside}; contrasts "
        "between them cannot be estimated (fit one component, see irt.connected_students)"
    )


def _levels_seen(terms: Sequence[Term], group: Sequence[int]) -> str:
    parts = []
    for term in terms:
        seen = [term.levels[index] for index in dict.fromkeys(term.level_of[list(group)].tolist())]
        shown = ", ".join(f"'{name}'" for name in seen[:3]) + (", ..." if len(seen) > 3 else "")
        parts.append(f"{term.name} {shown}")
    return "; ".join(parts)


def _require_no_alias(terms: Sequence[Term]) -> None:
    for position, first in enumerate(terms):
        for second in terms[position + 1 :]:
            pairs = set(zip(first.level_of.tolist(), second.level_of.tolist(), strict=True))
            for outer, inner in ((first, second), (second, first)):
                if len(pairs) == len(inner.levels):
                    raise ValueError(
                        f"facets '{outer.name}' and '{inner.name}' are confounded: each level of '{inner.name}' is "
                        f"seen with one level of '{outer.name}' only; leave one of them out"
                    )


def _first_gap(term: Term) -> str:
    """The first combination of an interaction's levels that no student has, in words; empty where there is none."""
    cells = np.bincount(term.level_of, minlength=len(term.levels))
    if len(term.facets) < 2 or cells.all():
        return ""
    count = int((cells == 0).sum())
    first = term.levels[int(np.argmin(cells))]
    return f" (no student has '{first}'" + (f", nor {count - 1} further combinations)" if count > 1 else ")")


def _require_rank(terms: Sequence[Term]) -> None:
    if not terms:
        return
    so_far = np.ones((len(terms[0].level_of), 1))
    rank = 1
    for term in terms:
        so_far = np.hstack([so_far, term.matrix])
        rank += term.freedom
        if np.linalg.matrix_rank(so_far) < rank:
            kind = "covariate" if term.smooth else "interaction" if len(term.facets) > 1 else "facet"
            raise ValueError(
                f"{kind} '{term.name}' cannot be estimated: its effects are confounded with those of the facets before "
                f"it{_first_gap(term)}; leave it out"
            )


def line_root(values: Floats) -> Floats:
    """`[L, 2]`: zero-sum unit weights to effects that are a straight line, of mean variance 1 over the `L` values."""
    centred = values - values.mean()
    return np.outer(centred / np.sqrt(np.mean(centred**2)), zero_sum_basis((2,))[0])


def spline_root(values: Floats) -> Floats:
    """`[L, W]`: zero-sum unit weights to effects of `L` different values, smooth and summing to zero.

    The effects are a straight line plus an integrated Wiener process, the prior behind the cubic smoothing spline
    (Wahba 1978), over the values' range. The line's mean variance over the values is 1, that of the bends `WIGGLE`.
    Of the roots of their covariance this is the one whose zero-sum coordinates act at right angles to each other;
    bends too fine to matter (`UNSEEN_BENDS`) are left out, so that many values take few weights.
    """
    values = np.asarray(values, dtype=np.float64)
    x = (values - values.min()) / np.ptp(values)
    low, high = np.minimum(x[:, None], x), np.maximum(x[:, None], x)
    line, bends = _unit(np.outer(x, x)), _unit(low**2 * (3 * high - low) / 6)
    basis = zero_sum_basis((len(x),))
    size, vectors = np.linalg.eigh(basis @ (line + WIGGLE * bends) @ basis.T)
    seen = np.cumsum(np.maximum(size, 0.0)) > UNSEEN_BENDS * size.sum()
    root: Floats = basis.T @ (vectors[:, seen] * np.sqrt(size[seen])) @ zero_sum_basis((int(seen.sum()) + 1,))
    return root


def zero_sum_basis(shape: tuple[int, ...]) -> Floats:
    """Orthonormal rows `[free, levels]`: numpyro's coordinates of a zero-sum array, flattened."""
    basis = np.ones((1, 1))
    for size in shape:
        share = 1 / (size + np.sqrt(size))
        rows = np.hstack([np.eye(size - 1) - share, np.full((size - 1, 1), -1 / np.sqrt(size))])
        basis = np.kron(basis, rows)
    return basis


def _unit(covariance: Floats) -> Floats:
    """The covariance of the same effects after they were moved to sum to zero, scaled to mean variance 1."""
    centre = np.eye(len(covariance)) - 1.0 / len(covariance)
    centred = centre @ covariance @ centre
    scaled: Floats = centred / np.trace(centred) * len(covariance)
    return scaled
