"""The graded response model: closed forms, automatic differentiation, and its two-category case."""

import numpy as np

from irt import _graded as graded
from irt import kernels

THETA = np.linspace(-4, 4, 41)
A = np.array([1.3, 0.7, -1.1])
TOP = np.array([4, 2, 3])
THRESHOLDS = graded.padded(np.array([[-1.5, -0.2, 0.1, 1.4], [-0.5, 0.9, 0.0, 0.0], [1.0, 0.2, -0.8, 0.0]]), TOP)


def test_category_probabilities_sum_to_one_and_stop_at_the_highest_score() -> None:
    p = graded.probability(THETA[:, None], A, THRESHOLDS, TOP)
    np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=1e-12)
    assert (p[:, 1, 3:] == 0).all()
    assert (p[:, 0] > 0).all()


def test_log_probabilities_are_differences_of_the_cumulative_curves() -> None:
    reached = graded.cumulative(THETA[:, None], A, THRESHOLDS, TOP)
    padded = np.concatenate([np.ones((41, 3, 1)), reached, np.zeros((41, 3, 1))], axis=-1)
    np.testing.assert_allclose(
        graded.probability(THETA[:, None], A, THRESHOLDS, TOP), padded[..., :-1] - padded[..., 1:], atol=1e-14
    )


def test_log_probabilities_stay_finite_where_differences_of_sigmoids_cancel() -> None:
    far = graded.log_probability(np.array([-60.0, 60.0]), 1.0, np.array([0.0, 1.0]), 2)
    # P(1) = sigmoid(x) - sigmoid(x - 1) -> exp(x) (1 - e^-1) in the left tail and exp(-x) (e - 1) in the right one.
    np.testing.assert_allclose(far[:, 1], [-60 + np.log(1 - np.exp(-1)), -60 + np.log(np.e - 1)], rtol=1e-12)


def test_two_categories_are_the_two_parameter_model() -> None:
    a, b, top = A[:2], THRESHOLDS[:2, :1], np.ones(2, dtype=int)
    right, wrong = kernels.log_probability(THETA[:, None], a, b[:, 0])
    logs = graded.log_probability(THETA[:, None], a, b, top)
    np.testing.assert_allclose(logs, np.stack([wrong, right], axis=-1), rtol=1e-12)
    np.testing.assert_allclose(
        graded.information(THETA[:, None], a, b, top), kernels.information(THETA[:, None], a, b[:, 0]), rtol=1e-10
    )


def test_expected_score_is_that_of_the_distribution() -> None:
    p = graded.probability(THETA[:, None], A, THRESHOLDS, TOP)
    score = np.arange(5)
    mean = p @ score
    np.testing.assert_allclose(graded.GradedParameters(A, THRESHOLDS, TOP).share(THETA[:, None]) * TOP, mean)


def test_information_is_the_expected_negative_second_derivative_by_automatic_differentiation() -> None:
    import jax

    def curve(theta: object, item: int, k: int) -> object:
        return graded.log_probability(theta, A[item], jax.numpy.asarray(THRESHOLDS[item]), TOP[item])[k]

    curvature = jax.jit(jax.vmap(jax.grad(jax.grad(curve)), in_axes=(0, None, None)), static_argnums=(1, 2))
    with jax.enable_x64(True):
        for item in range(3):
            p = graded.probability(THETA, A[item], THRESHOLDS[item], TOP[item])
            wanted = np.zeros(len(THETA))
            for k in range(TOP[item] + 1):
                wanted -= p[:, k] * np.asarray(curvature(jax.numpy.asarray(THETA), item, k))
            found = graded.information(THETA, A[item], THRESHOLDS[item], TOP[item])
            np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_information_is_samejimas_sum_over_categories() -> None:
    step = 1e-5
    ends = [graded.probability(THETA + s * step, A[0], THRESHOLDS[0], 4) for s in (1, -1)]
    slope, p = (ends[0] - ends[1]) / (2 * step), graded.probability(THETA, A[0], THRESHOLDS[0], 4)
    np.testing.assert_allclose(graded.information(THETA, A[0], THRESHOLDS[0], 4), (slope**2 / p).sum(-1), rtol=1e-6)


def test_more_categories_of_the_same_item_never_inform_less() -> None:
    whole = graded.information(THETA, 1.3, THRESHOLDS[0], 4)
    halves = graded.information(THETA, 1.3, THRESHOLDS[0, 1:2], 1)
    assert (whole > halves).all()


def test_log_likelihood_reads_the_category_of_each_answer_and_skips_what_was_not_asked() -> None:
    scores = np.array([[3.0, np.nan, 0.0], [0.0, 2.0, 3.0]])
    theta = np.array([0.3, -0.4])
    logs = graded.log_probability(theta[:, None], A, THRESHOLDS, TOP)
    found = graded.GradedParameters(A, THRESHOLDS, TOP).log_likelihood(scores, theta)
    np.testing.assert_allclose(
        found, [[logs[0, 0, 3], 0, logs[0, 2, 0]], [logs[1, 0, 0], logs[1, 1, 2], logs[1, 2, 3]]]
    )


def test_mean_threshold_and_padding_leave_out_what_an_item_does_not_have() -> None:
    np.testing.assert_allclose(graded.mean_threshold(THRESHOLDS, TOP), [-0.05, 0.2, 0.4 / 3])
    assert THRESHOLDS[1].tolist() == [-0.5, 0.9, 0.9, 0.9]
    assert graded.real_thresholds(TOP).sum(axis=1).tolist() == TOP.tolist()
