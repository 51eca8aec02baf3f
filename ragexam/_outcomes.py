"""Who sits an exam, and what is told of it besides scores: how they answer, what was cut, what named no choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from examcore import LanguageModel
from rag import OWN_FACETS, AnswerStore, BlackBoxSpec, Examinee, ExamineeFactory, Grid, LlmSpec, PipelineOutcome
from rag.answering import LetterExaminee, build_black_box
from rag.servers import Traffic

Made = TypeVar("Made")
TrafficByName = dict[str, Traffic]
"""What went over the wire, by the name of who was asked."""


def examinee_factories(grid: Grid, heard: TrafficByName) -> dict[str, ExamineeFactory]:
    """How to make everyone who sits, by name; `heard` receives the traffic of those that are made in this process."""
    return {one.name: partial(_examinee, one, heard) for one in grid.examinees}


def _examinee(one: LlmSpec | BlackBoxSpec, heard: TrafficByName) -> LanguageModel | Examinee:
    if isinstance(one, BlackBoxSpec):
        return _with_traffic(one.name, build_black_box(one), heard)
    model = _with_traffic(one.name, one.load(), heard)
    return LetterExaminee(model) if one.answers == "letters" else model


def _with_traffic(name: str, made: Made, heard: TrafficByName) -> Made:
    if isinstance(traffic := getattr(made, "traffic", None), Traffic):
        heard[name] = traffic
    return made


def mixed_mode_warnings(modes: Mapping[str, str]) -> list[str]:
    """A warning for a grid whose examinees answer in different ways; none for any other."""
    kinds = dict.fromkeys(modes.values())
    if len(kinds) < 2:
        return []
    who = "; ".join(f"{kind}: {', '.join(name for name in modes if modes[name] == kind)}" for kind in kinds)
    return [f"answers come about in different ways ({who}): their accuracies are not comparable"]


def outcome(grid: Grid, store: AnswerStore, heard: TrafficByName) -> dict[str, Any]:
    """What `run.json` says of a sitting: `modes`, `unparsed` and `truncated` by pipeline, `servers`, `notes`.

    `servers` counts the requests of this process; whoever was asked in another is not among them.
    """
    found = {one.id: (one.llm, counts) for one in grid.pipelines if (counts := store.outcomes().get(one.id))}
    return {
        "modes": grid.modes,
        "unparsed": {name: one.unparsed for name, (_, one) in found.items() if one.unparsed},
        "truncated": {name: one.truncated for name, (_, one) in found.items() if one.truncated},
        "servers": {name: traffic.as_dict() for name, traffic in heard.items()},
        "notes": [
            *mixed_mode_warnings(grid.modes),
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
