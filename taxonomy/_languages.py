"""The languages whose questions the rules can label."""

from __future__ import annotations

from collections.abc import Mapping

from taxonomy._english import ENGLISH_WORDING
from taxonomy._french import FRENCH_WORDING
from taxonomy._german import GERMAN_WORDING
from taxonomy._question_wording import QuestionWording
from taxonomy._spanish import SPANISH_WORDING

WORDINGS: Mapping[str, QuestionWording] = {
    one.code: one for one in (ENGLISH_WORDING, FRENCH_WORDING, GERMAN_WORDING, SPANISH_WORDING)
}
"""What the rules know of each language, by its code; questions in any other get no labels by rule."""
