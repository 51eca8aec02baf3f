"""A question in the making: a stem for a fact, and what came with it."""

from __future__ import annotations

from typing import NamedTuple

from exam_gen.drafting._facts import Fact
from exam_gen.drafting._round_trip import RoundTrip
from exam_gen.drafting._verification import VerificationResult
from exam_gen.drafting._wordings import Wordings


class Draft(NamedTuple):
    """A stem for a fact, the text it came from, its prompt version, and what is known of it.

    `wrong`: wrong answers to weigh. `queries`: wordings that came with it; a draft without any gets the model's.
    `back`: the verifier's own answer to the stem. `verdict`: what it found of the key, then of the choices. `wordings`:
    the queries that hold.
    """

    fact: Fact
    stem: str
    raw: str
    version: str
    wrong: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    back: RoundTrip | None = None
    verdict: VerificationResult = VerificationResult(None)
    wordings: Wordings = Wordings()
