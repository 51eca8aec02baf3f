"""An exam with hostile text, its chunks and pool; other people's files written by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from examcore import Chunk, Exam, Question, write_chunks, write_exam
from rag import FACTORS, Pipeline

FACTS = (
    ("The river Oder rises in the {{ Moravian }} hills.", "Where does the Oder rise?", "the {{ Moravian }} hills"),
    ('The keeper said "count ships, {lamps} and storms" at nine.', "What did he say?", 'count "ships", {lamps}'),
    ("Brot braucht Hefe: übermäßig viel, 80 % der Zeit.", "Was braucht Brot?", "Hefe, übermäßig viel"),
    ("The train leaves at seven\n\nand arrives at noon.", "When does the train\narrive?", "at noon"),
    ("Glass is melted from sand in a furnace of brick.", "Question: from what is glass melted?", "sand"),
    ("Bees dance to tell the hive where nectar is found.", "Why do bees dance?", "to tell where nectar is"),
    ("A clerk stamps letters with red ink at dawn.", "With what are letters stamped?", "red ink"),
    ("Salt is won from the sea by evaporation in ponds.", "How is salt won?", "by evaporation"),
)


def hostile_exam() -> tuple[Exam, list[Chunk], list[Question]]:
    """Six questions of two to four choices, the chunks of all eight facts, and the last two as a pool for shots."""
    answers = [answer for _, _, answer in FACTS]
    chunks = [Chunk(f"d{n}/c#{n}", f"d{n}", text, 0, len(text), f"T{n}") for n, (text, _, _) in enumerate(FACTS)]
    made = []
    for place, (text, stem, answer) in enumerate(FACTS):
        wrong = [answers[(place + step) % len(answers)] for step in range(1, 2 + place % 3)]
        choices = (*wrong, answer) if place % 2 else (answer, *wrong)
        labels = {"form": ["what"]} if place else {}
        one = Question(f"d{place}/q #{place}", stem, choices, choices.index(answer), f"d{place}", f"d{place}/c#{place}")
        made.append(replace(one, context=text, labels=labels, metadata={"seed": place}))
    return Exam(tuple(made[:6])), chunks, made[6:]


def write_source(folder: Path) -> Exam:
    """Write the exam with its chunks and pool as a run folder holds them."""
    exam, chunks, pool = hostile_exam()
    write_exam(folder / "exam.jsonl", exam)
    write_chunks(folder / "chunks.jsonl", chunks)
    write_exam(folder / "shots.jsonl", pool)
    return exam


def sample(exam: Exam, question: Question, sums: Sequence[object], /, **doc: object) -> dict[str, object]:
    """A line of lm-eval's samples file."""
    fields = {"id": question.id, "choices": [one.strip() for one in question.choices], "answer": question.key}
    origin = {"exam": exam.hash, "retriever": "oracle", "icl": 0}
    return {"doc_id": 0, "doc": fields | origin | doc, "filtered_resps": [[str(one), "False"] for one in sums]}


def pipeline_of(llm: str, origin: Mapping[str, Any]) -> str:
    """The id of the pipeline that a question was exported for."""
    factors = (origin.get(name) for name in FACTORS)
    return Pipeline(llm, origin["retriever"], origin["icl"], *factors).id


def write_samples(path: Path, samples: Sequence[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
    return path


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a table whose cells hold no line ends."""
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
