"""Answers of 1,000 students to sections 6 and 7 of the Law School Admission Test (Bock & Lieberman 1970)."""

from __future__ import annotations

import numpy as np

import irt
from irt.kernels import ItemParameters

# How often the patterns 00000, 00001, ..., 11111 occur.
SECTION_6 = "3 6 2 11 1 1 3 4 1 8 0 16 0 3 2 15 10 29 14 81 3 28 15 80 16 56 21 173 11 61 28 298"
SECTION_7 = "12 19 1 7 3 19 3 17 10 5 3 7 7 23 8 28 7 39 11 34 14 51 15 90 6 25 7 35 18 136 32 308"
LSAT7_2PL = ItemParameters(
    np.array([0.98754944, 1.08083761, 1.70746198, 0.76499169, 0.73567389]),
    np.array([-1.87925533, -0.74754028, -1.05723991, -0.63530084, -2.52076107]),
    np.zeros(5),
    np.ones(5),
)
"""Estimates of the 2PL by mirt 1.47 for section 7."""


def lsat6() -> irt.ResponseMatrix:
    """Section 6, 1000 x 5."""
    return _answers(SECTION_6)


def lsat7() -> irt.ResponseMatrix:
    """Section 7, 1000 x 5."""
    return _answers(SECTION_7)


def _answers(counts: str) -> irt.ResponseMatrix:
    patterns = (np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1
    scores = np.repeat(patterns, [int(count) for count in counts.split()], axis=0).astype(float)
    return irt.ResponseMatrix(scores, tuple(f"s{row}" for row in range(len(scores))), tuple(f"q{n}" for n in range(5)))
