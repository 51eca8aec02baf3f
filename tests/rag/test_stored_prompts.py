"""What pipelines were asked, from the store alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Exam, Likelihoods, Prompt, Question
from rag import AnswerStore, Pipeline, Sitting, SittingSettings, bound_prompts, build_retriever, sit, stored_prompts
from rag.answering._prompts import NEUTRAL
from rag.retrieval._third_party import ThirdPartyRetriever

PIPELINES = [Pipeline("hash", retriever, shots) for retriever in ("closed-book", "bm25") for shots in (0, 2)]


@pytest.fixture
def heard() -> list[Prompt]:
    return []


@pytest.fixture
def store(
    tmp_path: Path, exam: Exam, chunks: list[Chunk], pool: list[Question], hash_model: Any, heard: list[Prompt]
) -> Any:
    answered = hash_model.log_likelihoods

    def listening(prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        heard.append(prompt)
        return answered(prompt, continuations)  # type: ignore[no-any-return]

    hash_model.log_likelihoods = listening
    with AnswerStore(tmp_path / "answers.sqlite") as opened:
        sit_with(opened, exam, chunks, pool, hash_model)
        yield opened


def sit_with(store: AnswerStore, exam: Exam, chunks: list[Chunk], pool: list[Question], model: Any) -> None:
    retrievers = {name: build_retriever(name, chunks) for name in ("closed-book", "bm25")}
    settings = SittingSettings(k=2, shot_passages=True, seed=3)
    sit(Sitting(exam, PIPELINES, chunks, {"hash": lambda: model}, retrievers, pool, settings), store)


def test_the_prompts_of_a_sitting_are_found_again(
    store: AnswerStore, exam: Exam, chunks: list[Chunk], pool: list[Question], heard: list[Prompt]
) -> None:
    found = stored_prompts(store, exam, chunks, pool)
    assert [one.name for one in found] == ["bm25", "bm25-icl2", "closed-book", "closed-book-icl2"]
    prompts = {one.prompt(question) for one in found for question in exam.questions}
    assert len(prompts) == 16
    assert prompts == set(heard) - {NEUTRAL}


def test_other_chunks_or_another_pool_than_the_sitting_had_are_refused(
    store: AnswerStore, exam: Exam, chunks: list[Chunk], pool: list[Question]
) -> None:
    with pytest.raises(ValueError, match=r"pipeline hash\+bm25\+icl0 answered with chunks"):
        stored_prompts(store, exam, chunks[1:], pool)
    with pytest.raises(ValueError, match="was shown other examples; wanted its own pool"):
        stored_prompts(store, exam, chunks, [replace(one, stem="Another question?") for one in pool])


def test_answers_to_another_exam_are_refused(
    store: AnswerStore, exam: Exam, chunks: list[Chunk], pool: list[Question]
) -> None:
    other = exam.select(exam.ids[:2])
    with pytest.raises(ValueError, match=f"holds answers to exam {exam.hash}; wanted exam {other.hash}"):
        stored_prompts(store, other, chunks, pool)


def test_a_sitting_that_was_broken_off_is_refused(
    tmp_path: Path, exam: Exam, chunks: list[Chunk], pool: list[Question], hash_model: Any
) -> None:
    class TiredError(Exception):
        pass

    def answer_two(prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        hash_model.keep([prompt])
        if hash_model.calls > 4:
            raise TiredError
        return Likelihoods(tuple(-1.0 for _ in continuations), tuple(1 for _ in continuations), 1)

    hash_model.log_likelihoods = answer_two
    with AnswerStore(tmp_path / "half.sqlite") as store:
        with pytest.raises(TiredError):
            sit_with(store, exam, chunks, pool, hash_model)
        with pytest.raises(ValueError, match=r"was asked \d questions; wanted all 4 \(let the sitting end\)"):
            stored_prompts(store, exam, chunks, pool)


def test_floor_and_ceiling_are_no_passage_and_the_source(exam: Exam, chunks: list[Chunk]) -> None:
    floor, ceiling = bound_prompts(exam, chunks)
    for question in exam.questions:
        assert floor.passages[question.id] == ()
        assert [one.id for one in ceiling.passages[question.id]] == [question.chunk_id]
    assert [one.name for one in bound_prompts(exam, chunks[1:])] == ["closed-book"]


def test_pipelines_that_read_more_or_less_are_told_apart(
    tmp_path: Path, exam: Exam, chunks: list[Chunk], hash_model: Any
) -> None:
    crossed = [Pipeline("hash", "lsa", 0, passages) for passages in (1, 3)]
    lsa = build_retriever("lsa", chunks)
    with AnswerStore(tmp_path / "crossed.sqlite") as store:
        sit(Sitting(exam, crossed, chunks, {"hash": lambda: hash_model}, {"lsa": lsa}), store)
        found = stored_prompts(store, exam, chunks, [])
    assert [one.name for one in found] == ["lsa-k1", "lsa-k3"]
    for one, k in zip(found, (1, 3), strict=True):
        assert all(list(one.passages[question.id]) == lsa.retrieve(question, k) for question in exam.questions)


def test_passages_from_outside_the_corpus_are_named(
    tmp_path: Path, exam: Exam, chunks: list[Chunk], hash_model: Any
) -> None:
    outside = ThirdPartyRetriever(chunks, lambda text, k: ["From elsewhere."], "mine")
    with AnswerStore(tmp_path / "outside.sqlite") as store:
        sit(Sitting(exam, [Pipeline("hash", "mine")], chunks, {"hash": lambda: hash_model}, {"mine": outside}), store)
        with pytest.raises(ValueError, match=r"pipeline hash\+mine\+icl0 read 'text:\w+', which is no chunk; wanted"):
            stored_prompts(store, exam, chunks, [])
