"""Chunks to verified four-choice questions: facts, stems, wrong answers, verification, balanced choices."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from exam_gen._exam_writer import ExamWriter, WritingProgress
from exam_gen._paper_writing import write_in_free_text
from exam_gen._writing_settings import WritingMaterial, WritingSettings, find_material
from exam_gen.drafting._corpus_distractors import Embed
from exam_gen.drafting._facts import Fact
from exam_gen.drafting._verification import LetterVerifier, LikelihoodVerifier
from exam_gen.rules._catalogue import arriving
from examcore import CachedLanguageModel, Chunk, Dropped, LanguageModel, ModelUsage, Question, ReplyStore, usage_by_step


@dataclass(frozen=True)
class WrittenExam:
    """The surviving questions, everything lost on the way, what it cost, and why writing stopped.

    `stopped` is empty where the wanted number was reached, else what was used up; `out_of_time` says that it was the
    time for writing. `verifying` is the cost of a verifier
    that is not the writer; `steps` is the cost of both by what it was for.
    """

    questions: list[Question]
    dropped: list[Dropped]
    usage: ModelUsage
    stopped: str
    verifying: ModelUsage = field(default_factory=ModelUsage)
    steps: Mapping[str, ModelUsage] = field(default_factory=dict)
    out_of_time: bool = False


FIRST_BATCH = 10
"""Facts, or passages, that are tried first: few, so that a first question can soon be read."""


def write_questions(
    chunks: Sequence[Chunk],
    model: LanguageModel,
    settings: WritingSettings,
    *,
    seed: int,
    replies: ReplyStore,
    embed: Embed | None = None,
    verifier: LanguageModel | None = None,
    progress: Callable[[WritingProgress], None] | None = None,
    filters: Mapping[str, object] | None = None,
    material: WritingMaterial | None = None,
) -> WrittenExam:
    """Write questions until `settings.questions` survive or nothing is left to ask for (`stopped` says which).

    The same chunks, settings and seed give the same exam; a run that was stopped takes what was answered from
    `replies`. `verifier` verifies in place of the writer. `embed` (texts to vectors `[n, d]`) brings wrong answers
    near the key in meaning; without it spelling decides. `progress` is called where something else is begun.
    `filters` changes the rules that single questions must pass (see `catalogue.rules_of`); `screening.write_screened`
    applies them all. `material`, by default found in the chunks, can be kept from an earlier call with the same, and
    hold people's own questions, which come first: they get wrong answers and are verified as the model's own are.
    """
    cached = CachedLanguageModel(model, replies)
    tell = progress or (lambda _now: None)

    def report(done: int, wanted: int) -> None:
        tell(WritingProgress(min(done, wanted), wanted))

    report(0, settings.questions)
    order = random.Random(seed).sample(list(chunks), len(chunks))
    if settings.mode == "paper":
        cached.step = "asking"
        kept, dropped = write_in_free_text(order, cached, settings.questions, settings.batch, seed, report, filters)
        stopped = _stopped(len(kept), settings, len(order), "chunks")
        return WrittenExam(kept, dropped, cached.usage, stopped, steps=cached.steps)
    found = material or find_material(chunks, settings, seed=seed, embed=embed)
    second = CachedLanguageModel(verifier, replies) if verifier is not None else cached
    by_letters = settings.verification == "letters"
    judging = LetterVerifier(second, seed) if by_letters else LikelihoodVerifier(second, settings.thresholds)
    writer = ExamWriter(cached, judging, found, settings, seed, arriving(filters), tell)
    writer.add(found.people)
    there: Sequence[Fact] | Sequence[Chunk] = order if settings.mode == "json" else found.facts
    first = min(FIRST_BATCH, settings.batch)
    for start, end in pairwise([0, *range(first, len(there), settings.batch), len(there)]):
        report(len(writer.passed), settings.questions)
        if len(writer.passed) >= settings.questions or not writer.has_time():
            break
        if settings.mode == "json":
            writer.write_passages(order[start:end])
        else:
            writer.write(found.facts[start:end])
    report(len(writer.passed), settings.questions)
    stopped = _stopped(len(writer.passed), settings, len(there), "passages" if settings.mode == "json" else "facts")
    verifying = ModelUsage() if second is cached else second.usage
    steps = cached.steps if second is cached else usage_by_step(cached.steps, second.steps)
    if over := writer.out_of_time and bool(stopped):
        stopped = f"the {settings.minutes:g} minutes for writing were over; the same command writes on"
    return WrittenExam(writer.finished(), writer.dropped, cached.usage, stopped, verifying, steps, over)


def _stopped(done: int, settings: WritingSettings, total: int, what: str) -> str:
    return "" if done >= settings.questions else f"all {total} {what} of the corpus were used"
