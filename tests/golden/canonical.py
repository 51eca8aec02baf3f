"""Results in a form that stays equal between machines and days: no times, versions, places; numbers to nine digits."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

DIGITS = 9
VOLATILE = {
    *("seconds", "seconds_per_answer", "date", "when", "time", "written", "versions", "version", "packages", "python"),
    *("peak_memory_bytes", "longest_silence_seconds"),
    *("machine", "load", "processors", "threads", "memory_gb", "disk_gb", "fingerprint", "fingerprints", "steps_done"),
}
"""Keys whose values differ from run to run or from machine to machine."""
COSTS = {"quality_and_cost.csv": ("x", "on", "chance", "mark")}
"""Columns that rest on seconds."""
ANSWERS = (
    "SELECT exam, pipeline, question, chosen, correct, log_likelihoods, unconditional, passages FROM answers "
    "ORDER BY pipeline, question"
)
HIDDEN = re.compile(r"<(script|style|svg|head)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
CELL = re.compile(r"<td\b[^>]*>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?!\w)")


class TaggedLoader(yaml.SafeLoader):
    """Reads a tag that it does not know, such as lm-eval's `!function`, as the text behind it."""


TaggedLoader.add_multi_constructor("!", lambda loader, tag, node: f"!{tag} {node.value}")


def cleaned(value: Any) -> Any:
    """A JSON value without its volatile keys, numbers rounded."""
    if isinstance(value, Mapping):
        return {str(name): cleaned(one) for name, one in value.items() if name not in VOLATILE}
    if isinstance(value, list | tuple):
        return [cleaned(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def keys_only(value: Any) -> Any:
    """The keys of a JSON value, for what no two machines share."""
    return {name: keys_only(one) for name, one in value.items()} if isinstance(value, Mapping) else None


def dumped(value: Any) -> str:
    """JSON text that a reader can compare line by line; lists of plain values stand on one line."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=True) + "\n"


def file_content(path: Path) -> tuple[str, str]:
    """The canonical text of a file that a command wrote, and the suffix to keep it under."""
    suffix = "".join(path.suffixes[-1:])
    return READERS[suffix](path) if suffix in READERS else (path.read_text(encoding="utf-8"), suffix)


def _json(path: Path) -> tuple[str, str]:
    content = json.loads(path.read_text(encoding="utf-8"))
    if path.name == "run.json":
        content = {name: content[name] for name in ("format", "configuration", "seed", "summary")}
    return dumped(cleaned(content)), ".json"


def _lines(path: Path) -> tuple[str, str]:
    records = [cleaned(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), ".jsonl"


def _table(path: Path) -> tuple[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if path.name in COSTS:
        rows = [rows[0], *sorted(rows[1:])]
    left_out = {*VOLATILE, *COSTS.get(path.name, ())}
    kept = [at for at, name in enumerate(rows[0]) if name not in left_out]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(row[at]) for at in kept] for row in rows)
    return out.getvalue(), ".csv"


def _cell(text: str) -> str:
    try:
        return text if re.fullmatch(r"[-+]?\d*", text) else f"{float(text):.{DIGITS}g}"
    except ValueError:
        return text


def _answers(path: Path) -> tuple[str, str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        rows = store.execute(ANSWERS).fetchall()
    read = [[json.loads(one) if isinstance(one, str) and one[:1] in "[{" else one for one in row] for row in rows]
    return "".join(json.dumps(cleaned(row)) + "\n" for row in read), ".jsonl"


def _page(path: Path) -> tuple[str, str]:
    """The numbers in the tables of a page, sorted, a table to a line; tables of seconds are left out.

    The words of a page are kept elsewhere, because they are to be improved.
    """
    tables = TABLE.findall(HIDDEN.sub("", path.read_text(encoding="utf-8")))
    found = [_numbers(table) for table in tables if "seconds" not in table.lower()]
    return "\n".join(sorted(" ".join(one) for one in found if one)) + "\n", ".numbers"


def _numbers(table: str) -> list[str]:
    """The numbers of the cells; what has two points is a version."""
    cells = (html.unescape(TAG.sub(" ", cell)) for cell in CELL.findall(table))
    return sorted(number for cell in cells for number in NUMBER.findall(cell) if number.count(".") < 2)


def _settings(path: Path) -> tuple[str, str]:
    return dumped(cleaned(yaml.load(path.read_text(encoding="utf-8"), Loader=TaggedLoader))), ".json"


READERS: dict[str, Callable[[Path], tuple[str, str]]] = {
    ".json": _json,
    ".jsonl": _lines,
    ".csv": _table,
    ".sqlite": _answers,
    ".html": _page,
    ".yaml": _settings,
}
