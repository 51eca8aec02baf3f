"""Power: closed forms, the inverse, simulated rejection rates, intervals."""

import numpy as np
import pytest
from scipy.special import expit, ndtri

import irt
from irt import kernels
from irt._power import (
    OutOfReachError,
    PowerSettings,
    abilities_apart,
    detectable_gap,
    power,
    power_of,
    questions_needed,
)
from irt._question_source import QuestionSource
from irt.kernels import ItemParameters
from tests.irt.calibrated_fit import calibrated
from tests.irt.counted_scores import score_counts

Z = float(ndtri(0.975) + ndtri(0.8))


def pool(count: int = 60, seed: int = 1, guessing: bool = False) -> ItemParameters:
    rng = np.random.default_rng(seed)
    c = rng.beta(5, 15, count) if guessing else np.zeros(count)
    return ItemParameters(rng.lognormal(0.1, 0.3, count), rng.normal(0, 1, count), c, np.ones(count))


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return calibrated(pool(), error=0.1)


def test_equal_items_have_closed_forms() -> None:
    items = ItemParameters(np.full(4, 1.2), np.full(4, 0.3), np.zeros(4), np.ones(4))
    even = np.full(4, 0.25)
    p, q = expit(1.2 * 0.2), expit(-1.2 * 0.2)  # abilities .5 and .1
    wanted = Z**2 * (1 / (1.44 * p * (1 - p)) + 1 / (1.44 * q * (1 - q))) / 0.16
    assert questions_needed(QuestionSource(items, even), (0.5, 0.1), PowerSettings()) == pytest.approx(wanted)
    discordant = p * (1 - q) + q * (1 - p)
    wanted = ndtri(0.975) * np.sqrt(discordant) + ndtri(0.8) * np.sqrt(discordant - (p - q) ** 2)
    found = questions_needed(QuestionSource(items, even), (0.5, 0.1), PowerSettings("accuracy"))
    assert found == pytest.approx((wanted / (p - q)) ** 2)
    # Equal items leave nothing for pairing to take away.
    apart = questions_needed(QuestionSource(items, even), (0.5, 0.1), PowerSettings("accuracy", "independent"))
    assert apart == pytest.approx(found, rel=0.02)


def test_pairing_pays_where_items_differ_in_difficulty() -> None:
    items = pool()._replace(b=np.linspace(-3, 3, 60))
    even = np.full(60, 1 / 60)
    paired, apart = (
        questions_needed(QuestionSource(items, even), (0.2, -0.2), PowerSettings("accuracy", d))
        for d in ("paired", "independent")
    )
    assert paired < 0.8 * apart


@pytest.mark.parametrize("scale", ["ability", "accuracy"])
@pytest.mark.parametrize("design", ["paired", "independent"])
def test_power_questions_and_gap_are_one_relation(scale: str, design: str, fit: irt.Fit) -> None:
    found = power(fit, 0.15, 0.4, scale=scale, design=design)
    even = np.full(60, 1 / 60)
    plan = PowerSettings(scale, design)
    needed = int(np.ceil(questions_needed(QuestionSource(fit.parameters, even), found.theta, plan)))
    assert power_of(QuestionSource(fit.parameters, even), found.theta, needed, plan) == pytest.approx(0.8, abs=0.01)
    assert power_of(QuestionSource(fit.parameters, even), found.theta, needed - 1, plan) < 0.8
    assert found.questions == pytest.approx(needed, rel=0.05)
    gap = detectable_gap(fit, found.questions, 0.4, scale=scale, design=design)
    assert gap.estimate == pytest.approx(0.15, abs=0.002)
    assert gap.low < gap.estimate < gap.high
    assert found.low < found.questions < found.high
    assert found.exams == pytest.approx(found.questions / 60, abs=1 / 60)
    assert found.accuracy[0] > found.accuracy[1]


def test_what_uncertain_steep_items_need_is_the_middle_of_its_interval() -> None:
    """Information is no linear function of items: their point estimates would want half as many questions again."""
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(2.5, 0.5, 60), rng.normal(0, 1.5, 60) + np.where(rng.random(60) < 0.5, 1.5, -1.5)
    steep = calibrated(ItemParameters(a, b, np.zeros(60), np.ones(60)), error=0.8)
    found = power(steep, 0.3)
    assert (
        questions_needed(QuestionSource(steep.parameters, np.full(60, 1 / 60)), found.theta, PowerSettings())
        > 1.4 * found.questions
    )
    assert found.low < 0.8 * found.questions < 1.2 * found.questions < found.high


def test_a_gap_in_share_right_is_found_in_ability() -> None:
    items, even = pool(guessing=True), np.full(60, 1 / 60)
    up, down = abilities_apart(QuestionSource(items, even), 0.1, 0.5, "accuracy")
    assert (up + down) / 2 == pytest.approx(0.5)
    shares = [kernels.probability(each, *items).mean() for each in (up, down)]
    assert shares[0] - shares[1] == pytest.approx(0.1)


