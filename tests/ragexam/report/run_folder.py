"""A run folder with simulated answers: real passages, made-up questions, abilities that are known."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

from examcore import Question, read_exam
from rag import Answer, AnswerStore, Pipeline

RETRIEVERS: Mapping[str, float] = {"closed-book": -1.1, "bm25": 0.2, "dense": -0.1, "hybrid": 0.25, "oracle": 0.9}
LLMS: Mapping[str, float] = {"smollm2-135m-instruct": -0.35, "gemma-3-270m": 0.35}
SHOTS: Mapping[str, float] = {"0": -0.3, "1": 0.05, "2": 0.25}
STEMS = (
    "Which statement does the section on {topic} describe for {name}?",
    "What does the reference say about {name} in {topic}?",
    "How is {name} evaluated when {topic} is used?",
    "When does {name} take effect according to {topic}?",
    "Why would you compare {name} with the default of {topic}?",
    "Where is {name} defined in the text on {topic}?",
    "Name the construct that {topic} uses to describe {name}.",
    "Explain which value {name} returns in {topic}.",
    "Who or what calls {name} while {topic} is executed?",
)
HOSTILE = (
    "Which <script>document.title='owned'</script> tag <img src=http://example.invalid/x.png onerror=alert(1)> runs?",
    "What does this word do to the page: " + "w" * 10_000 + "?",
    "How are \"quotes\" & 'ampersands', </td></table><h1>broken</h1> and {{ 7 * 7 }} $x_2$ shown?",
)


def write_run(
    folder: Path,
    *,
    questions: int = 50,
    llms: Mapping[str, float] = LLMS,
    retrievers: Mapping[str, float] = RETRIEVERS,
    shots: Mapping[str, float] = SHOTS,
    hostile: bool = True,
    seed: int = 0,
    answers_seed: int | None = None,
) -> Path:
    """Write everything of a run but `fit/`, `pruned/`, retrieval and the page; the last question is keyed wrongly.

    Runs of the same `seed` have the same questions; `answers_seed` gives one answers of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    exam = [_question(number, rng) for number in range(questions)]
    if hostile:
        for question, stem in zip(exam[3::9], HOSTILE, strict=False):
            question["question"] = stem
        exam[3]["choices"][0] = "</script><b>bold</b>"
    _lines(folder / "exam.jsonl", exam)
    _lines(folder / "dropped.jsonl", _dropped(exam, rng))
    _lines(folder / "chunks.jsonl", [_chunk(question) for question in exam])
    _lines(folder / "corpus.jsonl", [_document(question) for question in exam])
    _responses(folder / "responses.csv", exam, llms, retrievers, shots, rng, answers_seed)
    write_answers(folder)
    record = {
        "format": 1,
        "configuration": {
            "run": "runs/simulated",
            "seed": seed,
            "corpus": {"source": "python-docs", "sample": None},
            "writer": {"model": "embedded:qwen2.5-coder-1.5b", "dtype": "auto", "device": "auto"},
            "grid": {"llms": list(llms), "retrievers": list(retrievers), "shots": [int(n) for n in shots]},
        },
        "versions": {"ragexam": "0.1.0", "python": "3.11", "numpy": np.__version__},
        "steps": {
            name: {"fingerprint": hashlib.sha256(name.encode()).hexdigest()[:16], "seconds": spent, "done": True}
            for name, spent in {"corpus": 0.4, "exam": 311.2, "answers": 402.7, "fit": 58.1, "prune": 21.0}.items()
        },
    }
    (folder / "run.json").write_text(json.dumps(record, indent=2))
    return folder


