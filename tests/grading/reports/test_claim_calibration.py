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


def test_a_lead_is_over_the_mean_of_unrelated_texts() -> None:
    odds = ClaimOdds(3.0, (1.0, 2.0, 0.0))
    assert odds.lead == 2.0
    assert odds.unrelated_leads == [0.0, 1.5, -1.5]
    # What a claim makes likelier whatever the text says is taken off.
    assert ClaimOdds(7.0, (5.0, 6.0, 4.0)).lead == odds.lead


@pytest.mark.parametrize("claims", [19, 40, 200])
def test_the_cut_holds_the_share_of_unrelated_texts_above_it(claims: int) -> None:
    rng = np.random.default_rng(0)
    above = []
    for _ in range(400):
        # Each claim has a level of its own, and texts differ; none of them states any claim.
        drawn = rng.normal(size=(claims + 1, 1)) * 3 + rng.standard_t(4, size=(claims + 1, 4))
        odds = [ClaimOdds(float(one[0]), tuple(one[1:])) for one in drawn]
        above.append(odds[-1].lead > cut_of_unrelated(odds[:-1]).lead)
    assert np.mean(above) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_few_claims_hold_a_larger_share_and_say_so() -> None:
    odds = [ClaimOdds(0.0, (0.0, float(one))) for one in range(4)]
    cut = cut_of_unrelated(odds)
    assert (cut.lead, cut.share, cut.claims) == (3.0, 0.2, 4)
    assert cut.lines() == [
        "Stated is what leads by more than 3.00 nats over texts of other questions: at most 20% of 4 claims lead by "
        "more beside an unrelated text."
    ]


def test_labels_move_the_cut_between_the_leads_of_both_kinds() -> None:
    leads = np.array([-1.0, -0.5, 0.0, 0.5, 1.5, 4.0, 4.5, 5.0, 5.5, 6.0])
    stated = leads > 2
    cut = cut_of_labels(leads, stated, CUT)
    assert 1.5 < cut.lead < 4.0
    assert cut.labels == 10
    assert "10 labels given by hand" in cut.lines()[0]


@pytest.mark.parametrize(
    ("leads", "stated"),
    [
        ([-1.0, 0.0, 3.0, 4.0], [False, False, True, True]),  # few labels
        ([float(one) for one in range(12)], [one < 6 for one in range(12)]),  # labels that contradict the leads
        ([], []),
    ],
)
def test_labels_that_tell_nothing_leave_the_cut(leads: Sequence[float], stated: Sequence[bool]) -> None:
    assert cut_of_labels(np.array(leads), np.array(stated, dtype=bool), CUT) == CUT


def test_a_label_says_nothing_on_its_own_question() -> None:
    # Leads of question b lie beyond the cut of the others' labels, whatever its own labels say.
    leads = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 4.0, 4.2, 4.4, 4.6, 4.8, 3.6, 3.8])
    stated = np.array([False] * 5 + [True] * 5 + [False] * 2)
    topics = ["a"] * 10 + ["b"] * 2
    assert held_out_verdicts(leads, stated, topics, CUT)[10:] == [True, True]
    # Without any other question there is nothing to set a cut by but the unrelated texts.
    assert held_out_verdicts(leads[:10], stated[:10], topics[:10], CUT) == (leads[:10] > 1.0).tolist()


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
