"""From questions to an exam: order of choices, selection by strata, and questions set aside as examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from exam_gen.corpora._selection import in_turn, lot
from examcore import Question


class Split(NamedTuple):
    """The questions to be asked, and those set aside to be shown as solved examples."""

    exam: tuple[Question, ...]
    pool: tuple[Question, ...]


def shuffle_choices(question: Question, seed: int, *, position: int | None = None) -> Question:
    """The question with its choices in an order drawn from the seed and its id; the key ends at `position` if given.

    `metadata["shuffle"]` stores the seed and `order`, the earlier index of each choice.
    """
    size = len(question.choices)
    if position is not None and not 0 <= position < size:
        raise ValueError(f"question {question.id!r}: position is {position}; wanted 0 to {size - 1}")
    order = [int(index) for index in _rng(seed, question.id).permutation(size)]
    if position is not None:
        order.remove(question.key)
        order.insert(position, question.key)
    return replace(
        question,
        choices=tuple(question.choices[index] for index in order),
        key=order.index(question.key),
        metadata={**question.metadata, "shuffle": {"seed": seed, "order": order}},
    )


def shuffle_exam(questions: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """Shuffle every question's choices so that the key stands at each position equally often (counts differ by 1).

    Which questions get which position is drawn from the seed. Questions of unequal numbers of choices are balanced
    among those of the same number.
    """
    positions: dict[int, Iterator[int]] = {}
    for size, count in Counter(len(question.choices) for question in questions).items():
        rng = _rng(seed, f"positions {size}")
        rounds = [rng.permutation(size) for _ in range(-(-count // size))]
        # Dealt in rounds, so that any stretch of the exam is nearly balanced too, then drawn within the last round.
        positions[size] = iter(np.concatenate(rounds).tolist())
    return tuple(shuffle_choices(q, seed, position=next(positions[len(q.choices)])) for q in questions)


def split_pool(questions: Sequence[Question], pool_size: int, seed: int) -> Split:
    """Set `pool_size` questions aside, drawn by the seed, preferring those that share no chunk or document.

    A solved example of the same passage would help with a question; so it is taken from elsewhere where possible.
    Both parts keep the given order.
    """
    if not 0 <= pool_size < max(len(questions), 1):
        raise ValueError(
            f"pool_size: found {pool_size}; wanted 0 to {max(len(questions) - 1, 0)}, fewer than questions"
        )
    chunks = Counter(question.chunk_id or question.id for question in questions)
    documents = Counter(question.document_id or question.id for question in questions)

    def rank(question: Question) -> tuple[int, int, int]:
        shared = chunks[question.chunk_id or question.id], documents[question.document_id or question.id]
        return (*shared, lot(seed, question.id))

    chosen = {question.id for question in sorted(questions, key=rank)[:pool_size]}
    return Split(
        exam=tuple(question for question in questions if question.id not in chosen),
        pool=tuple(question for question in questions if question.id in chosen),
    )


class Stratum(NamedTuple):
    """A part of an exam: its name by each attribute, questions there are, its share of the size, questions taken."""

    name: tuple[str, ...]
    available: int
    wanted: int
    taken: int


class Assembled(NamedTuple):
    """The chosen questions, in the given order, and what each stratum gave."""

    questions: tuple[Question, ...]
    strata: tuple[Stratum, ...]


def attribute(name: str) -> Callable[[Question], str]:
    """What questions are stratified by: `topic`, `document`, or a kind of label (`bloom`, `form` …).

    Of several labels the last counts (of Bloom's levels the most demanding); without one it is empty.
    """
    if name in ("topic", "document"):
        return attrgetter("topic" if name == "topic" else "document_id")
    return lambda question: next(iter(tuple(question.labels.get(name, ()))[-1:]), "")


def assemble(
    questions: Sequence[Question],
    size: int,
    seed: int,
    *,
    by: Sequence[Callable[[Question], str]] = (attribute("topic"),),
    equal: bool = False,
) -> Assembled:
    """`size` questions with every stratum in its share, and documents taken in turn.

    The first attribute of `by` is divided first, then the next inside each of its values, and so on. Shares are in
    proportion to the questions there are or, with `equal`, alike; they are rounded by largest remainder, every stratum
    gets one question if there is room for all, and what a stratum lacks the others fill. The lots depend on `seed` and
    ids alone. Raises `ValueError` when there are fewer questions than wanted.
    """
    if not 0 < size <= len(questions):
        raise ValueError(f"size: found {size}; wanted 1 to {len(questions)}, the number of questions")
    drawn = sorted(questions, key=lambda question: lot(seed, question.id))
    parts = list(_divided(drawn, size, size, tuple(by), equal, seed, ()))
    chosen = {question.id for part, _ in parts for question in part}
    return Assembled(
        tuple(question for question in questions if question.id in chosen), tuple(stratum for _, stratum in parts)
    )


def _divided(
    members: Sequence[Question],
    size: int,
    wanted: int,
    by: tuple[Callable[[Question], str], ...],
    equal: bool,
    seed: int,
    name: tuple[str, ...],
) -> Iterator[tuple[list[Question], Stratum]]:
    if not by:
        yield in_turn(members)[:size], Stratum(name, len(members), wanted, size)
        return
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in members:
        groups[by[0](question)].append(question)
    rooms = {value: len(group) for value, group in groups.items()}
    weights = dict.fromkeys(rooms, 1) if equal else rooms
    quotas = _quotas(weights, size, seed, rooms)
    shares = _quotas(weights, wanted, seed, dict.fromkeys(rooms, wanted))
    for value in sorted(groups):
        yield from _divided(groups[value], quotas[value], shares[value], by[1:], equal, seed, (*name, value))


def _quotas(weights: Mapping[str, int], size: int, seed: int, rooms: Mapping[str, int]) -> dict[str, int]:
    """Whole numbers that add up to `size`, in proportion to `weights` by largest remainder, none above its room."""
    least = 1 if size >= len(weights) else 0
    total = sum(weights.values())
    quotas = {name: min(rooms[name], max(least, size * weight // total)) for name, weight in weights.items()}

    def want(name: str) -> tuple[float, int]:
        return size * weights[name] / total - quotas[name], lot(seed, name)

    while sum(quotas.values()) < size:
        quotas[max((name for name in quotas if quotas[name] < rooms[name]), key=want)] += 1
    while sum(quotas.values()) > size:
        quotas[min((name for name in quotas if quotas[name] > least), key=want)] -= 1
    return quotas


def _rng(seed: int, name: str) -> np.random.Generator:
    """A generator that depends on the seed and the name alone, not on what was drawn before."""
    return np.random.default_rng(lot(seed, name) >> 128)
