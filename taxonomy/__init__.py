"""Question text to labels: Bloom's revised taxonomy, question forms, your own."""

from taxonomy.asking import Asked, label_by_model
from taxonomy.bloom import LEVELS, PROCESS_DIMENSION, bloom
from taxonomy.clusters import Clustering, cluster
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
    "Asked",
    "Clustering",
    "Level",
    "Reading",
    "Taxonomy",
    "bloom",
    "cluster",
    "first_word",
    "form",
    "knowledge",
    "label_by_model",
    "labels",
    "question_words",
]
