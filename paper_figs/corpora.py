"""Table 1: the corpora."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from paper_figs._command_line import script
from paper_figs._table_files import DASH, PaperTable, name, number, row
from paper_figs._task_results import TaskResults

NOTE = (
    "Counts and means are of the whole corpus as it was cut, not of a sample, so they have no sampling error; in "
    "brackets the least and the most. {}"
)


def compute(runs: Sequence[TaskResults]) -> pd.DataFrame:
    """`task, attribute, value, least, most`; tasks whose results do not tell of their corpus have no row."""
    rows = []
    for run in runs:
        found = run.corpus
        for attribute, key in _ATTRIBUTES.items() if found else ():
            rows.append((run.task, attribute, *_of(found or {}, key)))
    return pd.DataFrame(rows, columns=["task", "attribute", "value", "least", "most"])


def build(runs: Sequence[TaskResults]) -> list[PaperTable]:
    """Attributes by task."""
    data = compute(runs)
    told = [run.task for run in runs if run.corpus]
    lacking = [run.task for run in runs if not run.corpus]
    values = {(one["attribute"], one["task"]): one for one in data.to_dict("records")}
    rows = [row(one, *(_cell(values[one, task]) for task in told)) for one in _ATTRIBUTES] if told else [_NOTHING]
    note = NOTE.format(f"Not told by the results: {', '.join(lacking)}." if lacking else "").strip()
    return [PaperTable("corpora", "Corpora", note, data, ("", *(name(task) for task in told)), tuple(rows))]


_ATTRIBUTES: Mapping[str, str] = {
    "Documents": "documents",
    "Passages": "chunks",
    "Passages of a document": "chunks_per_document",
    "Words of a document": "words_per_document",
    "Words of a passage": "words_per_chunk",
    "Words in all": "words",
    "Vocabulary": "vocabulary",
    "Topics": "topics",
}
_NOTHING = row("No task's results tell of its corpus.")


def _of(found: Mapping[str, Any], key: str) -> tuple[float | None, float | None, float | None]:
    value = found.get(key)
    if isinstance(value, Mapping):
        return value.get("mean"), value.get("least"), value.get("most")
    return value, None, None


def _cell(found: Mapping[Hashable, Any]) -> str:
    value = found["value"]
    if pd.isna(value):
        return DASH
    text = number(float(value), 0 if float(value).is_integer() else 1)
    if pd.isna(found["least"]):
        return text
    return f"{text} [{number(float(found['least']), 0)}, {number(float(found['most']), 0)}]"


if __name__ == "__main__":
    raise SystemExit(script(build, __doc__))
