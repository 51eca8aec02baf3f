"""ROUGE-1 F1 against gold articles, a baseline that disagrees with assessors (EXAM 2021, section 4.1.2)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from examcore import shown_json
from grading._file_rows import QUERY, read_rows

WORD = re.compile(r"[^\W_]+")
TEXT = ("text", "article", "answer", "report", "response")


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


@cache
def _stop_words() -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


@cache
def _lemma(word: str) -> str:
    import simplemma

    return str(simplemma.lemmatize(word, lang="en")).lower()
