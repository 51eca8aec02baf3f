"""An exam for Inspect: `inspect eval exam.py --model openai/gpt-4o -T passages=oracle`.

The choices are shown and the model answers with a letter, with the passages of one of the .jsonl files beside this one
above the question; `passages` is the name of that file. `ragexam import` reads the log back.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

HERE = Path(__file__).parent


@task
def exam(passages: str = "closed-book") -> Task:
    """The exam with the passages that one retriever found; ValueError when there are none of that name."""
    file = HERE / f"{passages}.jsonl"
    if not file.exists():
        known = ", ".join(sorted(one.stem for one in HERE.glob("*.jsonl")))
        raise ValueError(f"passages: {passages!r}; wanted one of {known}")
    return Task(dataset=json_dataset(str(file)), solver=multiple_choice(), scorer=choice())
