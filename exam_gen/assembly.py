"""From questions to an exam: order of choices, selection by strata, and questions set aside as examples."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from exam_gen.records import Question


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


def shuffle_exam(questions: Sequence[Question], seed: int, *, balanced: bool = True) -> tuple[Question, ...]:
    """Shuffle every question's choices; balanced, the key stands at each position equally often (counts differ by 1).

    Which questions get which position is drawn from the seed. Questions of unequal numbers of choices are balanced
    among those of the same number.
    """
    if not balanced:
        return tuple(shuffle_choices(question, seed) for question in questions)
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

    def rank(question: Question) -> tuple[int, int, bytes]:
        shared = chunks[question.chunk_id or question.id], documents[question.document_id or question.id]
        return (*shared, _lot(seed, question.id))

    chosen = {question.id for question in sorted(questions, key=rank)[:pool_size]}
    return Split(
        exam=tuple(question for question in questions if question.id not in chosen),
        pool=tuple(question for question in questions if question.id in chosen),
    )


def assemble(
    questions: Sequence[Question],
    size: int,
    seed: int,
    *,
    stratum: Callable[[Question], str] = lambda question: question.topic,
) -> tuple[Question, ...]:
    """`size` questions with every stratum (topic) in its share and documents taken in turn, in the given order.

    Shares are rounded by largest remainder, and every stratum gets one question if there is room for all. Raises
    `ValueError` when there are fewer questions than wanted.
    """
    if not 0 < size <= len(questions):
        raise ValueError(f"size: found {size}; wanted 1 to {len(questions)}, the number of questions")
    strata: dict[str, list[Question]] = defaultdict(list)
    for question in sorted(questions, key=lambda question: _lot(seed, question.id)):
        strata[stratum(question)].append(question)
    quotas = _quotas({name: len(members) for name, members in strata.items()}, size, seed)
    chosen = {question.id for name, quota in quotas.items() for question in _in_turn(strata[name])[:quota]}
    return tuple(question for question in questions if question.id in chosen)


def _quotas(sizes: Mapping[str, int], size: int, seed: int) -> dict[str, int]:
    """Whole numbers that add up to `size`, in proportion to `sizes`, none above its own."""
    total = sum(sizes.values())
    least = 1 if size >= len(sizes) else 0
    quotas = {name: max(least, size * count // total) for name, count in sizes.items()}

    def want(name: str) -> tuple[float, bytes]:
        return size * sizes[name] / total - quotas[name], _lot(seed, name)

    while sum(quotas.values()) < size:
        quotas[max((name for name in quotas if quotas[name] < sizes[name]), key=want)] += 1
    while sum(quotas.values()) > size:
        quotas[min((name for name in quotas if quotas[name] > least), key=want)] -= 1
    return quotas


def _in_turn(questions: Sequence[Question]) -> list[Question]:
    """One question of each document, then a second of each that has one, and so on."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, Question]] = []
    for number, question in enumerate(questions):
        turns.append((seen[question.document_id], number, question))
        seen[question.document_id] += 1
    return [question for _, _, question in sorted(turns, key=lambda turn: turn[:2])]


def _lot(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()


def _rng(seed: int, name: str) -> np.random.Generator:
    """A generator that depends on the seed and the name alone, not on what was drawn before."""
    return np.random.default_rng(int.from_bytes(_lot(seed, name)[:16], "big"))
