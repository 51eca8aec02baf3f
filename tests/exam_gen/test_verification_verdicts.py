import pytest

from exam_gen.drafting._verification import Thresholds, judge, means
from examcore import Likelihoods

WRONG = ("red", "green", "blue", "black")
LIMITS = Thresholds(support=-1.0, margin=2.0, lift=1.0)


def likelihoods(*sums: float, tokens: int = 1) -> Likelihoods:
    return Likelihoods(sums, (tokens,) * len(sums), 10)


def test_support_is_the_mean_over_the_tokens_of_the_key():
    assert means(likelihoods(-1.8, -3.0, tokens=2)) == [-0.9, -1.5]


def test_only_wrong_answers_that_trail_by_the_margin_may_be_used():
    verdict = judge(likelihoods(-0.5, -1.0, -3.0, -4.0, -5.0), likelihoods(-4.0, -4.0, -4.0, -4.0, -4.0), WRONG, LIMITS)
    assert verdict.reason is None
    assert [option.text for option in verdict.options] == ["green", "blue", "black"]
    assert verdict.margin == 2.5
    assert verdict.lift == 3.5


def test_a_question_with_two_usable_wrong_answers_fails():
    verdict = judge(likelihoods(-0.5, -1.0, -1.0, -4.0, -5.0), likelihoods(-4.0, -4.0, -4.0, -4.0, -4.0), WRONG, LIMITS)
    assert verdict.reason == "wrong answers as likely as the key"


def test_a_key_that_needs_no_passage_fails():
    verdict = judge(likelihoods(-0.5, -5.0, -5.0, -5.0, -5.0), likelihoods(-0.9, -4.0, -4.0, -4.0, -4.0), WRONG, LIMITS)
    assert verdict.reason == "key known without the passage"


def test_closed_book_likelihoods_are_per_token():
    closed = Likelihoods((-4.0, -6.0, -6.0, -6.0, -6.0), (2, 3, 3, 3, 3), 10)
    verdict = judge(likelihoods(-0.5, -5.0, -5.0, -5.0, -5.0), closed, WRONG, LIMITS)
    assert verdict.closed == -2.0
    assert {option.closed for option in verdict.options} == {-2.0}


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("agreement", 7.0, "0 to 1"),
        ("rival", -0.1, "0 to 1"),
        ("support", 0.5, "0 or less"),
        ("margin", -1.0, "0 or more"),
        ("fit", -1.0, "0 or more"),
        ("lift", float("nan"), "a finite number"),
        ("judgment", float("inf"), "a finite number"),
    ],
)
def test_a_threshold_that_nothing_could_reach_is_refused(name: str, value: float, wanted: str) -> None:
    with pytest.raises(ValueError, match=f"thresholds: {name} is {value:g}; wanted {wanted}"):
        Thresholds(**{name: value})
