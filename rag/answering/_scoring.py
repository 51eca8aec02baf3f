"""From log-likelihoods of the choices to the chosen one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ChoiceEvidence:
    """Log-likelihoods of the choices `texts`: their sums, lengths in tokens, and the sums after a prompt without a
    question (empty when not computed).
    """

    texts: tuple[str, ...]
    sums: tuple[float, ...]
    tokens: tuple[int, ...]
    unconditional: tuple[float, ...] = ()


def _per_token(evidence: ChoiceEvidence) -> list[float]:
    return [total / count for total, count in zip(evidence.sums, evidence.tokens, strict=True)]


def _per_character(evidence: ChoiceEvidence) -> list[float]:
    return [total / max(len(text), 1) for total, text in zip(evidence.sums, evidence.texts, strict=True)]


def _per_byte(evidence: ChoiceEvidence) -> list[float]:
    return [total / max(len(text.encode()), 1) for total, text in zip(evidence.sums, evidence.texts, strict=True)]


def _pmi(evidence: ChoiceEvidence) -> list[float]:
    """Pointwise mutual information with the question, the domain-conditional form of Holtzman et al. (2021)."""
    if not evidence.unconditional:
        raise ValueError("normalization pmi: no unconditional log-likelihoods; wanted one per choice")
    return [total - alone for total, alone in zip(evidence.sums, evidence.unconditional, strict=True)]


NORMALIZATIONS: Mapping[str, Callable[[ChoiceEvidence], list[float]]] = {
    "sum": lambda evidence: list(evidence.sums),
    "token": _per_token,
    "character": _per_character,
    "byte": _per_byte,
    "pmi": _pmi,
}


def normalized_scores(evidence: ChoiceEvidence, normalization: str) -> list[float]:
    """The score of each choice, larger is better, under `sum`, `token`, `character`, `byte` or `pmi`.

    Raises ValueError for an unknown normalization, no choices, or a log-likelihood that is NaN.
    """
    if normalization not in NORMALIZATIONS:
        raise ValueError(f"normalization {normalization!r}: unknown; wanted one of {', '.join(NORMALIZATIONS)}")
    if not evidence.sums:
        raise ValueError("scoring: no choices; wanted at least one")
    if any(math.isnan(value) for value in (*evidence.sums, *evidence.unconditional)):
        raise ValueError("scoring: a log-likelihood is NaN; wanted numbers")
    return NORMALIZATIONS[normalization](evidence)


def choose_answer(evidence: ChoiceEvidence, normalization: str) -> int:
    """The index of the best choice.

    Of choices with exactly the same score the one with the higher sum wins, then the first: choices stand in shuffled
    order, so that the first is no likelier to be right than another.
    """
    ranked: Sequence[float] = normalized_scores(evidence, normalization)
    return max(range(len(ranked)), key=lambda index: (ranked[index], evidence.sums[index], -index))
