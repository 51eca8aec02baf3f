"""What `ragexam answers --claims` does: let a judge say what the passages that were read state of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from examcore import CachedLanguageModel, Progress, Question, ReplyStore, RunFolder, read_chunks, write_lines
from grading.reports import ReadAnswer, ReadPassage, judge_claims
from rag import Answer, AnswerStore, load_model, need_likelihoods
from rag.servers import is_server
from ragexam._free_text_answers import free_text_of
from ragexam.report import DECLINED, FreeTextAnswers, claim_line

SHOWN = 1000
"""Characters of a passage that are kept beside the claims, for the page."""


def judge_claims_of(run: Path, judge: str, progress: Progress) -> FreeTextAnswers:
    """The free-text answers of a run with their claims judged and kept in its folder in place of another judge's.

    The judge's replies are kept as they come; what was asked before is not asked again. Raises ValueError in one line
    for a run without answers in free text and for a judge that cannot be loaded.
    """
    folder, found = RunFolder(run), free_text_of(run)
    texts = {one.id: one.text for one in read_chunks(folder.chunks)} if folder.chunks.is_file() else {}
    declined = {(one.pipeline, one.question) for one in found.answers if one.label == DECLINED}
    mine = {(one.pipeline, one.question) for one in found.answers}
    with AnswerStore(folder.answers) as store:
        answers = [one for one in store.answers() if (one.pipeline, one.question) in mine]
    read = [
        ReadAnswer(
            one.pipeline,
            found.questions[one.question],
            "" if (one.pipeline, one.question) in declined else one.reply,
            _passages(one, found.questions[one.question], texts),
        )
        for one in answers
    ]
    model = load_model(judge)
    by: Literal["reply", "likelihood"] = "reply" if is_server(judge) else "likelihood"
    if by == "likelihood":
        need_likelihoods(model)
    with ReplyStore(folder.replies) as replies, progress.step("claims") as report:
        judged = judge_claims(CachedLanguageModel(model, replies), read, report, by=by)
    shown = [[(each.id, each.text[:SHOWN]) for each in one.passages] for one in read]
    write_lines(folder.claims, (claim_line(judge, one, some) for one, some in zip(judged, shown, strict=True)))
    return free_text_of(run)


def _passages(answer: Answer, question: Question, texts: Mapping[str, str]) -> tuple[ReadPassage, ...]:
    """What was read for an answer: chunks of the run by their ids, or texts that a system gave."""
    return tuple(
        ReadPassage(
            name,
            question.context if name == question.chunk_id else texts.get(name, name if " " in name.strip() else ""),
            name == question.chunk_id or " ".join(name.split()) == " ".join(question.context.split()),
        )
        for name in answer.passages
    )
