"""The cut of claims: leads, what unrelated texts and labels make of them, and what a model is asked for that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from examcore import CachedLanguageModel, Prompt, ReplyStore
from grading.reports import (
    ClaimAsk,
    ClaimCut,
    ClaimOdds,
    Decision,
    cut_of_labels,
    cut_of_unrelated,
    held_out_verdicts,
    weigh_claims,
)
from tests.scripted_model import ScriptedModel

NOON = "The train arrives at noon."
UNRELATED = {
    "q1": ["Iron rusts.", "Bread rises.", "Glass melts."],
    "q2": ["Bees dance.", NOON, "Moss grows."],
    "q3": ["x"],
}
CUT = ClaimCut(1.0, 0.05, 20)


@pytest.mark.parametrize("claims", [19, 40, 200])
def test_the_cut_holds_the_share_of_unrelated_texts_above_it(claims: int) -> None:
    rng = np.random.default_rng(0)
    above = []
    for _ in range(400):
        # Each claim has a level of its own, and texts differ; none of them states any claim.
        drawn = rng.normal(size=(claims + 1, 1)) * 3 + rng.standard_t(4, size=(claims + 1, 4))
        odds = [ClaimOdds(float(one[0]), tuple(one[1:])) for one in drawn]
        above.append(cut_of_unrelated(odds[:-1]).states(odds[-1]))
    assert np.mean(above) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_few_claims_hold_a_larger_share_and_say_so() -> None:
    cut = cut_of_unrelated([ClaimOdds(9.0, (0.0, float(one))) for one in range(4)])
    assert (cut.odds, cut.share, cut.claims, cut.weight) == (3.0, 0.2, 4, 0.0)
    assert cut.lines() == [
        "Stated is what has log-odds above 3.00 nats: at most 20% of 4 claims have more beside a text of another "
        "question."
    ]


def test_labels_take_off_how_readily_a_model_says_yes_to_a_claim() -> None:
    rng = np.random.default_rng(0)
    readiness, gain, noise = rng.normal(0, 2, 400), rng.integers(0, 2, 400), rng.normal(0, 0.5, 400)
    odds = [ClaimOdds(r + 2 * g + e, (r, r)) for r, g, e in zip(readiness, gain, noise, strict=True)]
    cut = cut_of_labels(odds, gain == 1, CUT)
    # The true rule: log-odds less once the readiness, above half of what a statement adds.
    assert cut.weight == pytest.approx(1, abs=0.1)
    assert cut.odds == pytest.approx(1, abs=0.15)
    assert cut.labels == 400
    assert "400 labels given by hand" in cut.lines()[0]
    held_out = held_out_verdicts(odds, gain == 1, [str(place % 40) for place in range(400)], CUT)
    assert np.mean(np.array(held_out) == (gain == 1)) > 0.95


@pytest.mark.parametrize(
    ("beside", "stated"),
    [
        ([-1.0, 0.0, 3.0, 4.0], [False, False, True, True]),  # few labels
        ([float(one) for one in range(12)], [one < 6 for one in range(12)]),  # labels that contradict the odds
        ([], []),
    ],
)
def test_labels_that_tell_nothing_leave_the_cut(beside: Sequence[float], stated: Sequence[bool]) -> None:
    assert cut_of_labels([ClaimOdds(one, (0.0, 0.0)) for one in beside], np.array(stated, dtype=bool), CUT) == CUT


def test_a_label_says_nothing_on_its_own_question() -> None:
    # Odds of question b lie beyond the cut of the others' labels, whatever its own labels say.
    odds = [ClaimOdds(one, (0.0, 0.0)) for one in (0.0, 0.2, 0.4, 0.6, 0.8, 4.0, 4.2, 4.4, 4.6, 4.8, 3.6, 3.8)]
    stated = np.array([False] * 5 + [True] * 5 + [False] * 2)
    topics = ["a"] * 10 + ["b"] * 2
    assert held_out_verdicts(odds, stated, topics, CUT)[10:] == [True, True]
    # Without any other question there is nothing to set a cut by but the unrelated texts.
    assert held_out_verdicts(odds[:10], stated[:10], topics[:10], CUT) == [one.beside > 1.0 for one in odds[:10]]


def test_a_model_reads_each_claim_beside_its_texts_and_once_beside_unrelated_ones() -> None:
    asks = [
        ClaimAsk("q1", "When? At noon.", NOON),
        ClaimAsk("q2", "When? By night.", NOON),
        ClaimAsk("q1", "When? At noon.", "Nobody knows."),
        ClaimAsk("q3", "Why?", "Nobody knows."),
    ]

    def odds(prompt: Prompt, word: str) -> float:
        text, claim = prompt.user.split("Sentence:")
        likely = 2.0 + 3.0 * ("at noon" in text and "At noon" in claim)
        return likely if word == " Yes" else 0.0

    model = CachedLanguageModel(ScriptedModel(str, odds), ReplyStore(":memory:"))
    found = dict(weigh_claims(asks, UNRELATED, model))
    assert found == {
        asks[0]: ClaimOdds(5.0, (2.0, 2.0, 2.0)),
        asks[2]: ClaimOdds(2.0, (2.0, 2.0, 2.0)),
        asks[1]: ClaimOdds(2.0, (2.0, 2.0, 2.0)),
        asks[3]: Decision(None, "1 texts of other questions; wanted 2 to hold it against"),
    }
    assert (model.steps["claims"].calls, model.steps["unrelated"].calls) == (3, 6)
