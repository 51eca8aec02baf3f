"""The prompts of an exam under each retriever and number of shots, for use outside a sitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from examcore import Chunk, Exam, Prompt, Question
from rag.answering import _prompts as prompts
from rag.answering._prompts import Shot, draw_shots, exam_prompt
from rag.grid._pipeline import OWN_FACETS, Pipeline
from rag.retrieval._protocol import ClosedBook, Oracle, Retriever
from rag.sitting._answer_store import AnswerStore
from rag.sitting._sitting import chunks_digest, shots_digest


@dataclass(frozen=True)
class ExamPrompts:
    """An exam's prompts: the passages of every question, by question id and best first, and the shots before them.

    `factors` are the levels of the factors that the grid crosses. `reading` identifies the passages: the retriever's
    name, with those levels if it has several. `kind` is the retriever's kind, whatever its name.
    """

    retriever: str
    passages: Mapping[str, tuple[Chunk, ...]]
    shots: tuple[Shot, ...] = ()
    factors: Mapping[str, int | str] = field(default_factory=dict)
    reading: str = ""
    kind: str = ""

    @property
    def name(self) -> str:
        """The passages read and the number of shots, if any: `bm25`, `bm25-icl2`, `bm25-k3-icl2`."""
        reading = self.reading or self.retriever
        return f"{reading}-icl{len(self.shots)}" if self.shots else reading

    def prompt(self, question: Question) -> Prompt:
        """The prompt of a question, as in a sitting."""
        return exam_prompt(question, self.passages[question.id], self.shots)


def bound_prompts(exam: Exam, chunks: Sequence[Chunk]) -> list[ExamPrompts]:
    """The prompts without passages, and those with each question's own passage if `chunks` holds all of these."""
    known = {chunk.id for chunk in chunks}
    sourced = all(question.chunk_id in known for question in exam.questions)
    ends: list[Retriever] = [ClosedBook(), *([Oracle(chunks)] if sourced else [])]
    return [
        ExamPrompts(end.name, {one.id: tuple(end.retrieve(one, 1)) for one in exam.questions}, kind=end.name)
        for end in ends
    ]


def stored_prompts(
    store: AnswerStore, exam: Exam, chunks: Sequence[Chunk], pool: Sequence[Question]
) -> list[ExamPrompts]:
    """The prompts of a store's pipelines, exact to the character: one entry per retriever, factors and shots.

    `chunks` and `pool` are those of the sitting. Raises ValueError for answers to another exam, another version of the
    prompts, other chunks or another pool, and for a retriever that has not answered every question.
    """
    if store.exam != exam.hash:
        raise ValueError(f"{store.path}: holds answers to exam {store.exam or '(none)'}; wanted exam {exam.hash}")
    crossed = [one for one in store.pipelines() if one.retriever != OWN_FACETS]
    # Another tool scores choices; of a grid that crosses ways of answering, those pipelines stand for the rest.
    pipelines = [one for one in crossed if one.answers in (None, "likelihood")] or crossed
    settings = {one: store.settings(one.id) for one in pipelines}
    known = {"prompt": prompts.EXAM_PROMPT_VERSION, "chunks": chunks_digest(chunks)}
    for pipeline, found in settings.items():
        for name, wanted in known.items():
            if found.get(name) != wanted:
                raise ValueError(
                    f"{store.path}: pipeline {pipeline.id} answered with {name} {found.get(name)!r}; wanted {wanted!r}"
                )
    passages = _passages(store, exam, chunks, pipelines)
    shots = _shots(store, exam, pool, settings)
    kinds = {(one.reading, one.shots): one for one in pipelines}
    levels = Counter(retriever for retriever, _ in {(one.retriever, one.reading) for one in pipelines})
    return [
        ExamPrompts(
            one.retriever,
            passages[one.reading],
            shots[: one.shots],
            one.factors,
            one.reading if levels[one.retriever] > 1 else one.retriever,
            _kind(one, settings[one]),
        )
        for one in kinds.values()
    ]


def _kind(pipeline: Pipeline, settings: Mapping[str, object]) -> str:
    behind = settings.get("behind")
    found = behind.get(pipeline.retriever) if isinstance(behind, Mapping) else None
    return str(found["kind"]) if isinstance(found, Mapping) and "kind" in found else pipeline.retriever


def _passages(
    store: AnswerStore, exam: Exam, chunks: Sequence[Chunk], pipelines: Sequence[Pipeline]
) -> dict[str, dict[str, tuple[Chunk, ...]]]:
    """The passages by reading and question; they do not depend on the model, unless the prompt was shortened."""
    known = {chunk.id: chunk for chunk in chunks}
    reading_of = {one.id: one.reading for one in pipelines}
    found: dict[str, dict[str, tuple[Chunk, ...]]] = {one: {} for one in reading_of.values()}
    for answer in store.answers():
        if answer.cut or answer.pipeline not in reading_of:
            continue
        foreign = [one for one in answer.passages if one not in known]
        if foreign:
            raise ValueError(
                f"{store.path}: pipeline {answer.pipeline} read {foreign[0]!r}, which is no chunk; "
                "wanted retrievers of the run's own chunks"
            )
        found[reading_of[answer.pipeline]][answer.question] = tuple(known[one] for one in answer.passages)
    for retriever, ones in found.items():
        if len(ones) < len(exam):
            raise ValueError(
                f"{store.path}: retriever {retriever} was asked {len(ones)} questions; wanted all {len(exam)} "
                "(let the sitting end), with passages that fit"
            )
    return found


def _shots(
    store: AnswerStore, exam: Exam, pool: Sequence[Question], settings: Mapping[Pipeline, Mapping[str, object]]
) -> tuple[Shot, ...]:
    """The shots of the sitting, drawn again and compared with the stored digest."""
    most = max(settings, key=lambda one: one.shots, default=None)
    if most is None or not most.shots:
        return ()
    chosen = settings[most]
    drawn = draw_shots(
        pool, exam, most.shots, seed=int(str(chosen["seed"])), with_passages=bool(chosen["shot_passages"])
    )
    for pipeline, found in settings.items():
        if found["shots"] != shots_digest(drawn[: pipeline.shots]):
            raise ValueError(f"{store.path}: pipeline {pipeline.id} was shown other examples; wanted its own pool")
    return drawn
