"""What can be read off a sentence, a stem or an answer by its words."""

from exam_gen.language._similarity import ChoiceSimilarities, distractors, embedding_similarities, word_similarities

__all__ = ["ChoiceSimilarities", "distractors", "embedding_similarities", "word_similarities"]
