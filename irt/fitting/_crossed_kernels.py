"""The loops over answers of the Gibbs sampler with effects of levels on items, compiled by numba.

Arrays: `I` items, `S` students, `J` levels of the facets that have effects on items, `p` free effects of abilities.
`answers` are (right, trials), each `[I, S]`, 0 where not asked; `bounds` (c, delta), each `[I]`: the lower asymptote
and the place of the upper one between it and 1; `x` `[I, S]` the logits. What is drawn is changed in place.

Discriminations have no fixed mean during a sweep: what is reported is their ratio to their geometric mean, and
abilities and difficulties times it, and the priors are those of the reported quantities. So one item's discrimination
is drawn without moving the others (parameter expansion; Liu & Wu 1999). `shape` holds what that prior depends on: the
mean of the log discriminations, their squares about it, their spread, and of the scales that carry the abilities' unit
the squares over the widths of their priors and their number. `place` is (mean, spread) of the difficulties.
"""

from __future__ import annotations

import math

import numpy as np

from irt.fitting._numba_functions import compiled, summing
from irt.fitting._polya_gamma import polya_gamma
from irt.fitting._sampling_steps import factorise, normal, normal_drawn, scale_drawn, slice_move, solve_lower

LEAP, STEP = 0.2, 1.0
"""First widths of the slices: of the factor of a group of logits, of log discriminations and their spread."""
VECTORS = 32
"""Answers that vector instructions take at a time; rows are filled up with ones that were not asked."""
TINY = 1e-300
"""Least probability whose logarithm is taken."""
ROW = 512
"""Factors up to 2 that are multiplied before a logarithm is taken."""


@compiled
def log_likelihood(answers, bounds, x):  # type: ignore[no-untyped-def]
    """Of all answers."""
    total = 0.0
    for i in range(len(x)):
        total += _of_item(answers, bounds, i, x[i], 0.0, x[i])
    return total


@compiled
def move_groups(rng, answers, bounds, x, parts, prior, follows):  # type: ignore[no-untyped-def]
    """A factor of each of the groups of logits `parts` `[G, I, S]` in turn, with the scales that govern it: `prior`
    `[G, 2]` are the squares of these over the widths of their priors, and how many there are. The parts `follows`
    `[G, G]` take the factor, too. Returns the factors `[G]`.
    """
    factors = np.ones(len(parts))
    for group in range(len(parts)):
        move = slice_move(rng, _group_height, (answers, bounds, x, parts[group], prior[group]), LEAP)
        x += math.expm1(move) * parts[group]
        factors[group] = math.exp(move)
        for other in range(group + 1, len(parts)):
            if follows[group, other]:
                parts[other] *= factors[group]
                prior[other, 0] *= factors[group] ** 2
    return factors


@compiled
def _group_height(move, given):  # type: ignore[no-untyped-def]
    answers, bounds, x, part, prior = given
    height = prior[1] * move - 0.5 * math.exp(2 * move) * prior[0]
    for i in range(len(x)):
        height += _of_item(answers, bounds, i, x[i], math.expm1(move), part[i])
    return height


@compiled
def move_spread(rng, answers, bounds, logits, items, width, under):  # type: ignore[no-untyped-def]
    """The log discriminations with their spread by one factor, which is returned. `items` are (log_a, b), `width` the
    spread over that of its prior. `under` are (sums `[I, p]`, weight `[p]`, place): with them `a b` and what the levels
    bring are held as in `move_slopes_under`, without (p = 0) all else.
    """
    x, part = logits
    log_a, b = items
    move = slice_move(rng, _spread_height, (answers, bounds, x, part, log_a, b, width, under), STEP)
    for i in range(len(x)):
        own = log_a[i] * math.expm1(move)
        x[i] += math.expm1(own) * part[i]
        log_a[i] += own
        if len(under[1]) > 0:
            b[i] *= math.exp(-own)
    return math.exp(move)


@compiled
def _spread_height(move, given):  # type: ignore[no-untyped-def]
    answers, bounds, x, part, log_a, b, width, under = given
    sums, weight, place = under
    height, square, linear = move - 0.5 * math.exp(2 * move) * width**2, 0.0, np.zeros(len(weight))
    for i in range(len(x)):
        own = log_a[i] * math.expm1(move)
        height += _of_item(answers, bounds, i, x[i], math.expm1(own), part[i])
        if len(weight) > 0:
            a = math.exp(log_a[i] + own)
            square += a**2
            for k in range(len(weight)):
                linear[k] += a * sums[i, k]
            height -= 0.5 * ((b[i] * math.exp(-own) - place[0]) / place[1]) ** 2 + own
    return height + _evidence(square, linear, weight)


