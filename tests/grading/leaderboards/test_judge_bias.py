"""Judge bias: recovery, error rates and coverage under simulated truth, and designs that cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from grading._records import Sampling
from grading.leaderboards._judge_bias import JudgedScores, favour, read_judged

FAMILIES = ("g", "g", "g", "l", "l", "l", "o", "o")


def simulated(
    size: float,
    seed: int,
    *,
    families: Sequence[str] = FAMILIES,
    judges: Sequence[str] = ("g", "l"),
    noise: float = 0.1,
) -> JudgedScores:
    """Systems of random quality, judges of random mildness, `size` for one's own family."""
    rng = np.random.default_rng(seed)
    own = np.array([[one == other for other in judges] for one in families], dtype=float)
    cells = rng.normal(size=(len(families), 1)) + rng.normal(size=len(judges)) + size * own
    cells += noise * rng.normal(size=cells.shape)
    scores = cells[:, :, None] + 0.2 * rng.normal(size=(*cells.shape, 15))
    systems = tuple(f"s{at}" for at in range(len(families)))
    topics = tuple(f"t{at}" for at in range(15))
    of_judges = {f"{one}{at}": one for at, one in enumerate(judges)}
    return JudgedScores(dict(zip(systems, families, strict=True)), of_judges, topics, scores, ())


def test_without_noise_the_favour_is_exact_for_all_and_for_each_judge() -> None:
    data = simulated(0.5, 0, noise=0)
    data = data._replace(scores=data.scores.mean(axis=2, keepdims=True).repeat(4, axis=2), topics=tuple("abcd"))
    clean = simulated(0.5, 0, noise=0)
    own = np.array([[one == other for other in ("g", "l")] for one in FAMILIES], dtype=float)
    exact = np.arange(8.0)[:, None] + np.array([0.3, -1]) + own * np.array([0.5, 0.5])
    found = favour(clean._replace(scores=exact[:, :, None].repeat(4, axis=2), topics=tuple("abcd")))
    assert found.favour.estimate == pytest.approx(0.5)
    assert found.by_judge == pytest.approx({"g0": 0.5, "l1": 0.5})
    assert found.over_topics == pytest.approx((0.5, 0.5, 0.5))
    assert favour(data).favour.estimate == pytest.approx(0.5, abs=0.15)


def test_each_judges_favour_is_its_own() -> None:
    own = np.array([[one == other for other in ("g", "l")] for one in FAMILIES], dtype=float)
    exact = np.arange(8.0)[:, None] + np.array([0.3, -1]) + own * np.array([0.9, 0.1])
    found = favour(simulated(0, 0)._replace(scores=exact[:, :, None].repeat(15, axis=2)))
    assert found.by_judge == pytest.approx({"g0": 0.9, "l1": 0.1})


def test_with_two_families_only_the_sum_of_the_judges_favours_is_known() -> None:
    found = favour(simulated(0.5, 1, families="gggglllll"))
    assert all(math.isnan(one) for one in found.by_judge.values())
    assert found.favour.estimate == pytest.approx(0.5, abs=0.2)


def test_the_interval_holds_the_truth_and_the_test_is_of_its_level() -> None:
    held = rejected = 0
    for seed in range(80):
        interval = favour(simulated(0.5, seed), Sampling(draws=5)).favour
        held += interval.low <= 0.5 <= interval.high
        rejected += favour(simulated(0, seed + 500), Sampling(draws=5)).p <= 0.1
    assert 0.8 <= held / 80 <= 0.98
    assert rejected / 80 <= 0.1 + 2 * math.sqrt(0.1 * 0.9 / 80)


def test_the_interval_excludes_zero_exactly_when_the_test_rejects_it() -> None:
    for seed in range(30):
        found = favour(simulated(0.12, seed), Sampling(draws=5))
        assert (found.favour.low > 0 or found.favour.high < 0) == (found.p <= 0.1)


def test_sampled_dealings_say_what_all_of_them_say() -> None:
    exact, sampled = (favour(simulated(0.2, 3), Sampling(draws=5), permutations=number) for number in (2000, 400))
    assert (exact.exact, sampled.exact) == (True, False)
    assert exact.arrangements == math.comb(8, 3) * math.comb(5, 3)
    assert sampled.p == pytest.approx(exact.p, abs=0.05)
    assert sampled.favour[1:] == pytest.approx(exact.favour[1:], abs=0.05)


@pytest.mark.parametrize(
    ("families", "judges", "message"),
    [
        ("gl", "gl", "judges: 2 judges of 2 systems; wanted at least 2 judges and 3 systems"),
        ("gglloo", "g", "judges: 1 judges of 6 systems"),
        ("gglloo", "xy", r"judges: none is of a system's family \(g, l, o\); wanted a column judge_family"),
        ("ggglll", ("g", "g"), "judges: favour cannot be told from the quality of a family"),
        (
            "glo",
            "gl",
            r"families: 6 ways to assign them to 3 systems, of which the smallest p is 0\.\d+; wanted at most",
        ),
        ("ggll", "gl", r"families: 6 ways to assign them to 4 systems, of which the smallest p is 0\.33; wanted"),
    ],
)
def test_designs_that_cannot_tell_are_refused(families: str, judges: Sequence[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        favour(simulated(1, 0, families=families, judges=judges))


def test_topics_that_lack_a_score_are_left_out_by_name(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    rows = [f"{s},{f},{j},{t},{t}" for s, f in ("ag", "bl") for j in "gl" for t in (1, 2) if (s, j, t) != ("b", "l", 2)]
    path.write_text("\n".join(["system,family,writer,topic,score", *rows]))
    found = read_judged(path)
    assert found.topics == ("1",)
    assert found.left_out == ("2",)
    assert tuple(found.judge_families.values()) == ("g", "l")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a,g,g,1,1\na,l,g,2,1\n", r"j.csv:3: system 'a' is of family 'l'; wanted 'g', as before"),
        ("a,g,g,1,1\na,g,g,1,1\n", r"j.csv:3: system 'a', judge 'g', topic '1' stands already"),
        ("a,g,g,1,1\nb,g,l,1,1\n", r"j.csv: no topic has all 2 systems scored by all 2 judges; wanted some"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "j.csv"
    path.write_text("system,family,judge,topic,score\n" + rows)
    with pytest.raises(ValueError, match=message):
        read_judged(path)
