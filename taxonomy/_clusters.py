"""Questions grouped by what they are about, with names; or the finding that they fall into no groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taxonomy._taxonomy import WORD_PATTERN, lemma

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Encode = Callable[[Sequence[str]], ArrayLike]
"""Texts to vectors `[n, d]`."""

LEAST = 20
"""Fewer questions are not grouped."""
MOST = 12
"""The largest number of clusters that is tried."""
WORDS = 3
"""Words in a cluster's name."""
REFERENCES = 19
"""Structureless samples: with the data's own value they make a test at the level 1 / (`REFERENCES` + 1)."""
COMPARED = 1000
"""Where there are more questions, the number of clusters is chosen on so many, drawn by the seed."""

SEEDS = 5
"""Other seeds whose groupings are compared."""


class Clustering(NamedTuple):
    """Clusters of questions, the largest first.

    `members` is the cluster of each question, an index into `names`; both are empty where no structure was found, and
    `reason` says why. `silhouettes` has, for each number of clusters tried, the mean silhouette (-1 to 1; Rousseeuw
    1987) and the mean that samples without clusters reach. `excess` is the largest difference of the two, whose number
    of clusters is chosen; `bar` is the largest excess of a sample without clusters, which has to be exceeded.
    `stability` is the mean adjusted Rand index with the groupings of other seeds: 1 where the bounds of the clusters
    do not depend on the seed, 0 where they do wholly.
    """

    names: tuple[str, ...]
    members: tuple[int, ...]
    silhouettes: dict[int, tuple[float, float]]
    excess: float
    bar: float
    seed: int
    stability: float = np.nan
    reason: str = ""


def cluster(texts: Sequence[str], encode: Encode, *, most: int = MOST, seed: int = 0) -> Clustering:
    """Group texts by the vectors of `encode`, with k-means.

    k-means finds groups in anything, and its silhouette depends on their number. So the silhouette is compared with
    those of `REFERENCES` samples of one normal distribution that has the vectors' covariances, grouped in the same way
    (as in the gap statistic of Tibshirani et al. 2001; a parametric bootstrap of one cluster). Clusters are named by
    the words of the largest class-based TF-IDF. Raises `ValueError` for vectors of a wrong shape or that are not
    finite.
    """
    none = Clustering((), (), {}, np.nan, np.nan, seed)
    if len(texts) < LEAST:
        return none._replace(reason=f"{len(texts)} questions; {LEAST} or more are grouped")
    points = _centred(np.asarray(encode(texts), dtype=np.float64), len(texts))
    shown = points[np.random.default_rng(seed).permutation(len(points))[:COMPARED]]
    distinct = len(np.unique(shown.round(9), axis=0))
    sizes = range(2, min(most, len(texts) // 5, distinct - 1) + 1)
    if not sizes:
        return none._replace(reason=f"{distinct} different vectors; wanted more to group")
    own = _silhouettes(shown, sizes, seed)
    others = np.array(list(_structureless(shown, sizes, seed)))
    excess = own - others.mean(axis=0)
    bar = float(np.max(others - (others.sum(axis=0) - others) / (REFERENCES - 1)))
    best = int(np.argmax(excess))
    table = {size: (float(own[i]), float(others[:, i].mean())) for i, size in enumerate(sizes)}
    found = none._replace(silhouettes=table, excess=float(excess[best]), bar=bar)
    if not found.excess > bar:
        why = f"the silhouette is {found.excess:.3f} above that of text without clusters, which varies by {bar:.3f}"
        return found._replace(reason=f"no clusters: {why}")
    grouped = _grouped(points, sizes[best], seed)
    # The largest cluster is number 0.
    order = {old: new for new, (old, _) in enumerate(Counter(grouped.tolist()).most_common())}
    members = [order[one] for one in grouped.tolist()]
    stability = _stability(points, grouped, sizes[best], seed)
    return found._replace(names=_names(texts, members), members=tuple(members), stability=stability)


def _centred(vectors: Floats, size: int) -> Floats:
    """The points on their principal axes `[n, rank]`, the mean at 0; distances are kept."""
    if vectors.ndim != 2 or len(vectors) != size or not np.isfinite(vectors).all():
        raise ValueError(f"vectors: found shape {vectors.shape}; wanted {size} rows of finite numbers")
    left, spread, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    kept = spread > 1e-6 * max(float(spread[0]), 1e-12)
    return np.asarray(left[:, kept] * spread[kept])


def _grouped(points: Floats, size: int, seed: int) -> Codes:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(size, n_init=4, random_state=seed).fit_predict(points), dtype=np.int64)


def _silhouettes(points: Floats, sizes: Sequence[int], seed: int) -> Floats:
    from sklearn.metrics import silhouette_score

    grouped = [_grouped(points, size, seed) for size in sizes]
    return np.array([silhouette_score(points, one) for one in grouped])


def _structureless(points: Floats, sizes: Sequence[int], seed: int) -> Iterator[Floats]:
    """The silhouettes of samples of one normal distribution with the points' variances on their axes."""
    rng = np.random.default_rng(seed)
    deviations = points.std(axis=0, ddof=1)
    for _ in range(REFERENCES):
        yield _silhouettes(rng.standard_normal(points.shape) * deviations, sizes, seed)


def _stability(points: Floats, grouped: Codes, size: int, seed: int) -> float:
    from sklearn.metrics import adjusted_rand_score

    others = (_grouped(points, size, seed + step) for step in range(1, SEEDS + 1))
    return float(np.mean([adjusted_rand_score(grouped, one) for one in others]))


def _names(texts: Sequence[str], members: Sequence[int]) -> tuple[str, ...]:
    """Each cluster's words of the largest `tf log(1 + A / f)`, told apart by more words if need be (Grootendorst 2022).

    `tf` counts a word in the cluster, `f` in all; `A` is the mean number of words. Common words are left out.
    """
    counted = [Counter(_said(text)) for text in texts]
    having = Counter(word for count in counted for word in count)
    shown = _commonest_forms(texts)
    clusters: list[Counter[str]] = [Counter() for _ in set(members)]
    for member, count in zip(members, counted, strict=True):
        clusters[member].update({word: n for word, n in count.items() if having[word] <= len(texts) / 2})
    overall = sum(clusters, Counter[str]())
    mean = sum(overall.values()) / len(clusters)
    names: list[str] = []
    for number, count in enumerate(clusters, start=1):
        ranked = sorted(count, key=lambda word: (-count[word] * np.log1p(mean / overall[word]), word))
        lengths = range(min(WORDS, max(len(ranked), 1)), len(ranked) + 1)
        choices = (", ".join(shown[word] for word in ranked[:n]) for n in lengths)
        names.append(next((name for name in choices if name not in names), f"cluster {number}"))
    return tuple(names)


def _said(text: str) -> list[str]:
    """The words of a text that may name something, in their dictionary form."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    found = (match.group().lower() for match in WORD_PATTERN.finditer(text))
    return [lemma(word) for word in found if 2 < len(word) <= 30 and not {word, lemma(word)} & ENGLISH_STOP_WORDS]


def _commonest_forms(texts: Sequence[str]) -> dict[str, str]:
    """For each dictionary form the form that is met most."""
    forms: dict[str, Counter[str]] = {}
    for text in texts:
        for match in WORD_PATTERN.finditer(text):
            forms.setdefault(lemma(match.group()), Counter())[match.group().lower()] += 1
    return {word: count.most_common(1)[0][0] for word, count in forms.items()}
