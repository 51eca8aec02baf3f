"""Numbers and names as a reader meets them on the page."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from examcore.page import isolated
from ragexam.report._response_scores import bound_of, pipelines_of

SYSTEM = "system"
"""The facet whose levels are whole pipelines."""
FACET_NAMES: Mapping[str, str] = {
    "llm": "language model",
    "retriever": "retriever",
    "icl": "prompting mode",
    "shots": "prompting mode",
    "passages": "number of passages",
    "budget": "passage budget",
    "queries": "kind of queries",
    "answers": "way of answering",
    SYSTEM: "whole system",
}
MODE_NAMES = {"likelihood": "choosing by likelihood", "letters": "choosing by letter", "text": "free text"}


def facet_name(facet: str) -> str:
    """What a facet is called in a sentence."""
    return FACET_NAMES.get(facet, facet)


def facet_plural(facet: str) -> str:
    """The plural of a facet's name: `retrievers`, `kinds of queries`."""
    noun, of, rest = facet_name(facet).partition(" of ")
    return f"{noun}s{of}{rest}"


def level_name(facet: str, level: str) -> str:
    """What a level is called: `2` shots are `2 examples`, a bound says that it is one, others keep their name."""
    if facet_name(facet) == "prompting mode" and level.isdigit():
        return "no examples" if level == "0" else "1 example" if level == "1" else f"{level} examples"
    if facet in ("passages", "budget"):
        return f"{level} {'characters' if facet == 'budget' else 'passage' if level == '1' else 'passages'}"
    if facet == "answers":
        return MODE_NAMES.get(level, level)
    return bound_of(level) or isolated(level)


def pipeline_names(scores: pd.DataFrame) -> dict[str, str]:
    """Each pipeline by its levels."""
    return {
        name: " + ".join(level_name(facet, level) for facet, level in levels.items()) or isolated(name)
        for name, levels in pipelines_of(scores).items()
    }