@pytest.mark.parametrize("design", ["paired", "independent"])
@pytest.mark.parametrize(("gap", "at", "guessing"), [(0.6, 0.0, False), (0.8, 0.6, True)])
def test_ability_estimates_reject_as_often_as_promised(gap: float, at: float, guessing: bool, design: str) -> None:
    items, even = pool(guessing=guessing), np.full(60, 1 / 60)
    theta = (at + gap / 2, at - gap / 2)
    count = int(np.ceil(questions_needed(QuestionSource(items, even), theta, PowerSettings("ability", design))))
    rng = np.random.default_rng(2)
    rejected = []
    for _ in range(25):
        chosen = rng.integers(0, 60, (2, count))
        if design == "paired":
            chosen[1] = chosen[0]
        scored = []
        for side in (0, 1):
            own = ItemParameters(*(values[chosen[side]] for values in items))
            answers = rng.binomial(1, kernels.probability(theta[side], *own), (80, count)).astype(float)
            scored.append(score_counts(answers, np.ones_like(answers), own, "wle"))
        first, second = scored
        rejected += (np.abs(first.theta - second.theta) > ndtri(0.975) * np.hypot(first.sd, second.sd)).tolist()
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("design", ["paired", "independent"])
def test_shares_right_reject_as_often_as_promised(design: str) -> None:
    items, even = pool(guessing=True), np.full(60, 1 / 60)
    theta = abilities_apart(QuestionSource(items, even), 0.08, 0.3, "accuracy")
    count = int(np.ceil(questions_needed(QuestionSource(items, even), theta, PowerSettings("accuracy", design))))
    rng = np.random.default_rng(3)
    chosen = rng.integers(0, 60, (4000, 2, count))
    if design == "paired":
        chosen[:, 1] = chosen[:, 0]
    first, second = (
        rng.binomial(1, kernels.probability(theta[side], *items)[chosen[:, side]]).astype(int) for side in (0, 1)
    )
    gap = (first - second).mean(axis=1)
    if design == "paired":
        variance = (first != second).mean(axis=1)  # McNemar
    else:
        middle = (first.mean(axis=1) + second.mean(axis=1)) / 2
        variance = 2 * middle * (1 - middle)
    assert np.mean(np.abs(gap) > ndtri(0.975) * np.sqrt(variance / count)) == pytest.approx(0.8, abs=0.03)


def test_intervals_of_the_number_of_questions_cover_the_truth() -> None:
    rng = np.random.default_rng(5)
    inside = []
    for seed in range(120):  # exams of 40 from a population of 4,000 questions
        population = pool(4000, 9)
        chosen = rng.choice(4000, 40, replace=False)
        made = calibrated(ItemParameters(*(values[chosen] for values in population)), error=0.1, seed=seed)
        found = power(made, 0.3, seed=seed)
        truth = questions_needed(QuestionSource(population, np.full(4000, 1 / 4000)), (0.15, -0.15), PowerSettings())
        inside.append(found.low <= np.ceil(truth) <= found.high)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.08)


def test_more_power_smaller_gaps_and_distant_abilities_need_more(fit: irt.Fit) -> None:
    base = power(fit, 0.3).questions
    assert power(fit, 0.3, power=0.9).questions > base
    assert power(fit, 0.3, level=0.01).questions > base
    assert power(fit, 0.15).questions == pytest.approx(4 * base, rel=0.05)
    assert power(fit, 0.3, at=3.0).questions > 2 * base


def test_plans_that_make_no_sense_are_refused(fit: irt.Fit) -> None:
    for wrong, message in (
        ({"gap": 0.0}, "gap: found 0; wanted a gap above 0"),
        ({"gap": 0.2, "power": 1.0}, "power 1 is not a probability"),
        ({"gap": 0.2, "level": 0.0}, "level 0 is not a probability"),
        ({"gap": 0.2, "scale": "logit"}, "scale: found 'logit'; wanted ability or accuracy"),
        ({"gap": 0.2, "design": "both"}, "design: found 'both'; wanted paired or independent"),
        (
            {"gap": 1e6},
            "abilities from -500000 to 500000 are asked for, and outside -8 to 8 no questions tell anything",
        ),
        ({"gap": 0.2, "at": np.nan}, "abilities from nan to nan are asked for"),
        ({"gap": 1.2, "scale": "accuracy"}, "gap 1.2 in share right is more than any two abilities around 0 have"),
    ):
        with pytest.raises(ValueError, match=message):
            power(fit, **wrong)
    with pytest.raises(OutOfReachError, match="abilities from 900 to 900 are asked for"):
        detectable_gap(fit, 10, at=900)
    with pytest.raises(ValueError, match="questions is 0; wanted a whole number of at least 1"):
        detectable_gap(fit, 0)
    with pytest.raises(ValueError, match="1 question like these does not show any gap"):
        detectable_gap(fit, 1)
