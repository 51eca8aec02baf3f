"""A data set folder as the Hugging Face hub reads it: the questions as JSON lines, and a card."""

from __future__ import annotations

import json
from collections import Counter

import yaml

from examcore import Exam, Question
from ragexam.exchange._formats import json_text, template

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""The hub's categories, by the number of questions they end before."""

_COLUMNS = ("id", "question", "choices", "answer", "document_id", "chunk_id", "topic", "context", "labels", "metadata")


def dataset_files(exam: Exam, name: str) -> dict[str, str]:
    """The files of a data set folder, by name: `README.md`, the card, and `data/test.jsonl`."""
    lines = "".join(json_text(_row(question)) for question in exam.questions)
    return {"README.md": _card(exam, name), "data/test.jsonl": lines}


def _row(question: Question) -> dict[str, object]:
    """Columns of one type each: labels as `kind=value`, metadata as the JSON it is."""
    return {
        "id": question.id,
        "question": question.stem,
        "choices": list(question.choices),
        "answer": question.key,
        "document_id": question.document_id,
        "chunk_id": question.chunk_id,
        "topic": question.topic,
        "context": question.context,
        "labels": [f"{kind}={value}" for kind, values in question.labels.items() for value in values],
        "metadata": json.dumps(question.metadata, ensure_ascii=False, sort_keys=True),
    }


def _card(exam: Exam, name: str) -> str:
    front = {
        "pretty_name": name,
        "task_categories": ["multiple-choice", "question-answering"],
        "size_categories": [next((label for end, label in SIZES if len(exam) < end), "n>1M")],
        "tags": ["ragexam", "retrieval-augmented-generation"],
        "configs": [
            {"config_name": "default", "data_files": [{"split": "test", "path": "data/test.jsonl"}], "default": True}
        ],
        "dataset_info": {"features": [_feature(column) for column in _COLUMNS]},
    }
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---\n\n{_words(exam, name)}"


def _feature(column: str) -> dict[str, object]:
    if column in ("choices", "labels"):
        return {"name": column, "list": "string"}
    return {"name": column, "dtype": "int64" if column == "answer" else "string"}


def _words(exam: Exam, name: str) -> str:
    topics = Counter(question.topic for question in exam.questions if question.topic)
    choices = Counter(len(question.choices) for question in exam.questions)
    counts = ", ".join(f"{count} with {number}" for number, count in sorted(choices.items()))
    writers = sorted({str(one.metadata["model"]) for one in exam.questions if one.metadata.get("model")})
    by = ", ".join(writers) or "an unnamed writer"
    words = template("card.md").format(name=name, size=len(exam), counts=counts, writers=by, hash=exam.hash)
    rows = [f"| {topic.replace('|', chr(92) + '|')} | {count} |" for topic, count in topics.most_common()]
    table = ["", "| topic | questions |", "|---|---|", *rows] if rows else []
    return "\n".join([words.rstrip("\n"), *table]) + "\n"
