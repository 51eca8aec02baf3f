"""Filtering an exam that is written: what each rule would remove, and a new exam without it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml

from exam_gen.rules import RULE_KINDS, Filtered, Rule, RuleStep, RuleTools, apply_rules, needs_of
from examcore import (
    CachedLanguageModel,
    Progress,
    ReplyStore,
    ReportProgress,
    RunFolder,
    RunRecord,
    file_hash,
    read_dropped,
    read_questions,
    write_dropped,
    write_exam,
)
from ragexam._config import WriterSettings
from ragexam._settings import yaml_value

EXAMPLES = 3
"""Examples shown of what a rule drops."""
SHOWN_CHARACTERS = 160
"""Characters of an example's question that are printed; JSON holds all."""


@dataclass(frozen=True)
class FilterSource:
    """An exam to be filtered, with what its run says of the rules and of the models."""

    exam: Path
    folder: RunFolder
    settings: Mapping[str, object]
    writer: WriterSettings

    @classmethod
    def of(cls, path: Path, model: str | None = None, encoder: str | None = None) -> FilterSource:
        """The exam of a run folder, or an `exam.jsonl`; the run's configuration is read where there is one."""
        exam = path / "exam.jsonl" if path.is_dir() else path
        folder = RunFolder(exam.parent)
        known = RunRecord.open(folder).content.get("configuration", {}) if folder.record.exists() else {}
        given = {name: value for name, value in (("model", model), ("encoder", encoder)) if value is not None}
        writer = WriterSettings.model_validate({**known.get("writer", {}), **given})
        return cls(exam, folder, known.get("filters", {}), writer)


@dataclass(frozen=True)
class DroppedExample:
    """A question that a rule would drop by itself, and why."""

    id: str
    reason: str
    question: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class RulePreview:
    """What one rule would remove: `alone` of all questions, `dropped` of those `seen` in its turn.

    `share` is that of `dropped` among all questions, `rewritten` the questions that it would change.
    """

    rule: str
    limit: str
    what: str
    alone: int
    seen: int
    dropped: int
    share: float
    rewritten: int
    examples: tuple[DroppedExample, ...]

    def lines(self) -> list[str]:
        """A row of the table, and the examples below it."""
        rewritten = f" ({self.rewritten} rewritten)" if self.rewritten else ""
        counts = f"{self.rule:22} {self.limit:>6} {self.alone:6} {self.dropped:8} {self.share:6.1%}"
        examples = [f"    {one.reason}\n        {one.question[:SHOWN_CHARACTERS]}" for one in self.examples]
        return [f"{counts}  {self.what}{rewritten}", *examples]


@dataclass(frozen=True)
class FilterPreview:
    """A dry run: the questions of the exam, those that would be kept, and what each rule would remove."""

    n_questions: int
    kept: int
    rules: tuple[RulePreview, ...]

    def lines(self) -> list[str]:
        """A table with examples."""
        head = f"{'rule':22} {'limit':>6} {'alone':>6} {'in turn':>8} {'share':>6}  drops what"
        rows = [line for one in self.rules for line in one.lines()]
        return [head, *rows, f"{self.kept} of {self.n_questions} questions would be kept"]


@dataclass(frozen=True)
class FilteredExam:
    """A new exam: its file, the questions before and after, and those dropped and rewritten by rule."""

    out: Path
    n_questions: int
    kept: int
    dropped: Mapping[str, int]
    rewritten: Mapping[str, int]

    def lines(self) -> list[str]:
        """Where the exam is, its size and its losses."""
        lost = ", ".join(f"{count} {name}" for name, count in self.dropped.items()) or "none"
        return [f"{self.out}: {self.kept} questions; dropped: {lost}"]


def changed(settings: Mapping[str, object], given: Sequence[str]) -> dict[str, object]:
    """The settings with those of the command line, each `name=value` with a YAML value, over them."""
    found = dict(settings)
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not value.strip():
            raise ValueError(f"--rule {one}: no value; wanted NAME=LIMIT (near-duplicate=0.7), NAME=on or NAME=off")
        try:
            found[name.strip()] = yaml_value(value)
        except yaml.YAMLError:
            raise ValueError(f"--rule {one}: {value!r} is not YAML; wanted it in quotes") from None
    return found


def dry_run(source: FilterSource, rules: Sequence[Rule], seed: int, progress: Progress) -> FilterPreview:
    """What each rule would remove, alone and in its turn; nothing is written but the replies of models."""
    questions = read_questions(source.exam)
    with progress.step("filter") as report, _store(source, rules) as replies:
        tools = _tools(source, rules, replies, seed, report)
        filtered = apply_rules(questions, rules, tools)
        alone = [apply_rules(questions, [rule], tools).steps[0] for rule in rules]
    steps = zip(rules, filtered.steps, alone, strict=True)
    shown = tuple(_preview(rule, step, own, len(questions)) for rule, step, own in steps)
    return FilterPreview(len(questions), len(filtered.kept), shown)


