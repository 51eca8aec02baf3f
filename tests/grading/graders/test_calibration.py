"""The margin of EXAM's own reader: models of known behaviour, what it promises on new questions, and refusals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from examcore import Exam, Likelihoods, NoReply, Prompt, Question
from grading.graders._assessor import AssessorReply
from grading.graders._calibration import (
    Calibration,
    Trial,
    TrialLikelihoods,
    calibrate,
    read_margin,
    read_trials,
    trials_of,
)
from tests.grading.scripted import asking
from tests.scripted_model import ScriptedModel

CHOICES = ("yeast", "sand", "glass", "iron")


def exam(size: int, per_document: int = 1, topics: int = 1) -> Exam:
    """Questions whose passage holds the key and nothing of other passages."""
    return Exam(
        tuple(
            Question(
                f"q{n}", f"What about {n}?", (f"key{n:03}", "sand", "glass", "iron"), 0,
                document_id=f"d{n // per_document}", topic=f"t{n % topics}", context=f"The text says key{n:03} .",
            )
            for n in range(size)
        )
    )  # fmt: skip


def lifted(*lifts: Sequence[float]) -> list[Likelihoods]:
    return [Likelihoods(tuple(-9 + one for one in lift), (1,) * len(lift), 9) for lift in lifts]


def simulated(size: int, rng: np.random.Generator, *, gold: float = 0.0, others: int = 1) -> list[TrialLikelihoods]:
    """Texts move each choice by a standard normal; the gold passage moves the key by `gold` besides."""
    reads = []
    for n in range(size):
        question = Question(f"q{n}", "Which?", CHOICES, n % 4, document_id=f"d{n}", context="x")
        own, *rest = rng.normal(size=(1 + others, 4))
        own[n % 4] += gold
        closed, found, *other = lifted([0.0] * 4, own, *rest)
        reads.append(TrialLikelihoods(Trial(question, "x", ("y",) * others), closed, found, tuple(other)))
    return reads


def calibrated(model: ScriptedModel, size: int, path: Path) -> Calibration:
    found = list(read_trials(trials_of(exam(size)), asking(model, path)))
    return calibrate([one for one in found if isinstance(one, TrialLikelihoods)])


class Fickle(ScriptedModel):
    """Likelihoods that change with the prompt and say nothing of what stands in it."""

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        rng = np.random.default_rng(list(prompt.user.encode()))
        return Likelihoods(tuple(rng.normal(-9, 1, len(continuations))), (1,) * len(continuations), 9)


def test_a_model_that_reads_answers_all_from_their_passage_and_none_from_another(tmp_path: Path) -> None:
    found = calibrated(ScriptedModel(), 40, tmp_path)
    assert found.margin == 0
    assert (found.unsupported.estimate, found.answered.estimate, found.right.estimate) == (0, 1, 1)
    assert found.unsupported.high < 0.08 < 0.92 < found.answered.low


def test_a_model_that_does_not_read_answers_as_rarely_from_the_right_passage(tmp_path: Path) -> None:
    found = calibrated(Fickle(), 400, tmp_path)
    assert found.margin > 1
    # Standard errors of 400 questions and of the margin itself, .011 each, are .016 together: three of them.
    assert found.unsupported.estimate == pytest.approx(0.05, abs=0.047)
    assert found.answered.estimate == pytest.approx(0.05, abs=0.047)
    assert found.right.estimate < found.answered.estimate


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_new_passages_without_support_are_answered_as_rarely_as_was_asked_for(share: float) -> None:
    """Over calibrations of 39 questions each, fresh passages exceed the margin in the share wanted, and hardly less."""
    rng = np.random.default_rng(3)
    fresh = np.array([one.unsupported for one in simulated(3000, rng)])
    rates = [float(np.mean(fresh > calibrate(simulated(39, rng), share=share).margin)) for _ in range(150)]
    assert np.mean(rates) == pytest.approx(share, abs=0.01)


def test_the_rates_are_those_of_questions_held_out() -> None:
    """Chosen and judged on the same questions, at most the share would be answered; held out, it may be more."""
    rng = np.random.default_rng(8)
    found = [calibrate(simulated(60, rng, gold=4)) for _ in range(60)]
    assert np.mean([one.unsupported.estimate for one in found]) == pytest.approx(0.05, abs=0.015)
    assert max(one.unsupported.estimate for one in found) > 0.05
    covered = [one.unsupported.low <= 0.05 <= one.unsupported.high for one in found]
    assert np.mean(covered) > 0.75


def test_a_gold_passage_is_answered_as_often_as_its_support_exceeds_the_margin() -> None:
    rng = np.random.default_rng(4)
    found = calibrate(simulated(500, rng, gold=4))
    own = [one.choice(found.margin, gold=True) for one in simulated(3000, rng, gold=4)]
    right = np.mean([choice == n % 4 for n, choice in enumerate(own)])
    assert found.right.low - 0.03 < right < found.right.high + 0.03
    assert found.answered.estimate >= found.right.estimate > 0.6


def test_articles_of_more_passages_need_a_wider_margin() -> None:
    margins = [calibrate(simulated(400, np.random.default_rng(5), others=others)).margin for others in (1, 3, 9)]
    assert margins == sorted(margins)
    assert margins[2] > margins[0] + 0.3


def test_other_passages_are_of_other_documents_and_of_the_topic_where_it_has_them() -> None:
    for one in trials_of(exam(24, per_document=2, topics=2), passages=3, seed=1):
        known = {other.context: other for other in exam(24, per_document=2, topics=2).questions}
        drawn = [known[text] for text in one.others]
        assert len({other.id for other in drawn}) == 3
        assert one.question.document_id not in {other.document_id for other in drawn}
        assert {other.topic for other in drawn} == {one.question.topic}
    alone = trials_of(exam(4, topics=4), passages=2)
    assert all(len(one.others) == 2 for one in alone)
    assert trials_of(exam(24), seed=1) == trials_of(exam(24), seed=1) != trials_of(exam(24), seed=2)


def test_a_question_without_a_reply_is_told_apart() -> None:
    """A server may fail on one prompt of a question, and the question is not read without it."""
    known = lifted(*[[0.0] * 4] * 5)
    replies = iter([*map(AssessorReply, known), AssessorReply(NoReply("busy"))])

    class Busy:
        def scored(self, tasks: Sequence[object]) -> Iterator[AssessorReply[Likelihoods]]:
            assert len(tasks) == 6
            return replies

    first, second = read_trials(trials_of(exam(2)), Busy())  # type: ignore[arg-type]
    assert isinstance(first, TrialLikelihoods)
    assert second == NoReply("busy")


@pytest.mark.parametrize(
    ("size", "share", "message"),
    [
        (20, 0.05, "questions: 16 to choose a margin on; wanted at least 19 for a share of 0.05"),
        (4, 0.5, "questions: on 4 documents; wanted at least 5, to hold some of them out"),
        (40, 1.0, "share: 1; wanted between 0 and 1"),
    ],
)
def test_too_little_to_calibrate_on_is_refused(size: int, share: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibrate(simulated(size, np.random.default_rng(0)), share=share)


def test_a_question_with_nothing_to_be_confused_with_is_refused() -> None:
    with pytest.raises(ValueError, match="question q0: 1 passages of other documents; wanted 2 that cannot answer it"):
        trials_of(exam(2), passages=2)


def test_a_margin_is_a_number_or_the_file_of_a_calibration_for_the_same_model(tmp_path: Path) -> None:
    file = tmp_path / "margin.json"
    file.write_text('{"format": 1,\n "margin": 1.5,\n "model": "m"}')
    assert (read_margin(None, "m"), read_margin("0.5", "m"), read_margin(str(file), "m")) == (2.0, 0.5, 1.5)
    with pytest.raises(ValueError, match=r'margin.json: is of model "m"; wanted that of "other"'):
        read_margin(str(file), "other")
    with pytest.raises(FileNotFoundError, match=r"nothing\.json: no such file"):
        read_margin("nothing.json", "m")
    for text in ("-1", "nan", "inf"):
        with pytest.raises(ValueError, match=f"--margin {text}; wanted a number of nats from 0 on"):
            read_margin(text, "m")
    file.write_text('{"threshold": 1}')
    with pytest.raises(ValueError, match=r"margin.json: margin null; wanted a file of ragexam grade margin"):
        read_margin(str(file), "m")
