"""A folder that `ragexam grade run` could have written: six queries, three systems, one scripted grader."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from typer.testing import CliRunner

from ragexam.cli import app

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))
SUBJECTS = {
    "skin": ("epidermis", "dermis", "melanin"),
    "tides": ("moon", "gravity", "shore"),
    "bread": ("yeast", "gluten", "crust"),
    "glass": ("sand", "furnace", "ash"),
    "bees": ("pollen", "queen", "hive"),
    "rust": ("oxygen", "water", "zinc"),
}
SYSTEMS = {"dense": (0, 1, 2), "bm25": (0, 1, 3), "random": (3, 4)}
"""Which passages of a query a system returns: the first three answer a question each, 3 none, 4 is unreadable."""
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> & \u202e"


def lines(path: Path, records: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def write_example(folder: Path, *, hostile: str = "") -> Path:
    """Bank, passages and runs; graded into `folder/graded`. The run `random` skips the query `rust`."""
    folder.mkdir(parents=True, exist_ok=True)
    bank, passages = [], []
    runs: dict[str, list[str]] = {name: [] for name in SYSTEMS}
    for query, subjects in SUBJECTS.items():
        asked = [*(f"What role plays {one} here? {hostile}".strip() for one in subjects), f"Does {query} sing opera?"]
        bank += [{"id": f"{query}-{n}", "query": query, "question": text} for n, text in enumerate(asked)]
        texts = [f"{one} plays a role here {hostile}".strip() for one in subjects]
        texts += ["Clouds in the north", "unreadable"]
        passages += [{"query": query, "passage": f"{query}-p{n}", "text": text} for n, text in enumerate(texts)]
        for name, found in SYSTEMS.items():
            if (name, query) != ("random", "rust"):
                runs[name] += [f"{query} Q0 {query}-p{n} {at} {9 - at} {name}\n" for at, n in enumerate(found, 1)]
    lines(folder / "bank.jsonl", bank)
    lines(folder / "passages.jsonl", passages)
    for name, found_lines in runs.items():
        (folder / f"{name}.run").write_text("".join(found_lines))
    judged = [f"{query} 0 {query}-p{n} {int(n < 3)}\n" for query in SUBJECTS for n in range(5)]
    (folder / "official.qrels").write_text("".join(judged))
    words = [str(folder / "bank.jsonl"), str(folder / "passages.jsonl"), "--model", "python:assessors:seeker"]
    done = CliRunner().invoke(
        app, ["grade", "run", *words, "--out", str(folder / "graded"), "-q"], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return folder


def options(folder: Path) -> list[str]:
    """The runs as options of `ragexam grade report`."""
    return [word for name in SYSTEMS for word in ("--run", str(folder / f"{name}.run"))]
