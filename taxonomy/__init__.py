"""Question text to labels: Bloom's revised taxonomy, question forms, your own; how far labellers agree."""

from taxonomy.agreement import Agreement, cohen_kappa, krippendorff_alpha
from taxonomy.asking import Asked, label_by_model
from taxonomy.bloom import LEVELS, PROCESS_DIMENSION, bloom
from taxonomy.clusters import Clustering, cluster
from taxonomy.comparison import LabellerAgreement, LevelAgreement, compare_labels
from taxonomy.forms import FORMS, QUESTION_FORM, QUESTION_WORDS, first_word, form, question_words
from taxonomy.knowledge import KNOWLEDGE, KNOWLEDGE_DIMENSION, knowledge
from taxonomy.labelling import TAXONOMIES, labels
from taxonomy.scheme import Level, Reading, Taxonomy

__all__ = [
    "FORMS",
    "KNOWLEDGE",
    "KNOWLEDGE_DIMENSION",
    "LEVELS",
    "PROCESS_DIMENSION",
    "QUESTION_FORM",
    "QUESTION_WORDS",
    "TAXONOMIES",
    "Agreement",
    "Asked",
    "Clustering",
    "LabellerAgreement",
    "Level",
    "LevelAgreement",
    "Reading",
    "Taxonomy",
    "bloom",
    "cluster",
    "cohen_kappa",
    "compare_labels",
    "first_word",
    "form",
    "knowledge",
    "krippendorff_alpha",
    "label_by_model",
    "labels",
    "question_words",
]
