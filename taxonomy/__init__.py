"""Question text to labels: Bloom's process levels, question forms, and how far labellers agree."""

from taxonomy.agreement import Agreement, cohen_kappa, krippendorff_alpha
from taxonomy.bloom import LEVELS, bloom
from taxonomy.forms import FORMS, first_word, form, question_words
from taxonomy.labelling import labels

__all__ = [
    "FORMS",
    "LEVELS",
    "Agreement",
    "bloom",
    "cohen_kappa",
    "first_word",
    "form",
    "krippendorff_alpha",
    "labels",
    "question_words",
]
