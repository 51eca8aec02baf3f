"""Writing an exam for another tool, or its answers as a table: what lies beside it goes into one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from examcore import Exam, RunFolder, read_chunks, read_pool, write_text
from rag import AnswerStore, ExamPrompts, bound_prompts, responses_text, stored_prompts
from ragexam._assembling import contexts, open_exam, with_sources
from ragexam.exchange import _hub as hub
from ragexam.exchange import _inspect_tasks as inspect_tasks
from ragexam.exchange import _lm_eval as lm_eval
from ragexam.exchange._formats import slug


class Export(NamedTuple):
    """The files of an export by name, the command lines that use them, and what is to be known of them."""

    files: Mapping[str, str]
    use: Sequence[str]
    notes: Sequence[str] = ()


FORMATS = ("lm-eval", "inspect", "hf", "csv", "responses")
MOST_NAMED = 3
"""So many pipelines are named that lack answers, those that lack most."""


@dataclass(frozen=True)
class ExportResult:
    """An exam written into the folder `out` in the format `to`; `exam` is its hash.

    `passages` names the retrievers whose passages go out, `use` holds command lines, `notes` says what was left out or
    is missing, and why.
    """

    to: str
    out: Path
    name: str
    exam: str
    questions: int
    passages: list[str]
    use: list[str]
    notes: list[str]

    def lines(self) -> list[str]:
        """Where the exam is, the notes, and how to use it."""
        head = f"{self.out}: {self.questions} questions of exam {self.exam}"
        return [head, *(f"note: {note}" for note in self.notes), *self.use]


def export_exam(path: Path, to: str, out: Path, name: str = "") -> ExportResult:
    """Write an exam, a file or a run folder's, into a new folder `out` in one of the `FORMATS`.

    Raises ValueError for an unknown format, a folder that holds
    something, and answers beside the exam that are only partly there, but for `responses`.
    """
    if to not in FORMATS:
        raise ValueError(f"--to {to}: unknown; wanted one of {', '.join(FORMATS)}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out}: is there and not empty; wanted a new folder")
    exam = with_sources(open_exam(path))
    asked, notes = asked_beside(path, exam) if to in ("lm-eval", "inspect") else ([], [])
    chosen = slug(name or f"ragexam_{exam.hash[:8]}")
    export = answer_files(path, exam, out) if to == "responses" else _export(to, exam, asked, chosen, out)
    for file, text in export.files.items():
        write_text(out / file, [text])
    return ExportResult(
        to=to,
        out=out,
        name=chosen,
        exam=exam.hash,
        questions=len(exam),
        passages=[one.name for one in asked],
        use=list(export.use),
        notes=[*notes, *export.notes],
    )


def _export(to: str, exam: Exam, asked: Sequence[ExamPrompts], name: str, out: Path) -> Export:
    if to == "lm-eval":
        words = f"--include_path {out} --output_path samples --log_samples"
        use = [
            f"lm_eval --model hf --model_args pretrained=MODEL --tasks {tasks} {words}"
            for tasks in (name, f"{name}_chat --apply_chat_template")
        ]
        return Export(lm_eval.task_files(exam, asked, name), use)
    if to == "inspect":
        files = inspect_tasks.task_files(exam, asked)
        names = [name.removesuffix(".jsonl") for name in files if name.endswith(".jsonl")]
        return Export(files, [f"cd {out} && inspect eval exam.py --model MODEL -T passages={one}" for one in names])
    if to == "hf":
        return Export(hub.dataset_files(exam, name), [f"datasets.load_dataset({str(out)!r}, split='test')"])
    return Export(table_files(exam), [])


def _beside(path: Path) -> RunFolder:
    """The run folder that an exam lies in."""
    return RunFolder(path if path.is_dir() else path.parent)


def asked_beside(path: Path, exam: Exam) -> tuple[list[ExamPrompts], list[str]]:
    """Closed book and oracle, then what the pipelines of the run beside an exam were asked; what was left out."""
    folder = _beside(path)
    sourced = all(question.context for question in exam.questions)
    chunks = read_chunks(folder.chunks) if folder.chunks.exists() else contexts(exam) if sourced else []
    ends, notes = bound_prompts(exam, chunks), []
    if len(ends) < 2:
        notes.append("oracle is left out: not every question's source is known")
    before: list[ExamPrompts] = []
    if folder.answers.exists():
        pool = read_pool(folder.shots)
        with AnswerStore(folder.answers) as store:
            if store.exam == exam.hash:
                before = stored_prompts(store, exam, chunks, pool)
            else:
                notes.append(f"retrievers are left out: {store.path} holds answers to exam {store.exam or '(none)'}")
    asked = _together(ends, before)
    slugs = [slug(one.name) for one in asked]
    for one, short in zip(asked, slugs, strict=True):
        if slugs.count(short) > 1:
            raise ValueError(
                f"{folder.answers}: retriever {one.name!r}: two are called {short!r} in files; wanted other names"
            )
    return asked, notes


def _together(ends: Sequence[ExamPrompts], before: Sequence[ExamPrompts]) -> list[ExamPrompts]:
    """Closed book and oracle first, called as in the run and at a level of each factor that it crosses; once, where it
    has them itself."""
    known = {(one.kind, one.shots) for one in before}
    added = []
    for end in ends:
        if (end.kind, end.shots) not in known:
            alike = [one for one in before if one.kind == end.kind]
            named = replace(end, retriever=alike[0].retriever) if alike else end
            added.append(replace(named, factors=(alike or before)[0].factors if before else {}))
    return sorted([*added, *before], key=lambda one: one.kind not in {end.kind for end in ends})


def answer_files(path: Path, exam: Exam, out: Path) -> Export:
    """`responses.csv`; `responses-so-far.csv`, empty where an answer is missing, and a note that counts those.

    Raises ValueError without answers, and for those to another exam.
    """
    store = _beside(path).answers
    if not store.exists():
        raise ValueError(f"{store}: no such file; wanted the answers of a sitting (ragexam sit)")
    with AnswerStore(store) as answers:
        if answers.exam != exam.hash:
            raise ValueError(f"{store}: holds answers to exam {answers.exam or '(none)'}; wanted exam {exam.hash}")
        pipelines, scores = answers.pipelines(), answers.scores(exam)
    lacking = Counter(one.id for one in pipelines for question in exam.ids if (one.id, question) not in scores)
    name = "responses-so-far.csv" if lacking else "responses.csv"
    files = {name: responses_text(exam.ids, pipelines, scores)}
    use = [f"ragexam fit {out / name} --out {out / 'fit'}"]
    if not lacking:
        return Export(files, use)
    named = ", ".join(f"{name} {count}" for name, count in lacking.most_common(MOST_NAMED))
    more = f" and {len(lacking) - MOST_NAMED} more pipelines" if len(lacking) > MOST_NAMED else ""
    note = (
        f"{lacking.total()} of {len(pipelines) * len(exam)} answers are missing ({named}{more}): one that failed at "
        "hard questions looks better than it is; the command of the sitting asks them again"
    )
    return Export(files, use, [note])


def table_files(exam: Exam) -> dict[str, str]:
    """`exam.csv`: a row per question, a column per choice (empty where a question has fewer), the index from 0."""
    fields = ["id", "stem", "key", "document_id", "chunk_id", "topic", "context"]
    table = pd.DataFrame(list(exam.questions))
    named = [{f"choice_{n}": text for n, text in enumerate(one.choices)} for one in exam.questions]
    choices = pd.DataFrame(named).fillna("")
    shown = pd.concat([table[fields[:2]], choices, table[fields[2:]]], axis=1)
    shown = shown.rename(columns={"stem": "question", "key": "answer"})
    return {"exam.csv": shown.to_csv(index=False, lineterminator="\n")}
