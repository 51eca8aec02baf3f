"""Who sits an exam, and what is told of it besides scores: how they answer, what was cut, what named no choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from examcore import Exam, FailedError, LanguageModel, NoReply, Progress, counted
from grading.graders import AnswerJudge, GivenAnswer, judge_name
from rag import (
    OWN_FACETS,
    AnswerStore,
    BlackBoxSpec,
    Examinee,
    ExamineeFactory,
    Grid,
    JudgedReply,
    LlmSpec,
    PipelineOutcome,
    load_language_model,
)
from rag.answering import FORMS, ReplyExaminee, build_black_box
from rag.servers import Traffic, is_server
from ragexam._config import GridSettings

Made = TypeVar("Made")
TrafficByName = dict[str, Traffic]
"""What went over the wire, by the name of who was asked."""


def examinee_factories(grid: Grid, heard: TrafficByName) -> dict[str, ExamineeFactory]:
    """How to make everyone who sits, by name; `heard` receives the traffic of those that are made in this process."""
    named, modes = {one.name: one for one in grid.examinees}, grid.modes
    return {one.examinee: partial(_examinee, named[one.llm], modes[one.examinee], heard) for one in grid.pipelines}


def _examinee(one: LlmSpec | BlackBoxSpec, mode: str, heard: TrafficByName) -> LanguageModel | Examinee:
    if isinstance(one, BlackBoxSpec):
        return _with_traffic(one.name, build_black_box(one), heard)
    model = _with_traffic(one.name, one.load(), heard)
    return ReplyExaminee(model, FORMS[mode]) if mode in FORMS else model


def judge_answers(grid: GridSettings, exam: Exam, store: AnswerStore, progress: Progress) -> None:
    """Let the judge of a grid say which choice the free-text answers state of which no rule can tell.

    Every judgment is stored as it comes. Raises `FailedError` at the end for answers that the judge did not judge.
    """
    if grid.judge is None:
        store.withdraw_judgments()
        return
    letters = is_server(grid.judge.model)
    name = judge_name(grid.judge.model, letters=letters)
    store.withdraw_judgments(name)
    asked = store.unclear(exam, name)
    if not asked:
        return
    judge = AnswerJudge(load_language_model(grid.judge), letters=letters)
    lost = []
    with progress.step("judging") as report:
        report(0, len(asked))
        found = judge.choices([GivenAnswer(exam.by_id[one.question], one.reply) for one in asked])
        for done, (place, chosen) in enumerate(found, start=1):
            if isinstance(chosen, NoReply):
                lost.append(chosen.reason)
            else:
                pipeline, question, _ = asked[place]
                store.judge(name, JudgedReply(pipeline, question, chosen, chosen == exam.by_id[question].key))
            report(done, len(asked))
    if lost:
        raise FailedError(f"judge {grid.judge.model}: {counted(len(lost), 'answer')} not judged: {lost[0]}")


def _with_traffic(name: str, made: Made, heard: TrafficByName) -> Made:
    if isinstance(traffic := getattr(made, "traffic", None), Traffic):
        heard[name] = traffic
    return made


def mixed_mode_warnings(grid: Grid) -> list[str]:
    """A warning for a grid whose examinees answer in different ways; none where ways of answering are crossed."""
    modes = {} if grid.answers else grid.modes
    kinds = dict.fromkeys(modes.values())
    if len(kinds) < 2:
        return []
    who = "; ".join(f"{kind}: {', '.join(name for name in modes if modes[name] == kind)}" for kind in kinds)
    return [f"answers come about in different ways ({who}): their accuracies are not comparable"]


def outcome(settings: GridSettings, store: AnswerStore, heard: TrafficByName) -> dict[str, Any]:
    """What `run.json` says of a sitting: `modes`, `judge`, `servers`, `notes`, and by pipeline `unparsed`, `truncated`
    and `abstained`.

    `servers` counts the requests of this process; whoever was asked in another is not among them.
    """
    grid, outcomes = settings.grid, store.outcomes()
    found = {one.id: (one.examinee, counts) for one in grid.pipelines if (counts := outcomes.get(one.id))}
    return {
        "modes": grid.modes,
        "judge": settings.judge and settings.judge.model,
        "abstained": {name: one.abstained for name, (_, one) in found.items() if one.abstained},
        "unparsed": {name: one.unparsed for name, (_, one) in found.items() if one.unparsed},
        "truncated": {name: one.truncated for name, (_, one) in found.items() if one.truncated},
        "servers": {name: traffic.as_dict() for name, traffic in heard.items()},
        "notes": [
            *mixed_mode_warnings(grid),
            *_counted(list(found.values())),
            *dict.fromkeys(note for traffic in heard.values() for note in traffic.notes),
        ],
    }


def _counted(found: Sequence[tuple[str, PipelineOutcome]]) -> Iterator[str]:
    """One sentence for each examinee with replies that named no choice, one for each with shortened prompts."""
    answered, unparsed, truncated = Counter[str](), Counter[str](), Counter[str]()
    for name, one in found:
        answered[name] += one.answered
        unparsed[name] += one.unparsed
        truncated[name] += one.truncated
    for name, count in (+unparsed).items():
        yield f"{name}: {count} of {answered[name]} replies named no choice and count as wrong"
    for name, count in (+truncated).items():
        yield (
            f"{name}: {count} of {answered[name]} prompts were longer than it reads; their last passages were left out "
            "or cut"
        )


def left_out(grid: Grid) -> list[str]:
    """Why the fit leaves black boxes out, where it does."""
    boxes = [one.name for one in grid.black_boxes]
    if not boxes or not grid.llms:
        return []
    return [
        f"the fit leaves out {', '.join(boxes)} (retriever {OWN_FACETS}): they share no component with the grid; "
        "ragexam score puts them on its scale"
    ]
