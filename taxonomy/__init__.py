"""Question text to labels: Bloom's revised taxonomy, question forms, your own."""

from taxonomy._bloom import KNOWLEDGE, KNOWLEDGE_DIMENSION, LEVELS, PROCESS_DIMENSION, bloom
from taxonomy._clusters import Clustering, Encode, cluster
from taxonomy._english import VERBS
from taxonomy._forms import FORMS, QUESTION_FORM, QUESTION_WORDS, form
from taxonomy._labels import LABEL_PROMPT_VERSION, LABEL_REPLY_TOKENS, TAXONOMIES, ModelLabels, label_by_model, labels
from taxonomy._languages import WORDINGS
from taxonomy._taxonomy import WORD_PATTERN, Level, RuleLabels, Taxonomy

__all__ = [
    "FORMS",
    "KNOWLEDGE",
    "KNOWLEDGE_DIMENSION",
    "LABEL_PROMPT_VERSION",
    "LABEL_REPLY_TOKENS",
    "LEVELS",
    "PROCESS_DIMENSION",
    "QUESTION_FORM",
    "QUESTION_WORDS",
    "TAXONOMIES",
    "VERBS",
    "WORDINGS",
    "WORD_PATTERN",
    "Clustering",
    "Encode",
    "Level",
    "ModelLabels",
    "RuleLabels",
    "Taxonomy",
    "bloom",
    "cluster",
    "form",
    "label_by_model",
    "labels",
]
