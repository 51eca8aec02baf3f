"""Asking: nothing twice, batches whole, long passages cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from examcore import Likelihoods, NoReply, Prompt, Question, ReplyStore
from grading.graders._assessor import CachedAssessor, PassagePrompt, choice_task
from rag import NO_CHOICE, Task, TaskAnswer, TaskFailure
from tests.grading.scripted import asking
from tests.scripted_model import ScriptedModel


def asked(count: int) -> list[PassagePrompt]:
    return [PassagePrompt(f"q{n}", Prompt(f"Read: text {n}. Well?"), f"text {n}", 5) for n in range(count)]


def test_what_is_in_the_store_is_not_asked_again(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: prompt.user[::-1])
    first = list(asking(model, tmp_path).replies(asked(5)))
    again = asking(model, tmp_path)
    assert list(again.replies(asked(7)))[:5] == first
    assert len(model.asked) == 7
    assert (again.usage.calls, again.usage.cached) == (7, 5)


def test_the_same_prompt_is_asked_once(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "yes")
    assert [one.value for one in asking(model, tmp_path).replies([*asked(2), *asked(2)])] == ["yes"] * 4
    assert len(model.asked) == 2


def test_another_model_and_another_length_are_asked_anew(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "yes")
    list(asking(model, tmp_path).replies(asked(1)))
    list(asking(model, tmp_path).replies([asked(1)[0]._replace(max_tokens=9)]))
    model.name = "other"
    list(asking(model, tmp_path).replies(asked(1)))
    assert len(model.asked) == 3


def test_a_batch_of_which_a_part_is_missing_is_written_as_a_whole(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: prompt.user)
    list(asking(model, tmp_path, batch=4).replies(asked(6)))
    assert [len(one) for one in model.batches] == [4, 2]
    list(asking(model, tmp_path, batch=4).replies(asked(8)))
    assert [len(one) for one in model.batches] == [4, 2, 4]


def test_a_long_passage_is_cut_and_the_question_stays(tmp_path: Path) -> None:
    model = ScriptedModel(lambda prompt: prompt.user, context_tokens=60)
    passage = " ".join(f"w{n}" for n in range(200))
    long = PassagePrompt("q", Prompt(f"Read this. {passage}\n\nQuestion: what is w3?"), passage, 10)
    (found,) = asking(model, tmp_path).replies([long])
    assert isinstance(found.value, str)
    assert found.value.startswith("Read this. w0 w1")
    assert found.value.endswith("\n\nQuestion: what is w3?")
    kept = found.value.removeprefix("Read this. ").removesuffix("\n\nQuestion: what is w3?")
    assert passage.startswith(kept)
    assert found.cut == len(passage) - len(kept) > 0


def test_a_question_longer_than_the_model_reads_is_refused(tmp_path: Path) -> None:
    model = ScriptedModel(context_tokens=20)
    long = PassagePrompt("q7", Prompt("why " * 40), "", 10)
    with pytest.raises(ValueError, match=r"question 'q7': its prompt of \d+ tokens exceeds what scripted reads"):
        list(asking(model, tmp_path).replies([long]))


class Falling:
    """An assessor that loses every second task."""

    def __init__(self) -> None:
        self.settings = {"name": "falling"}

    def check(self, tasks: Sequence[Task]) -> None:
        pass

    def answer(self, tasks: Sequence[Task]) -> Iterator[TaskAnswer | TaskFailure]:
        for place in reversed(range(len(tasks))):
            said = TaskAnswer(place, NO_CHOICE, Likelihoods((), (1,), 3), (), 0.1, tasks[place].prompt.user)
            yield TaskFailure(place, "timeout") if place % 2 else said


def test_what_was_lost_says_why_and_is_asked_again(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite")
    found = [one.value for one in CachedAssessor(Falling(), store).replies(asked(4))]
    assert found[1] == found[3] == NoReply("timeout")
    assert found[0] == "Read: text 0. Well?"
    assert len(store) == 2


def test_choices_are_scored_as_pipelines_score_them(tmp_path: Path) -> None:
    model = ScriptedModel()
    question = Question("q", "What lifts bread?", ("yeast", "sand"), 0)
    tasks = [choice_task(question, ""), choice_task(question, "The yeast lifts it.")]
    closed, read = asking(model, tmp_path).scored(tasks)
    assert not isinstance(closed.value, NoReply)
    assert not isinstance(read.value, NoReply)
    assert closed.value.sums == (-5.0, -5.0)
    assert read.value.sums == (-1.0, -5.0)
    before = len(model.asked)
    assert list(asking(model, tmp_path).scored(tasks)) == [closed, read]
    assert len(model.asked) == before
