"""Sitting: what is pending is answered once, and a run broken off anywhere ends like one that was not."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from examcore import Arrival, Chunk, Exam, FailedError, Likelihoods, NoReply, Prompt, Question
from rag import (
    Answer,
    AnswerStore,
    Pipeline,
    Retriever,
    Sitting,
    SittingSettings,
    build_retriever,
    grid_of,
    load_model,
    sit,
)
from rag.answering._prompts import NEUTRAL
from rag.answering._tasks import within_budget
from rag.retrieval._protocol import searched_text

GRID = grid_of({"llms": ["one", "two"], "retrievers": ["closed-book", "oracle", "bm25"], "shots": [0, 1, 2]}).pipelines


def retrievers(chunks: Sequence[Chunk]) -> dict[str, Retriever]:
    return {kind: build_retriever(kind, chunks) for kind in ("closed-book", "oracle", "bm25")}


def timeless(store: AnswerStore) -> list[Answer]:
    return [replace(one, seconds=0.0) for one in store.answers()]


@pytest.fixture
def room(exam: Exam, chunks: list[Chunk], pool: list[Question], hash_model: Any, tmp_path: Path) -> Callable[..., Any]:
    """Sit with the fast model; options replace the usual arguments."""

    def go(path: str = "a.sqlite", **options: Any) -> list[Answer]:
        models = {"one": lambda: hash_model, "two": lambda: type(hash_model)("two")}
        usual = {"exam": exam, "pipelines": GRID, "chunks": chunks, "models": models, "pool": pool}
        with AnswerStore(tmp_path / path) as store:
            given = {"retrievers": retrievers(chunks), **usual, **options}
            work = {name: given.pop(name) for name in ("progress", "engine") if name in given}
            sit(Sitting(**given), store, **work)
            return timeless(store)

    return go


def test_every_pipeline_answers_every_question_once(room: Callable[..., Any], exam: Exam) -> None:
    answers = room()
    assert sorted((one.pipeline, one.question) for one in answers) == sorted(
        (pipeline.id, question) for pipeline in GRID for question in exam.ids
    )
    assert room() == answers


def test_answers_hold_what_the_model_said(room: Callable[..., Any], exam: Exam, hash_model: Any) -> None:
    from rag import continuation, exam_prompt

    question = exam.questions[1]
    found = next(one for one in room() if (one.pipeline, one.question) == ("one+closed-book+icl0", question.id))
    choices = [continuation(choice) for choice in question.choices]
    said = hash_model.log_likelihoods(exam_prompt(question, ()), choices)
    assert (found.log_likelihoods, found.choice_tokens, found.prompt_tokens) == said
    assert found.unconditional == hash_model.log_likelihoods(NEUTRAL, choices).sums
    per_character = [total / len(text) for total, text in zip(said.sums, question.choices, strict=True)]
    assert found.chosen == per_character.index(max(per_character))
    assert found.correct == (found.chosen == question.key)
    assert found.passages == ()


def test_identical_prompts_of_different_pipelines_are_answered_once(
    room: Callable[..., Any], exam: Exam, chunks: list[Chunk], hash_model: Any
) -> None:
    sources = [retrievers(chunks)["bm25"].retrieve(question, 1)[0].id for question in exam.questions]
    shared = sum(source == question.chunk_id for source, question in zip(sources, exam.questions, strict=True))
    assert shared >= 3
    answers = room(pipelines=[one for one in GRID if one.llm == "one" and one.shots == 0])
    assert hash_model.calls == len(exam) * 3 - shared + len(exam)  # and one neutral prompt per question
    by = {(one.pipeline, one.question): one for one in answers}
    for source, question in zip(sources, exam.questions, strict=True):
        if source == question.chunk_id:
            twin = by["one+bm25+icl0", question.id]
            assert replace(twin, pipeline="one+oracle+icl0") == by["one+oracle+icl0", question.id]


def test_model_with_nothing_to_answer_is_not_loaded(room: Callable[..., Any]) -> None:
    def unloadable() -> Any:
        raise AssertionError("loaded without need")

    before = room(pipelines=GRID[:9])
    assert room(pipelines=GRID[:9], models={"one": unloadable}) == before


def test_progress_counts_stored_answers(room: Callable[..., Any], exam: Exam) -> None:
    seen: list[tuple[int, int]] = []
    room(pipelines=GRID[:2])
    room(pipelines=GRID[:3], progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (2 * len(exam), 3 * len(exam))
    assert seen[-1] == (3 * len(exam), 3 * len(exam))
    assert seen == sorted(seen)


class Stopping:
    """Raises after some calls, as Ctrl-C does."""

    def __init__(self, model: Any, calls: int, error: BaseException) -> None:
        self.model, self.left, self.error = model, calls, error
        self.settings = getattr(model, "settings", {})
        self.name, self.context_tokens = model.name, model.context_tokens
        self.count_tokens, self.generate = model.count_tokens, model.generate

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self.left -= 1
        if self.left < 0:
            raise self.error
        found: Likelihoods = self.model.log_likelihoods(prompt, continuations)
        return found


class Breaking(Stopping):
    """Raises after some answers of a model that is asked many at once."""

    @property
    def streaming(self) -> Any:
        return self.model.streaming

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        yield from islice(self.model.likelihoods(asked), self.left)
        raise self.error


def test_run_broken_off_after_any_call_resumes_to_the_same_answers(room: Callable[..., Any], hash_model: Any) -> None:
    whole = room("whole.sqlite")
    for calls in range(0, 27, 6):
        broken = {"one": lambda n=calls: Stopping(hash_model, n, KeyboardInterrupt()), "two": lambda: None}
        with pytest.raises(KeyboardInterrupt):
            room(f"{calls}.sqlite", models=broken)
        assert room(f"{calls}.sqlite") == whole


def test_nan_names_question_and_model_and_nothing_is_stored_for_it(
    room: Callable[..., Any], hash_model: Any, tmp_path: Path
) -> None:
    hash_model.log_likelihoods = lambda prompt, ones: Likelihoods((float("nan"),) * len(ones), (1,) * len(ones), 1)
    with pytest.raises(ValueError, match="question 'q-oder', model hash: scoring: a log-likelihood is NaN"):
        room(pipelines=GRID[:1])
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.answers() == []


class Streaming:
    """Answers from the last prompt to the first, and loses every `lose`th."""

    def __init__(self, model: Any, lose: int = 0) -> None:
        self.model, self.lose = model, lose
        self.name, self.context_tokens = model.name, model.context_tokens
        self.count_tokens, self.generate = model.count_tokens, model.generate
        self.log_likelihoods = model.log_likelihoods

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        for place, (prompt, choices) in reversed(list(enumerate(asked))):
            if self.lose and place % self.lose == 0:
                yield Arrival(place, NoReply("no answer within 1 s"), 0, 0)
            else:
                yield Arrival(place, self.model.log_likelihoods(prompt, choices), 0, 0)


def test_answers_may_come_in_any_order_and_lost_ones_are_asked_again(
    room: Callable[..., Any], hash_model: Any, exam: Exam, tmp_path: Path
) -> None:
    mine = {"pipelines": GRID[:9]}
    whole = room("whole.sqlite", **mine)
    assert room("any.sqlite", **mine, models={"one": lambda: Streaming(hash_model)}) == whole
    for lose in (2, 5):  # the first prompt, always lost, is the neutral one
        with pytest.raises(FailedError, match=r"^\d+ prompts got no answer: one, questions .*: no answer within 1 s$"):
            room(f"{lose}.sqlite", **mine, models={"one": lambda n=lose: Streaming(hash_model, n)})
        with AnswerStore(tmp_path / f"{lose}.sqlite") as store:
            assert 0 < len(store.answers()) < 9 * len(exam)
        assert room(f"{lose}.sqlite", **mine) == whole


def test_prompt_longer_than_the_context_is_refused_before_the_first_answer(
    room: Callable[..., Any], hash_model: Any
) -> None:
    hash_model.context_tokens = 12
    with pytest.raises(
        ValueError,
        match=r"question 'q-\w+': its prompt of \d+ tokens exceeds what hash reads, "
        "even without passages; wanted at most 12",
    ):
        room(pipelines=[Pipeline("one", "closed-book"), Pipeline("one", "oracle")])
    assert room(pipelines=[]) == []


def test_unknown_names_and_bad_settings_are_refused(room: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"pipeline three\+bm25\+icl0: no model 'three'; wanted one of one, two"):
        room(pipelines=[Pipeline("three", "bm25")])
    with pytest.raises(ValueError, match="no retriever 'dense'; wanted one of closed-book"):
        room(pipelines=[Pipeline("one", "dense")])
    with pytest.raises(ValueError, match="k 0; wanted at least 1"):
        SittingSettings(k=0)
    with pytest.raises(ValueError, match="normalization 'length': unknown"):
        SittingSettings(normalization="length")


def test_changed_settings_pool_or_chunks_are_refused(
    room: Callable[..., Any], pool: list[Question], chunks: list[Chunk]
) -> None:
    whole = room()
    with pytest.raises(ValueError, match="normalization: stored 'character', now 'sum'"):
        room(settings=SittingSettings(normalization="sum"))
    with pytest.raises(ValueError, match=r"icl1 answered under other settings \(shots: stored"):
        room(pool=[replace(one, choices=("w", "x", "y", "z")) for one in pool])
    with pytest.raises(ValueError, match=r"settings \(chunks: stored"):
        room(chunks=chunks[:-1])
    with pytest.raises(ValueError, match=r"behind\.one: stored nothing, now 'another model'\)"):
        room(identities={"one": "another model"})
    assert room() == whole


def test_real_network_resumes_bit_for_bit(room: Callable[..., Any], tiny_folder: Callable[..., Path]) -> None:
    pipelines = [one for one in GRID if one.llm == "one" and one.retriever != "closed-book" and one.shots != 1]
    folder = str(tiny_folder("gemma3"))
    whole = room("whole.sqlite", pipelines=pipelines, models={"one": lambda: load_model(folder, dtype="float32")})
    for calls in (2, 9):
        network = load_model(folder, dtype="float32")
        with pytest.raises(KeyboardInterrupt):
            room(
                f"{calls}.sqlite",
                pipelines=pipelines,
                models={"one": lambda n=calls, m=network: Breaking(m, n, KeyboardInterrupt())},  # type: ignore[misc]
            )
        found = room(
            f"{calls}.sqlite", pipelines=pipelines, models={"one": lambda: load_model(folder, dtype="float32")}
        )
        assert found == whole


SLOW_SITTING = """
import sys, time, json
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[2]).parents[1]))
from examcore._records import Chunk, Exam, Question
from rag.sitting._answer_store import AnswerStore
from rag.grid._grid import grid_of
from rag.retrieval._kinds import build_retriever
from rag.sitting._sitting import Sitting, sit
from tests.rag.conftest import HashModel
chunks = [Chunk(f"c{n}", "d", f"Number {n} is followed by {n + 1}.", 0, 9) for n in range(30)]
def ask(n):
    return Question(f"q{n}", f"What follows number {n}?", (str(n + 1), str(n), str(n + 2)), 0, "d", f"c{n}")
