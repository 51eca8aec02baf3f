import math

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from taxonomy import cluster
from taxonomy._clusters import LEAST

WORDS = (["lock thread mutex"] * 20, ["soup salt spoon"] * 25, ["planet orbit moons"] * 30)
TEXTS = [text for group in WORDS for text in group]
TRUTH = np.repeat([2, 1, 0], [20, 25, 30])


def blobs(distance: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.eye(3, 10) * distance
    return centres[TRUTH] + rng.standard_normal((len(TRUTH), 10))


def test_simulated_clusters_are_found_and_named_by_their_words_the_largest_first() -> None:
    found = cluster(TEXTS, lambda _: blobs(8), seed=1)
    assert len(found.names) == 3
    assert adjusted_rand_score(TRUTH, found.members) == 1
    assert [set(name.split(", ")) for name in found.names] == [
        {"planet", "orbit", "moons"},
        {"soup", "salt", "spoon"},
        {"lock", "thread", "mutex"},
    ]
    assert found.members[0] == 2
    assert found.excess > found.bar
    assert found.stability == pytest.approx(1)
    assert found.excess == pytest.approx(max(own - other for own, other in found.silhouettes.values()))


def test_text_without_clusters_is_said_to_have_none() -> None:
    # A test at the level 1/20: more than 3 findings in 12 have a probability of 0.002.
    findings = 0
    for seed in range(12):
        points = np.random.default_rng(100 + seed).standard_normal((40, 6)) * [3, 2, 1, 1, 1, 1]
        found = cluster(["some words"] * 40, lambda _, points=points: points, most=5, seed=seed)
        findings += bool(found.names)
        assert bool(found.reason) != bool(found.names)
        assert len(found.members) == (40 if found.names else 0)
    assert findings <= 3


def test_clusters_are_fixed_by_the_seed() -> None:
    one, again = (cluster(TEXTS, lambda _: blobs(3), seed=4) for _ in range(2))
    assert one == again
    assert one.seed == 4


def test_too_few_or_equal_questions_are_not_grouped() -> None:
    few = cluster(["a"] * (LEAST - 1), lambda texts: np.eye(len(texts)))
    assert (few.names, few.reason) == ((), "19 questions; 20 or more are grouped")
    assert math.isnan(few.excess)
    same = cluster(["a"] * 30, lambda texts: np.ones((len(texts), 4)))
    assert (same.names, same.reason) == ((), "1 different vectors; wanted more to group")


def test_clusters_whose_words_are_the_same_or_none_still_have_different_names() -> None:
    for text in ("the same words", "", "🙂", "x" * 10_000):
        found = cluster([text] * len(TRUTH), lambda _: blobs(8))
        assert len(set(found.names)) == 3


@pytest.mark.parametrize("bad", [np.ones(30), np.ones((29, 3)), np.full((30, 3), np.nan)])
def test_vectors_of_a_wrong_shape_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"vectors: found shape .*; wanted 30 rows of finite numbers"):
        cluster(["a"] * 30, lambda _: bad)