def write_filtered(
    source: FilterSource,
    settings: Mapping[str, object],
    rules: Sequence[Rule],
    out: Path,
    seed: int,
    progress: Progress,
) -> FilteredExam:
    """Write what the rules keep as a new exam.

    `out` is a new run folder, or a new `.jsonl` file beside which the dropped questions go (`NAME.dropped.jsonl`). An
    exam that is there already is never touched: `ValueError`.
    """
    exam, lost = _targets(out)
    questions = read_questions(source.exam)
    with progress.step("filter") as report, _store(source, rules) as replies:
        filtered = apply_rules(questions, rules, _tools(source, rules, replies, seed, report))
    counts = {step.rule: len(step.dropped) for step in filtered.steps if step.dropped}
    if not filtered.kept:
        why = ", ".join(f"{count} {rule}" for rule, count in counts.items())
        raise ValueError(f"{source.exam}: no question is left ({why}); wanted laxer rules")
    if exam.name == "exam.jsonl" and exam.parent == out:
        _place_run(source, settings, filtered, RunFolder(out))
    else:
        write_dropped(lost, filtered.dropped)
        write_exam(exam, filtered.kept)
    rewritten = {step.rule: len(step.rewritten) for step in filtered.steps if step.rewritten}
    return FilteredExam(exam, len(questions), len(filtered.kept), counts, rewritten)


def _store(source: FilterSource, rules: Sequence[Rule]) -> ReplyStore:
    """The run's replies, so that a model is asked once over all dry runs; without a model the folder is left alone."""
    return ReplyStore(source.folder.replies if "model" in needs_of(rules) else ":memory:")


def _tools(
    source: FilterSource, rules: Sequence[Rule], replies: ReplyStore, seed: int, report: ReportProgress
) -> RuleTools:
    """What the rules need and no more: models are loaded for the rules that ask for them."""
    from rag import DEFAULT_ENCODER, embed, load_language_model

    needs, writer = needs_of(rules), source.writer
    model = CachedLanguageModel(load_language_model(writer), replies) if "model" in needs else None
    encode = partial(embed, encoder=writer.encoder or DEFAULT_ENCODER) if "encoder" in needs else None
    return RuleTools(encode, model, seed, report)


def _preview(rule: Rule, step: RuleStep, alone: RuleStep, total: int) -> RulePreview:
    kind = RULE_KINDS.get(step.rule)
    examples = [
        DroppedExample(one.question.id, one.reason, one.question.stem, one.question.choices)
        for one in alone.dropped[:EXAMPLES]
        if one.question
    ]
    return RulePreview(
        rule=step.rule,
        limit=rule.limit,
        what=kind.what if kind else "the words given",
        alone=len(alone.dropped),
        seen=step.seen,
        dropped=len(step.dropped),
        share=len(step.dropped) / total,
        rewritten=len(step.rewritten),
        examples=tuple(examples),
    )


def _targets(out: Path) -> tuple[Path, Path]:
    """Where exam and dropped questions go; raises `ValueError` when an exam is there."""
    folder = out.suffix != ".jsonl"
    exam = RunFolder(out).exam if folder else out
    lost = RunFolder(out).dropped if folder else out.with_suffix(".dropped.jsonl")
    taken = next((path for path in (exam, lost, *([RunFolder(out).record] if folder else [])) if path.exists()), None)
    if taken is not None:
        raise ValueError(f"{taken}: already there; wanted a new folder or file for the filtered exam")
    return exam, lost


def _place_run(source: FilterSource, settings: Mapping[str, object], filtered: Filtered, folder: RunFolder) -> None:
    """A run folder that can be sat: the exam last, so that a folder with one is complete."""
    with folder.held():
        for name in ("corpus", "chunks", "shots"):
            if (path := getattr(source.folder, name)).exists():
                shutil.copyfile(path, getattr(folder, name))
        before = read_dropped(source.folder.dropped) if source.folder.dropped.exists() else []
        write_dropped(folder.dropped, [*before, *filtered.dropped])
        record, known = RunRecord.open(folder), RunRecord.open(source.folder).content
        record.content |= {name: known[name] for name in ("seed", "versions", "inputs") if name in known}
        record.content["configuration"] = {**known.get("configuration", {}), "filters": dict(settings)}
        record.content["filtered"] = {"exam": str(source.exam), "hash": file_hash(source.exam)}
        record.save()
        write_exam(folder.exam, filtered.kept)
