"""An exam as one table for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io

from examcore import Exam


def table_files(exam: Exam) -> dict[str, str]:
    """`exam.csv`: a row per question, a column per choice (empty where a question has fewer), the index from 0."""
    most = max(len(question.choices) for question in exam.questions)
    choices = [f"choice_{number}" for number in range(most)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "question", *choices, "answer", "document_id", "chunk_id", "topic", "context"])
    for one in exam.questions:
        padded = [*one.choices, *[""] * (most - len(one.choices))]
        writer.writerow([one.id, one.stem, *padded, one.key, one.document_id, one.chunk_id, one.topic, one.context])
    return {"exam.csv": text.getvalue()}