asked = [ask(n) for n in range(30)]
grid = grid_of({"llms": ["hash"], "retrievers": ["closed-book", "oracle"], "shots": [0, 1]}).pipelines
class Slow(HashModel):
    def log_likelihoods(self, prompt, continuations):
        time.sleep(0.005)
        return super().log_likelihoods(prompt, continuations)
with AnswerStore(Path(sys.argv[1])) as store:
    kinds = {kind: build_retriever(kind, chunks) for kind in ("closed-book", "oracle")}
    say = lambda done, total: print("at work", flush=True)
    sit(Sitting(Exam(tuple(asked[:24])), grid, chunks, {"hash": Slow}, kinds, asked[24:]), store, progress=say)
"""


@pytest.mark.slow
def test_killed_at_random_moments_the_run_ends_with_the_undisturbed_answers(tmp_path: Path) -> None:
    here = Path(__file__).parent
    generator = random.Random(5)

    def start(path: Path) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(here.parents[1])}
        command = [sys.executable, "-c", SLOW_SITTING, str(path), str(here)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    whole = tmp_path / "whole.sqlite"
    with start(whole) as process:
        assert process.wait() == 0
    broken = tmp_path / "broken.sqlite"
    seen = [0]
    for _ in range(5):
        with start(broken) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(generator.uniform(0.02, 0.12))
            os.kill(process.pid, signal.SIGKILL)
        with AnswerStore(broken) as store:
            seen.append(len(store.answers()))
    assert seen == sorted(seen)
    assert any(0 < count < 24 * 4 for count in seen)
    with start(broken) as process:
        assert process.wait() == 0
    with AnswerStore(whole) as one, AnswerStore(broken) as two:
        assert timeless(one) == timeless(two)
        assert len(one.answers()) == 24 * 4


def test_passages_and_budget_are_each_pipelines_own(
    hash_model: Any, exam: Exam, chunks: list[Chunk], tmp_path: Path
) -> None:
    short, long = min(len(searched_text(one)) for one in chunks), sum(len(searched_text(one)) for one in chunks)
    grid = grid_of({"llms": ["one"], "retrievers": ["lsa"], "passages": [1, 3], "budget": [short, long]}).pipelines
    kinds = {"lsa": build_retriever("lsa", chunks)}
    with AnswerStore(tmp_path / "a.sqlite") as store:
        sit(Sitting(exam, grid, chunks, {"one": lambda: hash_model}, kinds), store)
        assert store.pipelines() == sorted(grid, key=lambda one: one.id)
        store.to_responses_csv(tmp_path / "responses.csv", exam, grid)
        read = {(one.pipeline, one.question): one.passages for one in store.answers()}
    for question in exam.questions:
        found = tuple(one.id for one in kinds["lsa"].retrieve(question, 3))
        assert read[f"one+lsa+icl0+k3+b{long}", question.id] == found
        for name in (f"one+lsa+icl0+k1+b{long}", f"one+lsa+icl0+k1+b{short}", f"one+lsa+icl0+k3+b{short}"):
            assert read[name, question.id] == found[:1]
    header, first, *_ = (tmp_path / "responses.csv").read_text().splitlines()
    assert header == "student,item,score,llm,retriever,icl,passages,budget"
    assert first.startswith(f"one+lsa+icl0+k1+b{short},q-oder,")
    assert first.endswith(f",one,lsa,0,1,{short}")


def test_a_budget_takes_whole_passages_and_never_none(chunks: list[Chunk]) -> None:
    lengths = [len(searched_text(one)) for one in chunks]
    assert within_budget(chunks, None) == within_budget(chunks, sum(lengths)) == tuple(chunks)
    assert within_budget(chunks, lengths[0] + lengths[1]) == tuple(chunks[:2])
    assert within_budget(chunks, lengths[0] + lengths[1] - 1) == tuple(chunks[:1])
    assert within_budget(chunks, 1) == tuple(chunks[:1])
    assert within_budget([], 1) == ()


def test_answers_from_before_there_were_budgets_go_on(room: Callable[..., Any], tmp_path: Path) -> None:
    before = room(pipelines=GRID[:2])
    with sqlite3.connect(tmp_path / "a.sqlite") as store:
        for name, text in store.execute("SELECT pipeline, settings FROM pipelines").fetchall():
            settings = json.loads(text)
            del settings["budget"]
            store.execute("UPDATE pipelines SET settings = ? WHERE pipeline = ?", (json.dumps(settings), name))
    assert room(pipelines=GRID[:2]) == before
    with pytest.raises(ValueError, match="budget: stored nothing, now 50"):
        room(pipelines=GRID[:2], settings=SittingSettings(budget=50))
