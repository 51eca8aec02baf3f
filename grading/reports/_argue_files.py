"""ARGUE of files: the reports, nuggets and judgements that are read, who decides the rest, and what is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from examcore import CachedLanguageModel, ReplyStore, write_lines
from grading._file_rows import read_rows
from grading._printing import shortened
from grading._records import Sampling
from grading.formats._auto_argue_files import is_auto_argue, read_auto_argue
from grading.formats._file_faults import in_words, refuse
from grading.formats._nugget_files import matched, of_whole_documents, read_nuggets
from grading.formats._report_files import ReportsRead, foreign_citations, read_reports, whole_documents
from grading.reports._argue import argue
from grading.reports._argue_result import ArgueResult
from grading.reports._argue_scores import grade_lines, score_reports, score_runs
from grading.reports._auto_argue import AutoArgueJudge, auto_argue_runs
from grading.reports._judges import EntailmentJudge, LanguageModelJudge, cross_encoder
from grading.reports._judging_material import InTurn, Judge, ReportMaterial
from grading.reports._judgments import judgment_line, read_judgments

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
