"""Reports with citations, judged sentence by sentence (ARGUE), and claims of answers in free text."""

from grading.reports._claims import Claim, JudgedClaims, ReadAnswer, ReadPassage, judge_claims

__all__ = ["Claim", "JudgedClaims", "ReadAnswer", "ReadPassage", "judge_claims"]
