"""Reports with citations: argue, validate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from examcore import CachedLanguageModel, ReplyStore, write_lines
from examcore.console import AsJson, show_result
from grading._file_rows import read_rows
from grading._printing import shortened
from grading.commands._options import ArgueJudges, ArgueOutput, ArgueRules, Resampling
from grading.formats._auto_argue_files import is_auto_argue, read_auto_argue
from grading.formats._file_faults import in_words, refuse
from grading.formats._nugget_files import matched, of_whole_documents, read_nuggets
from grading.formats._report_files import foreign_citations, read_reports, whole_documents
from grading.reports._argue import argue as judged
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
Reports = Annotated[
    Path,
    typer.Argument(
        metavar="REPORTS", help="Reports of TREC RAG, NeuCLIR or RAGTIME, or a folder; Auto-ARGUE's judgments.jsonl."
    ),
]
Cited = Annotated[
    Path | None,
    typer.Option(
        "--cited-sentences", metavar="FILE", help="The annotation tool's sentences by citation, beside REPORTS."
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient/--strict", help="Go on without what is faulty instead of stopping.")]


def argue(
    reports: Reports,
    nuggets: Annotated[Path, typer.Argument(metavar="NUGGETS", help="Nuggets: a bank, nuggetizer's, NeuCLIR's.")],
    rules: ArgueRules,
    judges: ArgueJudges,
    output: ArgueOutput,
    resampling: Resampling,
    judgments: Annotated[
        Path | None, typer.Argument(metavar="JUDGMENTS", help="Human judgements, one or several to a line.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """Judge every sentence of reports by ARGUE's eight outcomes. Precision, recall and F1 per report and run."""
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
    material = ReportMaterial.of(found, bank, documents, requests)
    human = read_judgments(judgments, material) if judgments is not None else None
    models = [_model_judge(one, material, judges) for one in judges.judge or ()]
    kept = [AutoArgueJudge(theirs, material)] if theirs is not None else []
    if human is None and not models and not kept:
        raise ValueError("judgments: neither a file nor a --judge; wanted one of them")
    judge = InTurn([*([human] if human else []), *kept, *models])
    decided = judged(found, bank, judge, citations=rules.citations, skip_unjudged=rules.unjudged == "skip")
    scores = score_reports(found, decided, bank)
    runs = score_runs(scores, bank, resampling.sampling, missing=rules.missing)
    if output.judged is not None:
        write_lines(output.judged, (judgment_line(*one) for one in judge.decided.items() if one[1].verdict is not None))
    if output.grades is not None:
        write_lines(output.grades, grade_lines(scores, bank))
    warnings = [*in_words(read.faults), *in_words(known.faults), *remarks]
    if human is not None:
        outcomes = {(one.run, one.topic, one.index): one.outcome for one in decided}
        warnings += in_words([*human.remarks, *human.overruled(outcomes), *human.without_effect()])
    warnings += _unsure(models)
    settings = {"citations": rules.citations, **vars(resampling)}
    by_auto_argue = [] if theirs is None else auto_argue_runs(found, bank, theirs, resampling.sampling)
    result = ArgueResult(decided, scores, runs, warnings, settings, by_auto_argue, every_sentence=output.sentences)
    show_result(result, as_json=as_json)


def validate(
    reports: Reports,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The collection (id), which citations must be from.")
    ] = None,
    cited_sentences: Cited = None,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> None:
    """List everything that is wrong with a file of reports.

    Exit status 2 when something is, and --lenient is not given.
    """
    read = read_reports(reports, cited_sentences)
    faults = [*read.faults]
    if documents is not None:
        known = {row.text("id") for row in read_rows(documents, {"id": _DOCUMENTS["id"]})}
        faults += foreign_citations(read.reports, known, str(reports))
    found = read._replace(faults=tuple(faults))
    show_result(found, as_json=as_json)
    if found.stopping and not lenient:
        raise typer.Exit(2)


def _texts(path: Path | None, columns: dict[str, tuple[str, ...]], wanted: Sequence[str], what: str) -> dict[str, str]:
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


def _unsure(judges: Iterable[Judge]) -> list[str]:
    found: list[str] = []
    for one in judges:
        if isinstance(one, LanguageModelJudge):
            if one.unparsed:
                shown, _ = one.unparsed.most_common(1)[0]
                found.append(f"{one.unparsed.total()} replies were neither yes nor no, most often {shown!r}")
            if one.cut:
                found.append(f"{len(one.cut)} documents were too long for the model and were read to its limit only")
    return found
