"""Lexical retrieval: BM25, TF-IDF and latent semantic analysis over the same stemmed words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examcore import ENGLISH, Chunk, Question, function_words, language_named, stemmer, words
from rag.retrieval._protocol import searched_text, top_indices

LSA_DIMENSIONS = 256
"""Dimensions of latent semantic analysis; fewer if the corpus has fewer passages or words."""
SCORE_DIGITS = 9
"""Scores are rounded to this many digits so that copies of a passage tie whatever the last bits."""

Scores = NDArray[np.float64]


def stemmed_words(texts: Sequence[str], code: str = ENGLISH) -> list[list[str]]:
    """The words of each text in order, without stop words, stemmed, as the language has them; else pairs of characters.

    The stop words of English are the few of bm25s, those of other languages all that it lists.
    """
    import bm25s

    if not language_named(code).spaced:
        return [words(text, code) for text in texts]
    stop = "en" if code == ENGLISH else sorted(function_words(code))
    found: list[list[str]] = bm25s.tokenize(
        list(texts), stopwords=stop, stemmer=stemmer(code), return_ids=False, show_progress=False
    )
    return found


def passage_words(chunks: Sequence[Chunk]) -> list[list[str]]:
    """The stemmed words of each passage, in its own language."""
    found: list[list[str]] = [[] for _ in chunks]
    for code in dict.fromkeys(chunk.language for chunk in chunks):
        places = [place for place, chunk in enumerate(chunks) if chunk.language == code]
        texts = [searched_text(chunks[place]) for place in places]
        for place, stems in zip(places, stemmed_words(texts, code), strict=True):
            found[place] = stems
    return found


def question_words(question: Question, chunks: Sequence[Chunk]) -> list[str]:
    """The stemmed words that are searched for: in the language a question names, else that of the passages."""
    code = question.language
    if "language" not in question.metadata:
        # A mixed corpus names it with each question, but for those in English.
        spoken = {chunk.language for chunk in chunks}
        code = spoken.pop() if len(spoken) == 1 else ENGLISH
    return stemmed_words([question.stem], code)[0]


class Bm25:
    """BM25 (Lucene's form, k1 = 1.5, b = 0.75) over stemmed words of title and text; ties by chunk order."""

    def __init__(self, chunks: Sequence[Chunk], name: str = "bm25") -> None:
        self.name, self._chunks = name, tuple(chunks)

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best passages that share a word with the stem."""
        if self._index is None:
            return []
        words = [word for word in question_words(question, self._chunks) if word in self._index.vocab_dict]
        if not words:
            return []
        scores = np.asarray(self._index.get_scores(words))
        return _positive(self._chunks, scores, k)

    @cached_property
    def _index(self) -> Any | None:
        import bm25s

        words = passage_words(self._chunks)
        if not any(words):
            return None
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        index.index(words, show_progress=False)
        return index


class TfIdf:
    """Cosine similarity of TF-IDF vectors (sublinear term frequency, smoothed idf); ties by chunk order."""

    def __init__(self, chunks: Sequence[Chunk], name: str = "tfidf") -> None:
        self.name, self._table = name, TfIdfTable(chunks)

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k best passages that share a word with the stem."""
        return self._table.best(question, k, lambda asked: (self._table.passages @ asked.T).toarray().ravel())


class Lsa:
    """Cosine similarity in the leading singular directions of the TF-IDF table (Deerwester et al. 1990).

    Passages may match without a common word. Ties by chunk order; the decomposition is randomised with a fixed seed.
    """

    def __init__(self, chunks: Sequence[Chunk], name: str = "lsa", topics: int = LSA_DIMENSIONS) -> None:
        self.name, self._table, self._topics = name, TfIdfTable(chunks), topics

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        """The k nearest passages with a positive cosine; none for a stem without a known word."""
        return self._table.best(question, k, self._cosines)

    def _cosines(self, asked: Any) -> Scores:
        directions, passages = self._space
        return np.asarray(passages @ _unit(asked @ directions)[0])

    @cached_property
    def _space(self) -> tuple[Scores, Scores]:
        """Directions `[words, d]` and unit-length passages `[n, d]`."""
        from sklearn.utils.extmath import randomized_svd

        table = self._table.passages
        _, strengths, rows = randomized_svd(table, min(self._topics, *table.shape), random_state=0)
        directions = rows[strengths > 1e-6 * strengths[0]].T
        # Projecting, unlike the left singular vectors, gives passages of equal words equal coordinates to the last bit.
        return directions, _unit(table @ directions)


class TfIdfTable:
    """Passages as unit-length TF-IDF rows `[n, words]`, sparse."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = tuple(chunks)

    def best(self, question: Question, k: int, score: Callable[[Any], Scores]) -> list[Chunk]:
        """The k passages that `score` rates highest above 0 for a question, as a row; none without a known word."""
        row = self.row(question)
        return [] if row is None else _positive(self._chunks, np.round(score(row), SCORE_DIGITS), k)

    def row(self, question: Question) -> Any | None:
        """A question as a row `[1, words]`; None if it shares no word with the passages."""
        if self._fitted is None:
            return None
        row = self._fitted[0].transform([question_words(question, self._chunks)])
        return row if row.nnz else None

    @property
    def passages(self) -> Any:
        """The rows of the passages, which must not be empty."""
        assert self._fitted is not None
        return self._fitted[1]

    @cached_property
    def _fitted(self) -> tuple[Any, Any] | None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = passage_words(self._chunks)
        if not any(words):
            return None
        vectorizer = TfidfVectorizer(analyzer=list, sublinear_tf=True)
        return vectorizer, vectorizer.fit_transform(words)


def _positive(chunks: Sequence[Chunk], scores: Scores, k: int) -> list[Chunk]:
    return [chunks[index] for index in top_indices(scores, k) if scores[index] > 0]


def _unit(rows: Any) -> Scores:
    """Rows of length one; a row of zeros stays."""
    rows = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float64)