@compiled
def _evidence(square, linear, weight):  # type: ignore[no-untyped-def]
    """Log density of what the levels bring, components integrated out, given the sum of the squared discriminations and
    their sums with what the levels bring `[p]`.
    """
    total = 0.0
    for k in range(len(weight)):
        precision = 1 + weight[k] * square
        total += 0.5 * weight[k] * linear[k] ** 2 / precision - 0.5 * math.log(precision)
    return total


@compiled
def draw_scales(rng, scales, free, squares, widths):  # type: ignore[no-untyped-def]
    """Scales with half-normal priors, each given the sum of squares of the `free` quantities it governs."""
    for index in range(len(scales)):
        scales[index] = scale_drawn(rng, scales[index], free[index], squares[index], widths[index])


@compiled
def _sigmoid(x):  # type: ignore[no-untyped-def]
    small = math.exp(-abs(x))
    return (1.0 if x >= 0 else small) / (1 + small)


@compiled
def _between_bounds(right, trials, logit, c, delta):  # type: ignore[no-untyped-def]
    """Log-likelihood of a student's answers to an item with asymptotes."""
    p = c + (1 - c) * delta * _sigmoid(logit)
    return right * math.log(max(p, TINY)) + (trials - right) * math.log(max(1 - p, TINY))


@compiled
def _of_item(answers, bounds, i, x, change, part):  # type: ignore[no-untyped-def]
    """Log-likelihood of the answers to item i at the logits `x + change part` `[S]`."""
    return _of_row((answers[0][i], answers[1][i], len(x)), (bounds[0][i], bounds[1][i]), x, change, part)


@compiled
def _of_row(row, bounds, x, change, part):  # type: ignore[no-untyped-def]
    """The same of a `row` (right, trials, number) of answers to one item with asymptotes `bounds`."""
    right, trials, count = row
    c, delta = bounds
    height = 0.0
    if c > 0 or delta < 1:
        for s in range(count):
            if trials[s] > 0:
                height += _between_bounds(right[s], trials[s], x[s] + change * part[s], c, delta)
        return height
    for begin in range(0, count, ROW):
        height += _of_some(right, trials, x, change, part, begin, min(begin + ROW, count))
    return _of_counts(row, x, change, part) if math.isnan(height) else height


@summing
def _of_some(right, trials, x, change, part, begin, end):  # type: ignore[no-untyped-def]
    """The same without asymptotes, in a loop that becomes vector instructions: `exp(-|logit|)`, at least `exp(-40)`, to
    13 digits is a series at a 256th of it, squared eight times. NaN where an answer has several trials.
    """
    height, product, several = 0.0, 1.0, 0.0
    for s in range(begin, end):
        logit = x[s] + change * part[s]
        t = max(-abs(logit), -40.0) * (1 / 256)
        e = 1 / 720 + t * (1 / 5040 + t * (1 / 40320 + t * (1 / 362880 + t * (1 / 3628800))))
        e = 1 + t * (1 + t * (1 / 2 + t * (1 / 6 + t * (1 / 24 + t * (1 / 120 + t * e)))))
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        e *= e
        product *= 1 + trials[s] * e
        several += trials[s] * (trials[s] - 1)
        height += right[s] * min(logit, 0.0) - (trials[s] - right[s]) * max(logit, 0.0)
    return height - math.log(product) if several == 0 else math.nan


@compiled
def _of_counts(row, x, change, part):  # type: ignore[no-untyped-def]
    right, trials, count = row
    height = 0.0
    for s in range(count):
        logit = x[s] + change * part[s]
        height += right[s] * min(logit, 0.0) - (trials[s] - right[s]) * max(logit, 0.0)
        height -= trials[s] * math.log1p(math.exp(-abs(logit)))
    return height


@compiled
def add_chances(bounds, x, total):  # type: ignore[no-untyped-def]
    """Add the probabilities of right answers to `total` `[I, S]`."""
    for i in range(len(x)):
        c, delta = bounds[0][i], bounds[1][i]
        for s in range(x.shape[1]):
            total[i, s] += c + (1 - c) * delta * _sigmoid(x[i, s])