def _question(number: int, rng: np.random.Generator) -> dict[str, object]:
    names = sorted(topics)
    topic = names[number % len(names)]
    text = " ".join(topics[topic].split())
    start = int(rng.integers(0, max(1, len(text) - 700)))
    passage = text[start : start + 600]
    words = sorted({word.strip(".,;:()`'\"*") for word in passage.split() if word.isascii() and len(word) > 4})
    picked = [str(word) for word in rng.choice(words or ["value"], size=4, replace=len(words) < 4)]
    choices = [f"{word} {number}{letter}" for word, letter in zip(picked, "abcd", strict=True)]
    return {
        "id": f"q{number:03d}",
        "question": STEMS[number % len(STEMS)].format(topic=topic.lower(), name=picked[0]),
        "choices": choices,
        "answer": int(rng.integers(4)),
        "document_id": topic,
        "chunk_id": f"{topic}:{start}",
        "topic": topic[:1].upper(),
        "context": passage,
        "labels": {},
        "metadata": {"model": "qwen2.5-coder-1.5b", "verifier": "qwen2.5-coder-1.5b", "prompt": "stem/1", "seed": 0},
    }


def _dropped(exam: Sequence[Mapping[str, object]], rng: np.random.Generator) -> list[dict[str, object]]:
    reasons = ["not in the passage: the key", "fewer than four choices", "ambiguous: a distractor is also right"]
    return [
        {"reason": reasons[int(rng.integers(3))], "raw": f"<i>reply {n}</i>", "chunk_id": str(exam[n]["chunk_id"])}
        for n in range(min(17, len(exam)))
    ]


def _chunk(question: Mapping[str, object]) -> dict[str, object]:
    text = str(question["context"])
    return {
        "id": question["chunk_id"],
        "document_id": question["document_id"],
        "text": text,
        "start": 0,
        "end": len(text),
        "title": question["document_id"],
        "topic": question["topic"],
    }


def _document(question: Mapping[str, object]) -> dict[str, object]:
    return {
        "id": question["document_id"],
        "title": question["document_id"],
        "text": question["context"],
        "source": "",
        "topic": question["topic"],
    }


def _responses(
    path: Path,
    exam: Sequence[Mapping[str, object]],
    llms: Mapping[str, float],
    retrievers: Mapping[str, float],
    shots: Mapping[str, float],
    rng: np.random.Generator,
    answers_seed: int | None,
) -> None:
    n = len(exam)
    slope = rng.lognormal(0.3, 0.5, n)
    slope[-1] = -1.5
    difficulty = rng.normal(-0.4, 0.9, n)
    rng = rng if answers_seed is None else np.random.default_rng(answers_seed)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["student", "item", "score", "llm", "retriever", "icl"])
        for llm, retriever, icl in itertools.product(llms, retrievers, shots):
            theta = llms[llm] + retrievers[retriever] + shots[icl] + rng.normal(0, 0.1)
            p = 0.2 + 0.8 / (1 + np.exp(-slope * (theta - difficulty)))
            right = rng.random(n) < p
            for question, score in zip(exam, right, strict=True):
                out.writerow([f"{llm}+{retriever}+icl{icl}", question["id"], int(score), llm, retriever, icl])


def write_answers(folder: Path) -> None:
    """The store behind `responses.csv`: who is right has mostly read the source, larger models take longer."""
    exam = read_exam(folder / "exam.jsonl")
    known = {question.id: question for question in exam.questions}
    rng = np.random.default_rng(5)
    with (folder / "responses.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    pipelines = {row["student"]: Pipeline(row["llm"], row["retriever"], int(row["icl"])) for row in rows}
    with AnswerStore(folder / "answers.sqlite") as store:
        store.begin(exam, {pipeline: {} for pipeline in pipelines.values()})
        store.add(*(_answer(row, known[row["item"]], len(row["llm"]), rng) for row in rows))


def _answer(row: Mapping[str, str], question: Question, size: int, rng: np.random.Generator) -> Answer:
    right = row["score"] == "1"
    reading = {"closed-book": 0.0, "oracle": 1.0}.get(row["retriever"], 0.8 if right else 0.3)
    passages = () if row["retriever"] == "closed-book" else ("elsewhere",)
    if rng.random() < reading:
        passages = (question.chunk_id,)
    chosen = question.key if right else (question.key + 1) % len(question.choices)
    tokens = 60 + 150 * len(passages) + 40 * int(row["icl"])
    return Answer(row["student"], question.id, chosen, right, "", (), (), (), passages, tokens, size * tokens / 1e4)


def _lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
