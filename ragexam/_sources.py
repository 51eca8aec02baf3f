"""Where an exam's questions come from, for one that came without its chunks."""

from __future__ import annotations

from dataclasses import replace

from examcore import Chunk, Exam


def with_sources(exam: Exam) -> Exam:
    """The exam with a source passage named for every question; one that names none is its own."""
    return Exam(
        tuple(
            replace(one, chunk_id=one.chunk_id or one.id, document_id=one.document_id or one.chunk_id or one.id)
            for one in exam.questions
        )
    )


def contexts(exam: Exam) -> list[Chunk]:
    """The passages an exam was written from, for an exam that came without its chunks."""
    for question in exam.questions:
        if not question.context:
            raise ValueError(
                f"exam: question {question.id!r} has no context; wanted the text it was written from, or chunks.jsonl "
                "beside the exam"
            )
    found = {
        q.chunk_id: Chunk(q.chunk_id, q.document_id, q.context, 0, len(q.context), topic=q.topic)
        for q in exam.questions
    }
    return list(found.values())