@compiled
def move_effects(rng, answers, bounds, levels, x, effects):  # type: ignore[no-untyped-def]
    """Each effect of a level on an item given everything else. `levels` are (begin, member): the students of level j
    are `member[begin[j]:begin[j + 1]]`; `effects` (g `[I, J]`, their scale `[J]`).
    """
    g, width = effects
    begin, member = levels
    size = x.shape[1] + VECTORS
    right, trials, logits, one = np.zeros(size), np.zeros(size), np.zeros(size), np.ones(size)
    for i in range(len(x)):
        for j in range(len(width)):
            count = begin[j + 1] - begin[j]
            for m in range(count):
                s = member[begin[j] + m]
                right[m], trials[m], logits[m] = answers[0][i, s], answers[1][i, s], x[i, s]
            filled = -(-count // VECTORS) * VECTORS
            right[count:filled] = 0.0
            trials[count:filled] = 0.0
            row = (right, trials, filled)
            given = (row, (bounds[0][i], bounds[1][i]), logits, one, g[i, j], width[j])
            move = slice_move(rng, _effect_height, given, width[j])
            g[i, j] += move
            for m in range(begin[j], begin[j + 1]):
                x[i, member[m]] += move


@compiled
def _effect_height(move, given):  # type: ignore[no-untyped-def]
    row, bounds, logits, one, effect, width = given
    return _of_row(row, bounds, logits, move, one) - 0.5 * ((effect + move) / width) ** 2


@compiled
def move_slopes(rng, answers, bounds, x, part, log_a, shape):  # type: ignore[no-untyped-def]
    """Each log discrimination given everything else; `part` `[I, S]` are the logits that it multiplies."""
    for i in range(len(x)):
        given = (answers, bounds, i, x[i], part[i], log_a[i], len(x), shape)
        move = slice_move(rng, _slope_height, given, STEP)
        x[i] += math.expm1(move) * part[i]
        _move_shape(shape, log_a, i, move)


@compiled
def _slope_height(move, given):  # type: ignore[no-untyped-def]
    answers, bounds, i, x, part, log_a, items, shape = given
    return _of_item(answers, bounds, i, x, math.expm1(move), part) + _slope_prior(move, log_a, items, shape)


@compiled
def _slope_prior(move, log_a, items, shape):  # type: ignore[no-untyped-def]
    """Log prior density of a log discrimination `move` away, with what it does to the abilities' unit."""
    squares = shape[1] + 2 * move * (log_a - shape[0]) + move**2 * (1 - 1 / items)
    mean = shape[0] + move / items
    return shape[4] * mean - 0.5 * squares / shape[2] ** 2 - 0.5 * math.exp(2 * mean) * shape[3]


@compiled
def _move_shape(shape, log_a, i, move):  # type: ignore[no-untyped-def]
    shape[1] += 2 * move * (log_a[i] - shape[0]) + move**2 * (1 - 1 / len(log_a))
    shape[0] += move / len(log_a)
    log_a[i] += move


@compiled
def move_slopes_under(rng, answers, bounds, logits, items, brought, priors):  # type: ignore[no-untyped-def]
    """Each log discrimination, `a b` and what the levels bring to each item held, components integrated out.

    `logits` are (x, part), `items` (log_a, b), `brought` (sums `[I, p]`: what the levels bring, as a regression on the
    discriminations sees it, weight `[p]`), `priors` (shape, place).
    """
    x, part = logits
    log_a, b = items
    sums, weight = brought
    shape, place = priors
    a = np.exp(log_a)
    square, linear = (a**2).sum(), (sums * a.reshape((-1, 1))).sum(axis=0)
    for i in range(len(x)):
        rest = (square - a[i] ** 2, linear - a[i] * sums[i], sums[i], weight)
        given = (answers, bounds, i, x[i], part[i], log_a[i], b[i], len(x), rest, shape, place)
        move = slice_move(rng, _slope_under, given, STEP)
        x[i] += math.expm1(move) * part[i]
        part[i] *= math.exp(move)
        b[i] *= math.exp(-move)
        _move_shape(shape, log_a, i, move)
        square, linear = rest[0] + math.exp(2 * log_a[i]), rest[1] + math.exp(log_a[i]) * sums[i]


@compiled
def _slope_under(move, given):  # type: ignore[no-untyped-def]
    answers, bounds, i, x, part, log_a, b, items, rest, shape, place = given
    square, linear, sums, weight = rest
    a = math.exp(log_a + move)
    height = -0.5 * ((b * math.exp(-move) - place[0]) / place[1]) ** 2 - move
    height += _evidence(square + a**2, linear + a * sums, weight)
    height += _of_item(answers, bounds, i, x, math.expm1(move), part)
    return height + _slope_prior(move, log_a, items, shape)


@compiled
def weigh(rng, answers, bounds, x, weights, seen):  # type: ignore[no-untyped-def]
    """Polya-Gamma `weights` (omega, kappa), each `[I, S]`; with asymptotes, of the answers that were known, and how
    many were guessed and not, kept and slipped, into `seen` `[I, 4]`.
    """
    omega, kappa = weights
    for i in range(len(x)):
        plain = bounds[0][i] == 0 and bounds[1][i] == 1
        for s in range(x.shape[1]):
            trials = answers[1][i, s]
            if trials == 0:
                omega[i, s] = kappa[i, s] = 0.0
                continue
            known = answers[0][i, s]
            if not plain:
                known = _known(rng, (known, trials), (bounds[0][i], bounds[1][i]), x[i, s], seen[i])
            omega[i, s] = polya_gamma(rng, trials, x[i, s])
            kappa[i, s] = known - 0.5 * trials


@compiled
def _known(rng, counts, bounds, x, seen):  # type: ignore[no-untyped-def]
    """How many answers were known: a right one was guessed, or known and not slipped."""
    right, trials = counts
    c, delta = bounds
    up = _sigmoid(x)
    lucky = c / max(c + (1 - c) * delta * up, TINY)
    missed = up * (1 - delta) / max(1 - delta * up, TINY)
    known = 0.0
    for turn in range(int(trials)):
        if turn < right and rng.random() < lucky:
            seen[0] += 1
            known += 1.0 if rng.random() < up else 0.0
        elif turn < right:
            seen[1] += 1
            seen[2] += 1
            known += 1
        else:
            seen[1] += 1
            if rng.random() < missed:
                seen[3] += 1
                known += 1
    return known


@compiled
def take_moments(column, rows, weights, precision, moments):  # type: ignore[no-untyped-def]
    """What normal draws of each item need, given the weights. `rows` `[S, n]` are what is multiplied by something;
    `column` `[F, S]` each student's levels; `precision` `[J]` that of the effects' prior.

    `moments` are (root, linear, left): the root `[I, J, J]` of the effects' precision, their linear terms
    `[I, J, n + 1]` in the rows and in the answers, and what is left of the products of those `[I, n + 1, n + 1]` when
    the effects are integrated out.
    """
    omega, kappa = weights
    students, levels, count = len(rows), len(precision), rows.shape[1]
    each = np.zeros((students, levels + count))
    each[:, levels:] = rows
    for s in range(students):
        for f in range(len(column)):
            each[s, column[f, s]] = 1.0
    weighed = np.empty((students, levels + count + 1))
    for i in range(len(omega)):
        root, linear, left = moments[0][i], moments[1][i], moments[2][i]
        for s in range(students):
            for k in range(levels + count):
                weighed[s, k] = omega[i, s] * each[s, k]
            weighed[s, -1] = kappa[i, s]
        products = np.dot(each.T, weighed)
        root[:], linear[:] = products[:levels, :levels], products[:levels, levels:]
        for j in range(levels):
            root[j, j] += precision[j]
        factorise(root)
        solved = solve_lower(root, linear)
        left[:count] = products[levels:, levels:]
        left[count, :count] = left[:count, count]
        left[count, count] = 0.0
        left -= np.dot(solved.T, solved)


@compiled
def draw_items(rng, items, moments, ability, priors, free_a):  # type: ignore[no-untyped-def]
    """Each discrimination with its difficulty and effects integrated out, then those. `items` are (log_a, b, g);
    `ability` `[p + 2]` multiplies the rows of the moments to abilities, its p-th entry those of the difficulty.
    """
    log_a, b, g = items
    root, linear, left = moments
    shape, place = priors
    at = len(ability) - 2
    whole = np.append(ability, 0.0)
    for i in range(len(b)):
        ahead = left[i] @ whole
        curve = (whole @ ahead, ahead[at], left[i, at, at], ahead[at + 2], left[i, at, at + 2])
        if free_a:
            move = slice_move(rng, _curve_height, (curve, log_a[i], len(b), shape, place), STEP)
            _move_shape(shape, log_a, i, move)
        precision, shift = _difficulty(math.exp(log_a[i]), curve, place)
        b[i] = shift / precision + normal(rng) / math.sqrt(precision)
        whole[at] = -b[i]
        g[i] = normal_drawn(rng, root[i], linear[i, :, at + 2] - math.exp(log_a[i]) * (linear[i] @ whole))
        whole[at] = 0.0


@compiled
def _difficulty(a, curve, place):  # type: ignore[no-untyped-def]
    """Precision of an item's difficulty, effects integrated out, and its product with the mean."""
    _, cross, one, _, by_one = curve
    return a**2 * one + 1 / place[1] ** 2, -a * by_one + a**2 * cross + place[0] / place[1] ** 2


@compiled
def _curve_height(move, given):  # type: ignore[no-untyped-def]
    curve, log_a, items, shape, place = given
    a = math.exp(log_a + move)
    precision, shift = _difficulty(a, curve, place)
    height = a * curve[3] - 0.5 * a**2 * curve[0] + 0.5 * shift**2 / precision - 0.5 * math.log(precision)
    return height + _slope_prior(move, log_a, items, shape)
