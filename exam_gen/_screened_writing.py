"""Writing until enough questions pass all rules, those on the finished exam, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from exam_gen._exam_writer import WritingProgress
from exam_gen._writing import WrittenExam, write_questions
from exam_gen._writing_settings import WritingSettings, find_material
from exam_gen.drafting._corpus_distractors import Embed
from exam_gen.drafting._people import AnsweredQuestion
from exam_gen.rules._catalogue import rules_of
from exam_gen.rules._rule import BEYOND, RuleTools, apply_rules, dropped_question
from examcore import CachedLanguageModel, Chunk, Dropped, LanguageModel, ReplyStore, usage_by_step


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
    """As `write_questions`, with every rule of `filters` (see `catalogue.rules_of`) applied to the finished questions.

    `people` are questions with known answers, which come first.

    When the rules leave too few, more are written, until enough pass or nothing is left to write from. Replies are
    kept, so that a further round asks only for what is new; its questions get their wrong answers and positions anew,
    for an exam is balanced as a whole.
    """
    rules = rules_of(filters)
    judge = CachedLanguageModel(verifier or model, replies)
    judge.step = "rules"
    tools = RuleTools(embed, judge, seed)
    goal = settings.questions
    verified = settings.mode != "paper"
    material = None
    if verified:
        material = find_material(chunks, settings, seed=seed, embed=embed)._replace(people=people)
    while True:
        asked = replace(settings, questions=goal)
        written = write_questions(
            chunks,
            model,
            asked,
            seed=seed,
            replies=replies,
            embed=embed,
            verifier=verifier,
            progress=progress,
            filters=filters,
            material=material,
        )
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


def _without_queries(dropped: Dropped) -> Dropped:
    """What a rule dropped, such as a second question about the same, tests no retrieval either."""
    question = dropped.question
    return dropped if question is None else replace(dropped, question=replace(question, queries=()))
