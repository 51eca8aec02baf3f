"""Reports with citations, judged sentence by sentence (ARGUE), and the claims of free-text answers."""

from grading.reports._claims import (
    ENTAILMENT,
    CitedClaim,
    ClaimAsk,
    cited_claims,
    claim_judge_name,
    claims_of,
    decide_claims,
    entailment_judge,
    language_model_judge,
    text_hash,
    word_for_word,
)
from grading.reports._judging_material import Decision

__all__ = [
    "ENTAILMENT",
    "CitedClaim",
    "ClaimAsk",
    "Decision",
    "cited_claims",
    "claim_judge_name",
    "claims_of",
    "decide_claims",
    "entailment_judge",
    "language_model_judge",
    "text_hash",
    "word_for_word",
]
