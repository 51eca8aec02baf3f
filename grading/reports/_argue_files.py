"""ARGUE of files: the reports, nuggets and judgements that are read, who decides the rest, and what is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from examcore import CachedLanguageModel, IntervalEstimate, ReplyStore, write_lines
from grading._file_rows import read_rows
from grading._printing import aligned, shortened
from grading._records import Sampling
from grading.formats._auto_argue_files import is_auto_argue, read_auto_argue
from grading.formats._file_faults import in_words, refuse
from grading.formats._nugget_files import matched, of_whole_documents, read_nuggets
from grading.formats._report_files import ReportsRead, foreign_citations, read_reports, whole_documents
from grading.reports._argue import SentenceOutcome, argue
from grading.reports._argue_scores import MEASURES, ReportScore, RunScore, grade_lines, score_reports, score_runs
from grading.reports._auto_argue import AutoArgueJudge, AutoArgueRun, auto_argue_lines, auto_argue_runs
from grading.reports._judges import EntailmentJudge, LanguageModelJudge, cross_encoder
from grading.reports._judging_material import InTurn, Judge, ReportMaterial
from grading.reports._judgments import judgment_line, read_judgments

FEW = 60
"""Sentences that are listed without being asked for."""


_DOCUMENTS = {"id": ("docid", "doc_id", "document_id"), "text": ("contents", "body", "segment", "passage")}
_REQUESTS = {
    "id": ("topic", "topic_id", "request_id", "qid", "query_id"),
    "text": ("problem_statement", "query", "title"),
}


@dataclass(frozen=True)
class ArgueRules:
    """How sentences and topics count."""

    citations: Annotated[
        Literal["any", "all", "micro"],
        typer.Option(help="Of several citations: any must support, all must, or each counts (micro)."),
    ] = "any"
    unjudged: Annotated[Literal["error", "skip"], typer.Option(help="A sentence that lacks a judgement.")] = "error"
    missing: Annotated[Literal["zero", "skip"], typer.Option(help="A topic that a run has no report on.")] = "zero"
    whole_documents: Annotated[
        bool, typer.Option("--whole-documents", help="Cut segment ids at '#', for nuggets bound to documents.")
    ] = False


@dataclass(frozen=True)
class ArgueJudges:
    """Who decides what the judgements leave open, and what they read."""

    judge: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:NAME", help="Who decides what JUDGMENTS leave open: model:NAME or entailment:NAME."),
    ] = None
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Texts of the cited documents (id, text), for --judge.")
    ] = None
    requests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What each report was asked for (topic, text), for --judge.")
    ] = None
    replies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where replies of --judge are kept, so that it goes on.")
    ] = None
    by: Annotated[Literal["likelihood", "reply"], typer.Option(help="How model:NAME decides.")] = "likelihood"


@dataclass(frozen=True)
class ArgueOutput:
    """What is written and shown besides the scores."""

    judged: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every decision made, in the format of JUDGMENTS.")
    ] = None
    grades: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write which nuggets each report has, as grades of 0 and 1.")
    ] = None
    sentences: Annotated[bool, typer.Option("--sentences", help="List every sentence, however many.")] = False


@dataclass(frozen=True)
class ArgueResult:
    """Sentences judged, scores of reports and runs, and the `settings` they were made with, as `--json` prints them.

    `auto_argue`: the runs by Auto-ARGUE's own measures, where its judgements were read. `every_sentence`: print each,
    however many.
    """

    judged: Sequence[SentenceOutcome]
    scores: Sequence[ReportScore]
    runs: Sequence[RunScore]
    warnings: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    auto_argue: Sequence[AutoArgueRun] = ()
    every_sentence: bool = False

    def record(self) -> dict[str, Any]:
        """Settings, measures, `runs`, `reports`, `sentences` and `warnings`.

        The measures of the first level are those of the only run, over topics with equal weight; several runs have
        none there. Values that are undefined are NaN.
        """
        alone = self.runs[0].macro if len(self.runs) == 1 else {}
        return {
            **self.settings,
            **alone,
            "runs": self.runs,
            "reports": self.scores,
            "sentences": self.judged,
            **({"auto_argue": self.auto_argue} if self.auto_argue else {}),
            "warnings": self._notes(),
        }

    def lines(self) -> list[str]:
        """A table of the runs, the reports where they are few, each sentence where they are few, warnings."""
        lines = _table(self.runs)
        if self.auto_argue:
            lines += ["", *auto_argue_lines(self.auto_argue)]
        if self.every_sentence or len(self.judged) <= FEW:
            for report in self.scores:
                lines += ["", *_report_lines(report, self.judged)]
        else:
            lines += ["", f"{len(self.judged)} sentences; --sentences lists each with its reason"]
        notes = self._notes()
        return [*lines, "", *notes] if notes else lines

    def _notes(self) -> list[str]:
        return [*self.warnings, *_remarks(self.runs)]


def argue_files(
    reports: Path,
    nuggets: Path,
    judgments: Path | None,
    cited_sentences: Path | None,
    rules: ArgueRules,
    judges: ArgueJudges,
    output: ArgueOutput,
    sampling: Sampling,
    *,
    lenient: bool,
) -> ArgueResult:
    """Judge and score the reports of a file, and write what `output` names.

    Raises `ValueError` (file:line, found, wanted) for faults of the files, for files with too little in common, and for
    a sentence that nobody judges.
    """
    read, known = read_reports(reports, cited_sentences), read_nuggets(nuggets)
    refuse(read.faults, lenient=lenient, listing=f"ragexam grade validate {reports} lists them")
    found, bank = read.reports, known.nuggets
    theirs = read_auto_argue(reports, found) if is_auto_argue(reports) else None
    if theirs is not None and rules.whole_documents:
        raise ValueError(f"{reports}: Auto-ARGUE's judgements name segments; wanted no --whole-documents")
    if rules.whole_documents:
        found, bank = whole_documents(found), of_whole_documents(bank)
    found, bank, remarks = matched(found, bank, str(nuggets))
    cited = [document for one in found for sentence in one.sentences for document in sentence.citations]
    documents = _texts(judges.documents, _DOCUMENTS, cited, "document that a report cites")
    requests = _texts(judges.requests, _REQUESTS, [one.topic for one in found], "topic of a report")
    material = ReportMaterial(found, bank, documents, requests)
    human = [] if judgments is None else [read_judgments(judgments, material)]
    models = [_model_judge(one, material, judges) for one in judges.judge or ()]
    kept = [] if theirs is None else [AutoArgueJudge(theirs, material)]
    judge = InTurn([*human, *kept, *models])
    if not judge.judges:
        raise ValueError("judgments: neither a file nor a --judge; wanted one of them")
    decided = argue(found, bank, judge, citations=rules.citations, skip_unjudged=rules.unjudged == "skip")
    scores = score_reports(found, decided, bank)
    runs = score_runs(scores, bank, sampling, missing=rules.missing)
    if output.judged is not None:
        write_lines(output.judged, (judgment_line(*one) for one in judge.decided.items() if one[1].verdict is not None))
    if output.grades is not None:
        write_lines(output.grades, grade_lines(scores, bank))
    outcomes = {(one.run, one.topic, one.index): one.outcome for one in decided}
    told = [fault for one in human for fault in (*one.remarks, *one.overruled(outcomes), *one.without_effect())]
    warnings = [*in_words(read.faults), *in_words(known.faults), *remarks, *in_words(told), *_unsure(models)]
    settings = {"citations": rules.citations, "interval": sampling.interval, "seed": sampling.seed}
    by_auto_argue = [] if theirs is None else auto_argue_runs(found, bank, theirs, sampling)
    return ArgueResult(decided, scores, runs, warnings, settings, by_auto_argue, every_sentence=output.sentences)


def validated_reports(reports: Path, documents: Path | None, cited_sentences: Path | None) -> ReportsRead:
    """The reports of a file with all that is wrong with them, also citations of none of the `documents`."""
    read = read_reports(reports, cited_sentences)
    if documents is None:
        return read
    known = {row.text("id") for row in read_rows(documents, {"id": _DOCUMENTS["id"]})}
    return read._replace(faults=(*read.faults, *foreign_citations(read.reports, known, str(reports))))


def _texts(path: Path | None, columns: Mapping[str, Sequence[str]], wanted: Sequence[str], what: str) -> dict[str, str]:
    """The texts of a file by id; `ValueError` where none of them is wanted."""
    rows = read_rows(path, columns) if path is not None else []
    found = {row.text("id"): " ".join(filter(None, (row.text("background", ""), row.text("text")))) for row in rows}
    if found and wanted and not found.keys() & set(wanted):
        raise ValueError(
            f"{path}: found {shortened(list(found))}, none of them a {what}; wanted some, as {wanted[0]!r}"
        )
    return found


def _model_judge(name: str, material: ReportMaterial, options: ArgueJudges) -> Judge:
    kind, _, model = name.partition(":")
    if kind == "entailment" and model:
        return EntailmentJudge(cross_encoder(model), material)
    if kind != "model" or not model:
        raise ValueError(f"--judge: {name!r}; wanted model:NAME or entailment:NAME")
    from rag import load_model, need_likelihoods

    loaded = load_model(model)
    if options.by == "likelihood":
        need_likelihoods(loaded)
    store = ReplyStore(options.replies if options.replies is not None else ":memory:")
    return LanguageModelJudge(CachedLanguageModel(loaded, store), material, by=options.by)


def _unsure(judges: Iterable[Judge]) -> Iterator[str]:
    for one in judges:
        if isinstance(one, LanguageModelJudge):
            if one.unparsed:
                shown, _ = one.unparsed.most_common(1)[0]
                yield f"{one.unparsed.total()} replies were neither yes nor no, most often {shown!r}"
            if one.cut:
                yield f"{len(one.cut)} documents were too long for the model and were read to its limit only"


def _remarks(runs: Sequence[RunScore]) -> list[str]:
    """What a reader of the numbers must know: undefined values, missing topics, sentences without outcome."""
    found: list[str] = []
    for one in runs:
        for name, topics in one.undefined.items():
            if topics:
                why = "precision or recall is" if name == "f1" else "0 of 0"
                found.append(f"run {one.run}: {name} undefined ({why}) on {_topics(topics)}, which its mean leaves out")
        if one.missing:
            left_out = "left out, so that it stands on fewer topics than others"
            effect_told = "recall and F1 are 0 there" if one.filled else left_out
            found.append(f"run {one.run}: {_topics(one.missing)} without a report: {effect_told}")
        if one.unjudged:
            found.append(f"run {one.run}: {one.unjudged} sentences or citations without an outcome count for nothing")
    return found


def _topics(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{len(names)} topic{'s' if len(names) > 1 else ''} ({shown}{', ...' if len(names) > 5 else ''})"


def _table(runs: Sequence[RunScore]) -> list[str]:
    rows: list[tuple[str, ...]] = [("run", "topics", "over topics", *MEASURES)]
    for one in runs:
        rows.append((one.run, str(len(one.topics)), "macro", *(_shown(one.macro[name]) for name in MEASURES)))
        rows.append(("", "", "micro", *(_shown(one.micro[name]) for name in MEASURES)))
    return aligned(rows)


def _shown(found: IntervalEstimate) -> str:
    value, low, high = found.as_dict().values()
    if value is None:
        return "undefined"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _report_lines(report: ReportScore, judged: Sequence[SentenceOutcome]) -> list[str]:
    ratios = ((name, report.value(name), *report.ratios[name]) for name in ("precision", "recall"))
    shown = ", ".join(f"{name} {_value(value)} ({part:g} of {whole:g})" for name, value, part, whole in ratios)
    head = f"run {report.run}, topic {report.topic}: {shown}, F1 {_value(report.value('f1'))}"
    own = [one for one in judged if (one.run, one.topic) == (report.run, report.topic)]
    pairs = ((f"  {one.index:>3}  {one.numbered}  {_cut(one.text)}", f"           {one.why}") for one in own)
    return [head, *(line for pair in pairs for line in pair)]


def _value(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else line[:87] + "..."
