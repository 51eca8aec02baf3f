"""Scores of articles (Sander and Dietz 2021): EXAM and n-EXAM, the share of a query's questions that they answer.

ROUGE-1 F1 against gold articles is the baseline that disagrees with assessors (section 4.1.2).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from examcore import IntervalEstimate, shown_json
from grading._file_rows import QUERY, read_rows
from grading._printing import few, named
from grading._records import SAMPLING, Bank, Sampling
from grading.leaderboards._paired import Pairs, Ranking, ranking

Right = Mapping[str, Mapping[str, bool | None]]
"""Query -> question -> whether the article's answer is right; None or absent if unanswered."""


WORD = re.compile(r"[^\W_]+")
TEXT = ("text", "article", "answer", "report", "response")


@dataclass(frozen=True)
class ExamScore:
    """A system's EXAM by query, the queries it skips (each scored 0), and how many questions it leaves unanswered."""

    system: str
    scores: Mapping[str, float]
    skipped: tuple[str, ...]
    unanswered: int


def exam_score(system: str, right: Right, bank: Bank) -> ExamScore:
    """`EXAM(d_q) = right answers / questions of the bank for q`, for every query of the bank.

    Wrong and unanswered questions count 0, as does a query without an article (section 3.1.2). Questions outside the
    bank are ignored.
    """
    scores = {query: _share(right.get(query, {}), questions) for query, questions in bank.items()}
    unanswered = sum(
        right[query].get(name) is None for query, questions in bank.items() if query in right for name in questions
    )
    return ExamScore(system, scores, tuple(query for query in bank if query not in right), unanswered)


@dataclass(frozen=True)
class RougeScores:
    """Systems by ROUGE-1 F1 against `queries` gold articles."""

    queries: int
    ranking: Ranking

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        found = self.ranking
        systems = {name: {"rouge_1_f1": one, "per_query": found.scores[name]} for name, one in found.means.items()}
        return {"queries": self.queries, "systems": systems, **found.record()}

    def lines(self) -> list[str]:
        """The result for a reader."""
        return self.ranking.lines({"ROUGE-1 F1": self.ranking.means})


def n_exam(scores: Mapping[str, float], gold: Mapping[str, float], sampling: Sampling = SAMPLING) -> IntervalEstimate:
    """`sum_q EXAM(d_q) / sum_q EXAM(gold_q)`, a ratio of sums that may exceed 1 (section 3.1.3).

    The interval resamples queries; NaN if the gold articles answer nothing.
    """
    queries = [query for query in gold if query in scores]
    ours = np.array([scores[query] for query in queries], dtype=np.float64)
    theirs = np.array([gold[query] for query in queries], dtype=np.float64)

    def ratio(chosen: np.ndarray) -> float:
        total = float(theirs[chosen].sum())
        return float(ours[chosen].sum()) / total if total > 0 else math.nan

    return sampling.of(ratio, len(queries))


def rouge_1_f1(article: str, gold: str) -> float:
    """ROUGE-1 F1 of the bags of `words` of two texts; NaN for a gold article without words, 0 for an empty article."""
    ours, theirs = Counter(words(article)), Counter(words(gold))
    if not theirs:
        return math.nan
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def words(text: str) -> list[str]:
    """The lower-case lemmas of an English text without stop words (simplemma; bm25s's longer list of stop words)."""
    return [_lemma(word) for word in WORD.findall(text.lower()) if word not in _stop_words()]


def rouge_scores(articles: Mapping[str, str], gold: Mapping[str, str]) -> dict[str, float]:
    """ROUGE-1 F1 of a system's articles for every query of the gold articles; 0 for one that it skips."""
    return {query: rouge_1_f1(articles.get(query, ""), text) for query, text in gold.items()}


def rouge(articles: Path, gold: Path, sampling: Sampling, shown: Pairs = "neighbours") -> RougeScores:
    """The systems of a file of articles against the gold articles of another; one that a system skips counts 0.

    Raises `ValueError` for gold articles of several systems, and for a system without an article on any of their
    queries.
    """
    systems, texts = read_articles(articles), read_articles(gold)
    if len(texts) > 1:
        raise ValueError(f"{gold}: articles of {len(texts)} systems; wanted one gold article per query")
    (wanted,) = texts.values()
    if not any(query in wanted for found in systems.values() for query in found):
        raise ValueError(f"{articles}: no query of it is in {gold}; wanted common queries")
    for name, found in systems.items():
        if not found.keys() & wanted.keys():
            raise ValueError(
                f"{articles}: system {name!r} has no query of {gold}; wanted some, such as {next(iter(wanted))!r}"
            )
    empty = [query for query, score in rouge_scores(wanted, wanted).items() if math.isnan(score)]
    notes = named("Gold articles without words: no score, left out of the mean", empty)
    for name, found in systems.items():
        notes += named(f"Queries that {name} skips, counted 0", (one for one in wanted if one not in found))
        strange = (one for one in found if one not in wanted)
        notes += named(f"Articles of {name} without a gold article, which take no part", strange)
    notes += few(len(wanted), "queries")
    table = {name: rouge_scores(found, wanted) for name, found in systems.items()}
    return RougeScores(len(wanted), ranking(table, sampling, notes, shown))


def read_articles(path: str | Path) -> dict[str, dict[str, str]]:
    """Read `system -> query -> article` from a table `system, query, text`; without `system` it is one system's.

    A blank text is an empty article. Raises `ValueError` (file:line, found, wanted) for a second article of a system on
    a query.
    """
    found: dict[str, dict[str, str]] = {}
    for row in read_rows(path, {}):
        system = row.first_text(("system", "run_id", "run"), "system")
        query = row.first_text(QUERY)
        articles = found.setdefault(system, {})
        if query in articles:
            raise ValueError(
                f"{row.place}: {shown_json(system)} has a second article on {shown_json(query)}; wanted one"
            )
        articles[query] = row.first_text(TEXT, "")
    return found


def _share(right: Mapping[str, bool | None], questions: Collection[str]) -> float:
    return sum(right.get(name) is True for name in questions) / len(questions) if questions else math.nan


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


@cache
def _lemma(word: str) -> str:
    import simplemma

    return str(simplemma.lemmatize(word, lang="en")).lower()
