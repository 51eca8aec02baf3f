"""Chunks to verified four-choice questions: facts, stems, wrong answers, verification, balanced choices.

Written until enough pass all rules, those on the finished exam, too (`write_screened`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

from exam_gen._exam_writer import ExamWriter, WritingProgress
from exam_gen._paper_writing import write_in_free_text
from exam_gen._writing_settings import WritingMaterial, WritingSettings, find_material
from exam_gen.drafting._drafts import AnsweredQuestion
from exam_gen.drafting._verification import LetterVerifier, LikelihoodVerifier
from exam_gen.language._similarity import Embed
from exam_gen.rules._catalogue import arriving, rules_of
from exam_gen.rules._rule import BEYOND, RuleTools, apply_rules, dropped_question
from examcore import CachedLanguageModel, Chunk, Dropped, LanguageModel, ModelUsage, Question, ReplyStore, usage_by_step


@dataclass(frozen=True)
class WrittenExam:
    """The surviving questions, everything lost on the way, what it cost, and why writing stopped.

    `stopped` is empty where the wanted number was reached, else what was used up; `out_of_time` says that it was the
    time for writing. `verifying` is the cost of a verifier that is not the writer; `steps` is the cost of both by what
    it was for.
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


def write_screened(
    chunks: Sequence[Chunk],
    model: LanguageModel,
    settings: WritingSettings,
    *,
    seed: int,
    replies: ReplyStore,
    filters: Mapping[str, object] | None = None,
    embed: Embed | None = None,
    verifier: LanguageModel | None = None,
    progress: Callable[[WritingProgress], None] | None = None,
    people: Sequence[AnsweredQuestion] = (),
) -> WrittenExam:
    """Write questions until `settings.questions` pass all rules or nothing is left to ask for (`stopped` says which).

    The same chunks, settings and seed give the same exam; a run that was stopped takes what was answered from
    `replies`. `verifier` verifies in place of the writer. `embed` (texts to vectors `[n, d]`) brings wrong answers
    near the key in meaning; without it spelling decides. `progress` is called where something else is begun.
    `filters` changes the rules (see `catalogue.rules_of`), which single questions must pass as they are written, and
    all together when they are finished. `people` are questions with known answers, which come first: they get wrong
    answers and are verified as the model's own are.

    When the rules leave too few, more are written, until enough pass or nothing is left to write from. Replies are
    kept, so that a further round asks only for what is new; its questions get their wrong answers and positions anew,
    for an exam is balanced as a whole.
    """
    rules, tell = rules_of(filters), progress or (lambda _now: None)
    judge = CachedLanguageModel(verifier or model, replies)
    judge.step = "rules"
    tools = RuleTools(embed, judge, seed)
    order = random.Random(seed).sample(list(chunks), len(chunks))
    material = None
    if settings.mode != "paper":
        material = find_material(chunks, settings, seed=seed, embed=embed)._replace(people=people)
    goal = settings.questions
    while True:
        asked, writer = replace(settings, questions=goal), CachedLanguageModel(model, replies)
        second = writer if verifier is None else CachedLanguageModel(verifier, replies)
        written = _written(order, writer, second, asked, material, seed, filters, tell)
        found = apply_rules(written.questions, rules, tools)
        missing = settings.questions - len(found.kept)
        if missing <= 0 or len(written.questions) < goal:
            break
        goal += missing
    kept, spare = found.kept[: settings.questions], found.kept[settings.questions :]
    lost = [*written.dropped, *map(_without_queries, found.dropped), *(dropped_question(one, BEYOND) for one in spare)]
    usage, verifying, steps = written.usage, written.verifying, usage_by_step(written.steps, judge.steps)
    if verifier is None:
        usage += judge.usage
    else:
        verifying += judge.usage
    if missing <= 0:  # more passed than were wanted, though not as many as the last round asked for
        written = replace(written, stopped="", out_of_time=False)
    return replace(written, questions=list(kept), dropped=lost, usage=usage, verifying=verifying, steps=steps)


def _written(
    order: Sequence[Chunk],
    model: CachedLanguageModel,
    second: CachedLanguageModel,
    settings: WritingSettings,
    material: WritingMaterial | None,
    seed: int,
    filters: Mapping[str, object] | None,
    tell: Callable[[WritingProgress], None],
) -> WrittenExam:
    """An exam of questions that pass the rules for single ones; without material one in free text."""

    def report(done: int, wanted: int) -> None:
        tell(WritingProgress(min(done, wanted), wanted))

    report(0, settings.questions)
    if material is None:
        model.step = "asking"
        wanted, batch = settings.questions, settings.batch
        kept, dropped = write_in_free_text(order, model, wanted, batch, seed, report, filters, settings.language)
        stopped = _stopped(len(kept), settings, len(order), "chunks")
        return WrittenExam(kept, dropped, model.usage, stopped, steps=model.steps)
    by_letters = settings.verification == "letters"
    judging = LetterVerifier(second, seed) if by_letters else LikelihoodVerifier(second, settings.thresholds)
    writer = ExamWriter(model, judging, material, settings, seed, arriving(filters), tell)
    writer.add(material.people)
    steps: list[Callable[[int, int], None]]
    if settings.mode == "json":
        total, what, steps = len(order), "passages", [lambda start, end: writer.write_passages(order[start:end])]
    else:
        total, what, facts = len(material.facts), "facts", material.facts
        # Asking otherwise gives a question for more tokens: it begins when all facts were asked about.
        steps = [
            lambda start, end: writer.write(facts[start:end]),
            lambda start, end: writer.write_otherwise(facts[start:end]),
        ]
    first = min(FIRST_BATCH, settings.batch)
    for step, (start, end) in product(steps, pairwise([0, *range(first, total, settings.batch), total])):
        report(len(writer.passed), settings.questions)
        if len(writer.passed) >= settings.questions or not writer.has_time():
            break
        step(start, end)
    report(len(writer.passed), settings.questions)
    stopped = _stopped(len(writer.passed), settings, total, what)
    verifying = ModelUsage() if second is model else second.usage
    costs = model.steps if second is model else usage_by_step(model.steps, second.steps)
    if over := writer.out_of_time and bool(stopped):
        stopped = f"the {settings.minutes:g} minutes for writing were over; the same command goes on"
    return WrittenExam(writer.finished(), writer.dropped, model.usage, stopped, verifying, costs, over)


def _stopped(done: int, settings: WritingSettings, total: int, what: str) -> str:
    return "" if done >= settings.questions else f"all {total} {what} of the corpus were used"


def _without_queries(dropped: Dropped) -> Dropped:
    """What a rule dropped, such as a second question about the same, tests no retrieval either."""
    question = dropped.question
    return dropped if question is None else replace(dropped, question=replace(question, queries=()))
