"""Reports with citations, judged sentence by sentence (ARGUE), and the claims of free-text answers."""

from grading.reports._claim_calibration import (
    FEWEST_UNRELATED,
    UNRELATED,
    ClaimCut,
    ClaimOdds,
    cut_of_labels,
    cut_of_unrelated,
    held_out_verdicts,
)
from grading.reports._claims import (
    ENTAILMENT,
    CitedClaim,
    ClaimAsk,
    cited_claims,
    claim_judge_name,
    claims_of,
    decide_claims,
    entailment_judge,
    replying_judge,
    shares_a_sentence,
    text_hash,
    weigh_claims,
    word_for_word,
)
from grading.reports._judging_material import Decision

__all__ = [
    "ENTAILMENT",
    "FEWEST_UNRELATED",
    "UNRELATED",
    "CitedClaim",
    "ClaimAsk",
    "ClaimCut",
    "ClaimOdds",
    "Decision",
    "cited_claims",
    "claim_judge_name",
    "claims_of",
    "cut_of_labels",
    "cut_of_unrelated",
    "decide_claims",
    "entailment_judge",
    "held_out_verdicts",
    "replying_judge",
    "shares_a_sentence",
    "text_hash",
    "weigh_claims",
    "word_for_word",
]
