"""A run whose questions are in Arabic, Japanese, German and English: texts written for the tests, simulated answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from examcore import Dropped, read_exam, write_dropped
from tests.ragexam.report.run_folder import write_answers, write_run

ARABIC = {
    "question": "متى يفتح مدير الميناء البوابة <b>الكبيرة</b> كل يوم؟",
    "choices": ["قبل دخول السفن الأولى", "بعد الظهر", "GET /gate", "في المساء"],
    "answer": 0,
    "topic": "الميناء",
    "context": "يفتح مدير الميناء البوابة كل صباح قبل دخول السفن الأولى. يكتب أسماء السفن في دفتر.",
    "metadata": {"language": "ar", "prompt": "stem/1"},
}
JAPANESE = {
    "question": "港長は毎朝、船の名前をどこに書きますか？",
    "choices": ["帳簿", "門", "箱 & 袋", "船"],
    "answer": 0,
    "topic": "港",
    "context": "港長は毎朝、最初の船が入る前に門を開けます。船の名前を帳簿に書き、運ばれてきた箱の数を数えます。",
    "metadata": {"language": "ja", "prompt": "stem/1"},
}
GERMAN = {
    "question": "Was zählt der Hafenmeister, nachdem er die Namen der Schiffe eingetragen hat?",
    "choices": ["die Kisten", "die Tore", "die Fische", "die Bücher"],
    "answer": 0,
    "topic": "Häfen",
    "context": "Der Hafenmeister trägt die Namen der Schiffe in ein Buch ein und zählt ihre Kisten.",
    "metadata": {"language": "de", "prompt": "stem/1"},
}


def mixed_run(
    folder: Path, *, questions: int = 12, models: tuple[str, ...] = ("small", "large"), answers_seed: int = 0
) -> Path:
    """A run folder that was sat: its questions are in Arabic, Japanese, German and English by turns."""
    write_run(folder, questions=questions, llms=dict.fromkeys(models, 0.2), hostile=False, answers_seed=answers_seed)
    path = folder / "exam.jsonl"
    exam = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, record in enumerate(exam):
        record |= ({**ARABIC}, {**JAPANESE}, {**GERMAN}, {})[number % 4]
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in exam), encoding="utf-8")
    first = read_exam(path).questions[0]
    write_dropped(folder / "dropped.jsonl", [Dropped("answer-leak", "", question=replace(first, id="dropped"))])
    (folder / "answers.sqlite").unlink()
    write_answers(folder)
    return folder
