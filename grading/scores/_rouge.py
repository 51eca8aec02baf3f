"""ROUGE-1 F1 of articles against gold articles, a baseline that disagrees with assessors (Sander and Dietz 2021)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from examcore import shown_json
from grading._file_rows import QUERY, read_rows
from grading._printing import few, named
from grading._records import Sampling
from grading.leaderboards._paired import Pairs, RankedSystems, ranking

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


def rouge(articles: Path, gold: Path, sampling: Sampling, shown: Pairs) -> RankedSystems:
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
    ranked = ranking(table, sampling, notes, shown)
    return RankedSystems({"queries": len(wanted)}, {"rouge_1_f1": ("ROUGE-1 F1", ranked.means)}, ranked)


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
