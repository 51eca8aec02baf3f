"""Writing an exam for another tool: what lies beside it goes into one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from examcore import Exam, RunFolder, read_chunks, read_exam, read_pool, write_text
from rag import AnswerStore, ExamPrompts, bound_prompts, stored_prompts
from ragexam._sources import contexts, with_sources
from ragexam.exchange import _hub as hub
from ragexam.exchange import _inspect_tasks as inspect_tasks
from ragexam.exchange import _lm_eval as lm_eval
from ragexam.exchange import _response_export as sat
from ragexam.exchange import _table as table
from ragexam.exchange._formats import slug


class Export(NamedTuple):
    """The files of an export by name, the command lines that use them, and what is to be known of them."""

    files: Mapping[str, str]
    use: Sequence[str]
    notes: Sequence[str] = ()


FORMATS = ("lm-eval", "inspect", "hf", "csv", "responses")


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

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {**asdict(self), "out": str(self.out)}

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
    exam = with_sources(read_exam(RunFolder(path).exam if path.is_dir() else path))
    asked, notes = asked_beside(path, exam) if to in ("lm-eval", "inspect") else ([], [])
    chosen = slug(name or f"ragexam_{exam.hash[:8]}")
    export = _answers(path, exam, out) if to == "responses" else _export(to, exam, asked, chosen, out)
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
        names = inspect_tasks.variants(asked)
        use = [f"cd {out} && inspect eval exam.py --model MODEL -T passages={one}" for one in names]
        return Export(inspect_tasks.task_files(exam, asked), use)
    if to == "hf":
        return Export(hub.dataset_files(exam, name), [f"datasets.load_dataset({str(out)!r}, split='test')"])
    return Export(table.table_files(exam), [])


def _answers(path: Path, exam: Exam, out: Path) -> Export:
    files, notes = sat.answer_files(_beside(path).answers, exam)
    return Export(files, [f"ragexam fit {out / name} --out {out / 'fit'}" for name in files], notes)


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
    _distinct([one.name for one in asked], folder.answers)
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


def _distinct(names: Sequence[str], store: Path) -> None:
    slugs = [slug(name) for name in names]
    for name, short in zip(names, slugs, strict=True):
        if slugs.count(short) > 1:
            raise ValueError(f"{store}: retriever {name!r}: two are called {short!r} in files; wanted other names")
