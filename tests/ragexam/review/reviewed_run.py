"""Run folders to review: one plain, one whose every text is hostile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examcore import Chunk, Dropped, Exam, Question, write_chunks, write_dropped, write_exam
from ragexam.review import ReviewServer
from ragexam.review._server import Application

HOSTILE = (
    "<script>window.pwned = 1</script>",
    '<img src="x" onerror="window.pwned = 2">',
    "</textarea></script><svg onload='window.pwned = 3'>",
    "javascript:window.pwned=4//{{pwned}}${pwned}",
    "\u202eright to left override\u202c אבגד مرحبا",
    "👩‍👩‍👧 ünï \ud800 \0\x07 \u2028 --> ]]>",
    "<style>*{display:none}</style><base href='//evil.example/'>",
    "x" * 100_000,
)


def plain_run(folder: Path, questions: int = 12) -> Path:
    """A dozen questions, five drops with a question and two without, chunks, no answers."""
    folder.mkdir(parents=True, exist_ok=True)
    write_exam(folder / "exam.jsonl", Exam(tuple(_question(f"q{n}", n, n % 4) for n in range(questions))))
    lost = [Dropped("answer leak: 3 words", f"raw {n}", f"c{n}", _question(f"d{n}", n, 0)) for n in range(5)]
    lost += [Dropped("unparsable: no choices", "a reply\nwithout choices", "c1"), Dropped("stem strays", "What?", "c2")]
    write_dropped(folder / "dropped.jsonl", lost)
    text = "The passage says that answer 1 holds."
    write_chunks(folder / "chunks.jsonl", [Chunk(f"c{n}", "doc", text, 0, len(text)) for n in range(questions)])
    return folder


def _question(name: str, number: int, key: int) -> Question:
    evidence = f"The wheel {number} has answer {key}\nspokes."
    return Question(
        name,
        f"How many spokes does wheel {number} ({name}) have in the big machine?",
        tuple(f"answer {choice}" for choice in range(4)),
        key,
        document_id="doc",
        chunk_id=f"c{number}",
        topic="wheels",
        context=f"Before it. {evidence} After it: answer {key} again, and answer {key}0 too.",
        metadata={"evidence": " ".join(evidence.split()), "model": "m", "support": -1.5, "seed": 3},
    )


def hostile_run(folder: Path) -> Path:
    """Every text of every question is hostile."""
    folder.mkdir(parents=True, exist_ok=True)
    questions = []
    for number, text in enumerate(HOSTILE):
        choices = tuple(f"{text} {choice}" for choice in range(3))
        extra = {
            "topic": text[:500],
            "context": f"{text} {choices[1]} {text}",
            "metadata": {"evidence": text, "m": text},
        }
        questions.append(Question(f"{number}{text[:60]}", text, choices, 1, labels={text[:40]: [text]}, **extra))  # type: ignore[arg-type]
    write_exam(folder / "exam.jsonl", questions)
    lost = [Dropped(f"{one.stem[:400]}: {one.stem[:400]}", one.stem, "c", _renamed(one)) for one in questions]
    write_dropped(folder / "dropped.jsonl", [*lost, *(Dropped(text[:500], text) for text in HOSTILE)])
    return folder


def _renamed(question: Question) -> Question:
    return Question("d" + question.id, question.stem, question.choices, question.key, context=question.context)


@contextmanager
def served(application: Application) -> Iterator[ReviewServer]:
    """A server of the application on a thread."""
    with ReviewServer(application) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
