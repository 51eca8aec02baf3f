"""Prompts too long for a model: passages go from the last, then the first is cut at its end, and nothing else is."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Exam, Likelihoods, Prompt, Question
from rag import (
    AnswerStore,
    Pipeline,
    Shot,
    Sitting,
    SittingSettings,
    Task,
    build_retriever,
    exam_prompt,
    fit_passages,
    load_model,
    sit,
    stored_prompts,
)
from rag.answering._letters import letters_prompt
from rag.answering._truncation import SPECIAL_TOKENS, FittedPrompt, PromptFitter
from rag.weights._sources import load_tokenizer

SHOTS = (Shot("What melts sand?", "a furnace", "A furnace melts it.", ("a river", "a furnace")),)


class Reader:
    """Counts words; has read what it was asked."""

    def __init__(self, context_tokens: int) -> None:
        self.name, self.context_tokens = "reader", context_tokens
        self.read: list[Prompt] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        self.read += prompts
        return ["B"] * len(prompts)

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self.read.append(prompt)
        return Likelihoods(tuple(-float(len(one)) for one in continuations), (1,) * len(continuations), 1)


def task(question: Question, chunks: Sequence[Chunk], shots: Sequence[Shot] = ()) -> Task:
    ids = tuple(chunk.id for chunk in chunks)
    return Task(question, exam_prompt(question, chunks, shots), ids, (), tuple(chunks), tuple(shots))


def words(prompt: Prompt) -> int:
    return len(f"{prompt.user}{prompt.reply}".split()) + SPECIAL_TOKENS


@pytest.mark.parametrize("write", [exam_prompt, letters_prompt])
@pytest.mark.parametrize("shots", [(), SHOTS])
def test_the_longest_prompt_that_fits_is_read_at_every_length(
    questions: list[Question], chunks: list[Chunk], write: Any, shots: Sequence[Shot]
) -> None:
    asked = task(questions[1], chunks[:3], shots)
    whole, bare = write(asked.question, chunks[:3], shots), write(asked.question, (), shots)
    seen: list[FittedPrompt] = []
    for most in range(words(bare), words(whole) + 2):
        found = fit_passages(asked, Reader(most), write, ())
        assert words(found.prompt) <= most
        kept = list(chunks[: found.read])
        lost = sum(len(one.text) for one in chunks[:3]) - found.cut
        if kept and lost < sum(len(one.text) for one in kept):
            assert found.read == 1, "only what is left alone is cut"
            kept = [replace(kept[0], text=kept[0].text[:lost])]
            assert chunks[0].text[lost : lost + 1].isspace(), "between words"
        assert found.prompt == write(asked.question, kept, shots)
        seen.append(found)
    assert [one.cut for one in seen] == sorted((one.cut for one in seen), reverse=True)
    assert {one.read for one in seen} == {0, 1, 2, 3}
    assert len({one.cut for one in seen if one.read == 1}) > 5, "cut word by word"
    assert seen[0].prompt == bare
    assert seen[-1] == FittedPrompt(whole, 3, 0)


def test_what_fits_is_not_touched(questions: list[Question], chunks: list[Chunk]) -> None:
    asked = task(questions[0], chunks, SHOTS)
    assert fit_passages(asked, Reader(100_000), exam_prompt, (" x",)) == FittedPrompt(asked.prompt, len(chunks), 0)
    assert fit_passages(asked, Reader(words(asked.prompt)), exam_prompt, ("",)) == FittedPrompt(
        asked.prompt, len(chunks), 0
    )


def test_the_longest_continuation_and_what_is_written_have_room(questions: list[Question], chunks: list[Chunk]) -> None:
    asked = task(questions[0], chunks[:1])
    most = words(asked.prompt)
    assert fit_passages(asked, Reader(most + 3), exam_prompt, (" a", " a b c")).cut == 0
    assert fit_passages(asked, Reader(most + 2), exam_prompt, (" a", " a b c")).cut > 0
    assert fit_passages(asked, Reader(most + 8), exam_prompt, (), room=8).cut == 0
    assert fit_passages(asked, Reader(most + 7), exam_prompt, (), room=8).cut > 0


def test_question_choices_and_shots_alone_must_fit(questions: list[Question], chunks: list[Chunk]) -> None:
    asked = task(questions[0], chunks, SHOTS)
    bare = words(exam_prompt(questions[0], (), SHOTS))
    message = (
        f"question 'q-oder': its prompt of {bare} tokens exceeds what reader reads, even without passages; wanted at"
    )
    with pytest.raises(ValueError, match=message):
        fit_passages(asked, Reader(bare - 1), exam_prompt, ())


def test_a_text_without_spaces_is_cut_between_characters(questions: list[Question]) -> None:
    class Characters(Reader):
        def count_tokens(self, text: str) -> int:
            return len(text)

    chunk = Chunk("c", "d", "灯台守は夜に船を数える。" * 30, 0, 360)
    most = len(exam_prompt(questions[0], [chunk]).user) - 100
    found = fit_passages(task(questions[0], [chunk]), Characters(most), exam_prompt, ())
    assert found.read == 1
    assert len(f"{found.prompt.user}{found.prompt.reply}") == most - SPECIAL_TOKENS


def plainly_fitted(task: Task, most: int, count: Callable[[str], int], continuations: Sequence[str]) -> FittedPrompt:
    """The rule written down once more: each prompt is counted wholly, with every continuation."""

    def made(passages: Sequence[Chunk]) -> Prompt:
        return exam_prompt(task.question, passages, task.shots)

    def fits(passages: Sequence[Chunk]) -> bool:
        found = made(passages)
        return max(count(f"{found.user}{found.reply}{one}") for one in continuations) + SPECIAL_TOKENS <= most

    whole = sum(len(one.text) for one in task.chunks)
    for number in range(len(task.chunks), 0, -1):
        if fits(task.chunks[:number]):
            left = sum(len(one.text) for one in task.chunks[number:])
            return FittedPrompt(made(task.chunks[:number]), number, left)
    text = task.chunks[0].text
    end = bisect_left(range(1, len(text) + 1), True, key=lambda n: not fits([replace(task.chunks[0], text=text[:n])]))
    for cut in (max((n for n in range(max(end - 40, 0), end + 1) if text[n].isspace()), default=0), end):
        kept = [replace(task.chunks[0], text=text[:cut].rstrip() if cut < end else text[:cut])]
        if kept[0].text and fits(kept):
            return FittedPrompt(made(kept), 1, whole - len(kept[0].text))
    return FittedPrompt(made(()), 0, whole)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_shortcuts_cut_where_counting_everything_does(
    tiny_folder: Callable[..., Path], questions: list[Question], chunks: list[Chunk], family: str
) -> None:
    tokenizer = load_tokenizer(str(tiny_folder(family)))

    class Tokens(Reader):
        def count_tokens(self, text: str) -> int:
            return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    drawn = random.Random(5)
    continuations = [f" {one}" for one in questions[1].choices]
    spoken = " ".join(one.text for one in chunks).split()
    long = [Chunk(f"long{n}", "d", " ".join(drawn.choices(spoken, k=900)), 0, 1) for n in range(2)]
    seen = set()
    for passages in (long[:1], long, [*chunks[:4], *long]):
        asked = task(questions[1], passages, SHOTS)
        for most in (130, 151, 180, 333, 412, 600):
            model = Tokens(most)
            found = fit_passages(asked, model, exam_prompt, continuations)
            assert found == plainly_fitted(asked, most, model.count_tokens, continuations)
            seen.add(found.read)
    assert seen >= {1, 2, 4}


class Counting(Reader):
    """Knows how many characters it was given to count."""

    characters = 0

    def count_tokens(self, text: str) -> int:
        self.characters += len(text)
        return super().count_tokens(text)


@pytest.mark.parametrize("passages", [1, 4000])
def test_what_is_counted_grows_with_what_is_read_not_with_what_is_found(
    questions: list[Question], passages: int
) -> None:
    sentence, most = "The keeper counts ships and lamps by night. ", 500
    text = sentence * (4000 // passages)
    found = [Chunk(f"c{n}", "d", text, 0, len(text)) for n in range(passages)]
    model = Counting(most)
    fitted = fit_passages(task(questions[0], found), model, exam_prompt, (" a", " b"))
    assert most - 20 < words(fitted.prompt) <= most
    assert model.characters < 60 * most * len(sentence), "of 4,000 sentences, most of which would not fit"


def test_a_question_too_long_by_itself_is_refused_without_trying_passages(questions: list[Question]) -> None:
    long = replace(questions[0], stem="Why " * 50_000)
    found = [Chunk(f"c{n}", "d", "Ships. " * 2000, 0, 14_000) for n in range(20)]
    model = Counting(500)
    with pytest.raises(
        ValueError, match=r"question 'q-oder': its prompt of 500\d\d tokens exceeds what reader reads, even"
    ):
        fit_passages(task(long, found), model, exam_prompt, (" a", " b"))
    assert model.characters < 2 * len(long.stem)


def test_what_was_checked_is_not_fitted_again(questions: list[Question], chunks: list[Chunk]) -> None:
    model = Counting(40)
    fitter = PromptFitter(model, exam_prompt, lambda question: question.choices)
    tasks = [task(one, chunks[:3]) for one in questions]
    fitter.check(tasks)
    checked, before = [fitter(one) for one in tasks], model.characters
    assert checked == [fit_passages(one, Reader(40), exam_prompt, one.question.choices) for one in tasks]
    assert model.characters == before > 0
    fitter.check(tasks[:1])
    assert fitter(tasks[1]) == checked[1]
    assert model.characters > before


def test_a_real_model_reads_to_its_last_token(
    tiny_folder: Callable[..., Path], questions: list[Question], chunks: list[Chunk]
) -> None:
    model: Any = load_model(str(tiny_folder("llama")), dtype="float32")
    long = [replace(one, text=" ".join([one.text] * 40)) for one in chunks]
    choices = [f" {one}" for one in questions[2].choices]
    for retrieved in (long[2:3], long[2:4]):
        found = fit_passages(task(questions[2], retrieved), model, exam_prompt, choices)
        assert found.cut > 0
        assert found.read == 1
        said = model.log_likelihoods(found.prompt, choices)
        assert model.context_tokens - 12 < said.prompt_tokens + max(said.tokens) <= model.context_tokens


@pytest.fixture
def room(exam: Exam, chunks: list[Chunk], pool: list[Question], tmp_path: Path) -> Callable[..., Any]:
    def go(path: str, model: Reader, pipelines: Sequence[Pipeline], exam: Exam = exam) -> AnswerStore:
        store = AnswerStore(tmp_path / path)
        kinds = {kind: build_retriever(kind, chunks) for kind in ("closed-book", "bm25")}
        sit(Sitting(exam, pipelines, chunks, {"one": lambda: model}, kinds, pool, SittingSettings(k=3)), store)
        return store

    return go


PIPELINES = [Pipeline("one", "bm25", shots) for shots in (0, 1)] + [Pipeline("one", "closed-book")]


def test_what_is_cut_does_not_depend_on_the_order_of_asking(room: Callable[..., Any], exam: Exam) -> None:
    mixed = list(PIPELINES)
    random.Random(1).shuffle(mixed)
    backwards = Exam(exam.questions[::-1])
    with (
        room("a.sqlite", Reader(45), PIPELINES) as first,
        room("b.sqlite", Reader(45), mixed) as second,
        room("c.sqlite", Reader(45), PIPELINES, backwards) as third,
    ):
        kept = [{replace(one, seconds=0.0) for one in store.answers()} for store in (first, second, third)]
    assert kept[0] == kept[1] == kept[2]
    assert {bool(one.cut) for one in kept[0]} == {True, False}


def test_cut_answers_are_counted_and_say_what_was_read(room: Callable[..., Any], exam: Exam) -> None:
    with room("whole.sqlite", Reader(10_000), PIPELINES) as whole, room("cut.sqlite", Reader(45), PIPELINES) as cut:
        before = {(one.pipeline, one.question): one for one in whole.answers()}
        counts = {name: one.truncated for name, one in cut.outcomes().items()}
        assert counts["one+closed-book+icl0"] == 0
        assert counts["one+bm25+icl1"] >= counts["one+bm25+icl0"] > 0
        for one in cut.answers():
            full = before[one.pipeline, one.question]
            assert one.passages == full.passages[: len(one.passages)]
            assert (one.cut == 0) == (one == replace(full, seconds=one.seconds))
        assert not any(one.cut for one in whole.answers())


def test_an_export_is_refused_where_no_one_read_the_whole_passages(
    room: Callable[..., Any], exam: Exam, chunks: list[Chunk], pool: list[Question]
) -> None:
    with (
        room("cut.sqlite", Reader(45), PIPELINES[:1]) as store,
        pytest.raises(
            ValueError, match=r"retriever bm25 was asked \d questions; wanted all 4 .*with passages that fit"
        ),
    ):
        stored_prompts(store, exam, chunks, pool)
