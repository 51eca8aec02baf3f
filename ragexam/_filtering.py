"""Filtering an exam that is written: what each rule would remove, and a new exam without it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from ragexam._filter_results import DroppedExample, FilteredExam, FilterPreview, RulePreview

EXAMPLES = 3
"""Examples shown of what a rule drops."""


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


def changed(settings: Mapping[str, object], given: Sequence[str]) -> dict[str, object]:
    """The settings with those of the command line, each `name=value` with a YAML value, over them."""
    found = dict(settings)
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not value.strip():
            raise ValueError(f"--rule {one}: no value; wanted name=threshold, such as near-duplicate=0.7 or name=off")
        try:
            found[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ValueError(f"--rule {one}: {value!r} is not YAML; quote it") from None
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
    needs, writer = needs_of(rules), source.writer
    model = None
    if "model" in needs:
        from rag import load_model

        model = CachedLanguageModel(
            load_model(writer.model, writer.dtype, writer.device, server=writer.server), replies
        )
    return RuleTools(_encoder(writer) if "encoder" in needs else None, model, seed, report)


def _encoder(writer: WriterSettings) -> Callable[[Sequence[str]], Any]:
    from rag import DEFAULT_ENCODER, embed

    return lambda texts: embed(texts, encoder=writer.encoder or DEFAULT_ENCODER)


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
