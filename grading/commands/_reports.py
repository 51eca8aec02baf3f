"""Reports with citations and texts compared: argue, validate, similarity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from examcore.console import AsJson, Interval, Seed, interval_text, show_result
from grading.commands._options import ArgueJudges, ArgueOutput, ArgueRules, Resampling
from grading.commands._printing import PrintedResult

if TYPE_CHECKING:
    from grading._records import SystemReport
    from grading.reports._judging_material import Ask, Decision, Judge, ReportMaterial
    from grading.reports._judgments import HumanJudge
    from grading.reports._sentence_flow import SentenceOutcome

Reports = Annotated[
    Path, typer.Argument(metavar="REPORTS", help="Reports of TREC RAG, NeuCLIR or RAGTIME; or a folder.")
]
Cited = Annotated[
    Path | None,
    typer.Option(
        "--cited-sentences", metavar="FILE", help="The annotation tool's sentences by citation, beside REPORTS."
    ),
]
MOST_LISTED = 100
"""So many faults are listed for a reader; a file of another kind has one or more on every line."""
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
    """Judge every sentence of reports by ARGUE's eight outcomes; precision, recall and F1 per report and run."""
    from examcore import write_lines
    from grading.formats import _file_faults as faults
    from grading.formats import _nugget_files as nugget_files
    from grading.reports import _argue_scores as argue_scores
    from grading.reports._argue import argue as judge_sentences
    from grading.reports._argue_result import ArgueResult
    from grading.reports._judging_material import InTurn, ReportMaterial
    from grading.reports._sentence_flow import Citations

    for name, value, wanted in (
        ("--citations", rules.citations, ("any", "all", "micro")),
        ("--unjudged", rules.unjudged, ("error", "skip")),
        ("--missing", rules.missing, ("zero", "skip")),
        ("--by", judges.by, ("likelihood", "reply")),
    ):
        _require_one_of(name, value, wanted)
    found, warnings = _reports(reports, cited_sentences, lenient=lenient, whole_documents=rules.whole_documents)
    read = nugget_files.read_nuggets(nuggets)
    warnings += faults.in_words(read.faults)
    bank = nugget_files.of_whole_documents(read.nuggets) if rules.whole_documents else read.nuggets
    found, bank, remarks = nugget_files.matched(found, bank, str(nuggets))
    material = ReportMaterial.of(found, bank, _texts(judges.documents, _DOCUMENTS), _texts(judges.requests, _REQUESTS))
    human, deciding = _judges(judgments, judges, material)
    log = _Log(InTurn(deciding))
    decided = judge_sentences(
        found, bank, log, citations=cast(Citations, rules.citations), skip_unjudged=rules.unjudged == "skip"
    )
    scores = argue_scores.score_reports(found, decided, bank)
    runs = argue_scores.score_runs(
        scores, bank, missing=cast(argue_scores.Missing, rules.missing), level=resampling.interval, seed=resampling.seed
    )
    if output.judged is not None:
        log.write(output.judged)
    if output.grades is not None:
        write_lines(output.grades, argue_scores.grade_lines(scores, bank))
    warnings += [*remarks, *_said_in_vain(human, decided), *_unsure(deciding)]
    settings = {"citations": rules.citations, **vars(resampling)}
    result = ArgueResult(decided, scores, runs, warnings, settings, every_sentence=output.sentences)
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
    """List everything that is wrong with a file of reports; exit status 2 when something is, and --lenient is not."""
    from grading._table_rows import read_rows
    from grading.formats._file_faults import counted, in_words
    from grading.formats._report_files import foreign_citations, read_reports

    read = read_reports(reports, cited_sentences)
    known = {row.text("id") for row in read_rows(documents, {"id": _DOCUMENTS["id"]})} if documents else None
    faults = [*read.faults, *(foreign_citations(read.reports, known, str(reports)) if known is not None else ())]
    stopping = [one for one in faults if one.stops]
    remarks = [one for one in faults if not one.stops]
    every = [one for report in read.reports for one in report.sentences]
    content = {
        "valid": not stopping,
        "runs": len({one.run for one in read.reports}),
        "reports": len(read.reports),
        "sentences": len(every),
        "citations": sum(len(one.citations) for one in every),
        "faults": counted(stopping),
        "remarks": counted(remarks),
        "listed": [one._asdict() for one in faults],
    }
    head = (
        f"{content['reports']} reports by {content['runs']} runs, {content['sentences']} sentences, "
        f"{content['citations']} citations"
    )
    kinds = ", ".join(f"{name} {count}" for name, count in counted(stopping).items()) or "none"
    listed = [f"  {one}" for one in stopping[:MOST_LISTED]]
    if len(stopping) > MOST_LISTED:
        listed.append(f"  and {len(stopping) - MOST_LISTED} more, which --json lists")
    shown = [head, f"faults: {kinds}", *listed, "remarks:" + ("" if remarks else " none")]
    lines = [*shown, *(f"  {one}" for one in in_words(remarks))]
    show_result(PrintedResult(content, "\n".join(lines)), as_json=as_json)
    if stopping and not lenient:
        raise typer.Exit(2)


def similarity(
    text: Annotated[str, typer.Argument(metavar="TEXT_A", help="A text, or a file with one to a line.")],
    gold: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT_B...", help="The text to compare with, or several; or a file, several to a line by tabs."
        ),
    ],
    weights: Annotated[str, typer.Option(help="Weights of one, two and three words.")] = "2,1,0",
    measure: Annotated[str, typer.Option(help="jaccard, dice, cosine or block.")] = "jaccard",
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Say how close a reformulated question is to its gold standard, by weighted n-grams; of several, the closest."""
    from grading._similarity import MEASURES, Measure, require_weights

    _require_one_of("--measure", measure, tuple(MEASURES))
    chosen = require_weights(_numbers(weights))
    files = [_is_file(one) for one in (text, *gold)]
    if any(files) and not (all(files) and len(gold) == 1):
        raise ValueError(f"{text}, {', '.join(gold)}: files beside texts; wanted two files, or texts alone")
    named = cast(Measure, measure)
    if any(files):
        content = _file_similarity(Path(text), Path(gold[0]), chosen, named, interval, seed)
    else:
        content = _text_similarity(text, gold, chosen, named)
    show_result(PrintedResult(content, _similarity_lines(content)), as_json=as_json)


_DOCUMENTS = {"id": ("docid", "doc_id", "document_id"), "text": ("contents", "body", "segment", "passage")}
_REQUESTS = {
    "id": ("topic", "topic_id", "request_id", "qid", "query_id"),
    "text": ("problem_statement", "query", "title"),
}


class _Log:
    """A judge that remembers what was decided."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._made: dict[Ask, Decision] = {}

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        found = self._judge.decide(asks)
        self._made.update(zip(asks, found, strict=True))
        return found

    def write(self, path: Path) -> None:
        from examcore import write_lines
        from grading.reports._judgments import judgment_line

        write_lines(path, (judgment_line(*one) for one in self._made.items() if one[1].verdict is not None))


def _require_one_of(name: str, value: str, wanted: Sequence[str]) -> None:
    if value not in wanted:
        raise ValueError(f"{name}: {value!r}; wanted {', '.join(wanted[:-1])} or {wanted[-1]}")


def _reports(
    path: Path, cited_sentences: Path | None, *, lenient: bool, whole_documents: bool
) -> tuple[tuple[SystemReport, ...], list[str]]:
    from grading.formats import _file_faults as faults
    from grading.formats import _report_files as report_files

    read = report_files.read_reports(path, cited_sentences)
    faults.refuse(read.faults, lenient=lenient, listing=f"ragexam grade validate {path} lists them")
    found = report_files.whole_documents(read.reports) if whole_documents else read.reports
    return found, faults.in_words(read.faults)


def _texts(path: Path | None, columns: dict[str, tuple[str, ...]]) -> dict[str, str]:
    from grading._table_rows import read_rows

    rows = read_rows(path, columns) if path is not None else []
    return {row.text("id"): " ".join(filter(None, (row.text("background", ""), row.text("text")))) for row in rows}


def _judges(
    judgments: Path | None, options: ArgueJudges, material: ReportMaterial
) -> tuple[HumanJudge | None, list[Judge]]:
    """The file of judgements, and after it each named judge."""
    from grading.reports._judgments import read_judgments

    human = read_judgments(judgments, material) if judgments is not None else None
    names = options.judge or []
    if human is None and not names:
        raise ValueError("judgments: neither a file nor a --judge; wanted one of them")
    return human, [*([human] if human else []), *(_judge(one, material, options.replies, options.by) for one in names)]


def _judge(name: str, material: ReportMaterial, replies: Path | None, by: str) -> Judge:
    from grading.reports import _judges as judges

    kind, _, model = name.partition(":")
    if kind == "entailment" and model:
        return judges.EntailmentJudge(judges.cross_encoder(model), material)
    if kind != "model" or not model:
        raise ValueError(f"--judge: {name!r}; wanted model:NAME or entailment:NAME")
    from examcore import CachedLanguageModel, ReplyStore
    from rag import load_model, need_likelihoods

    loaded = load_model(model)
    if by == "likelihood":
        need_likelihoods(loaded)
    store = ReplyStore(replies if replies is not None else ":memory:")
    return judges.LanguageModelJudge(
        CachedLanguageModel(loaded, store), material, by="likelihood" if by == "likelihood" else "reply"
    )


def _said_in_vain(human: HumanJudge | None, decided: Sequence[SentenceOutcome]) -> list[str]:
    from grading.formats._file_faults import in_words

    if human is None:
        return []
    outcomes = {(one.run, one.topic, one.index): one.outcome for one in decided}
    return in_words([*human.remarks, *human.overruled(outcomes), *human.without_effect()])


def _unsure(judges: Iterable[Judge]) -> list[str]:
    from grading.reports._judges import LanguageModelJudge

    found: list[str] = []
    for one in judges:
        if isinstance(one, LanguageModelJudge):
            if one.unparsed:
                shown, _ = one.unparsed.most_common(1)[0]
                found.append(f"{one.unparsed.total()} replies were neither yes nor no, most often {shown!r}")
            if one.cut:
                found.append(f"{len(one.cut)} documents were too long for the model and were read to its limit only")
    return found


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _numbers(weights: str) -> list[float]:
    try:
        return [float(one) for one in weights.split(",")]
    except ValueError:
        raise ValueError(f"--weights: {weights!r}; wanted numbers like 2,1,0") from None


def _text_similarity(text: str, gold: Sequence[str], weights: Sequence[float], measure: str) -> dict[str, Any]:
    from grading._similarity import MEASURES, similarity, words

    for name, one in (("TEXT_A", text), *(("TEXT_B", one) for one in gold)):
        if not words(one):
            raise ValueError(f"{name}: {one!r} has no words; wanted some to compare")
    found = {name: similarity(text, gold, weights=weights, measure=name) for name in MEASURES}
    chosen = next(one for name, one in found.items() if name == measure)
    return {
        "score": chosen.score,
        "measure": measure,
        "weights": list(weights),
        **{name: one.score for name, one in found.items()},
        "by_length": {str(length): value for length, value in chosen.by_length.items()},
    }


def _file_similarity(
    path: Path, gold: Path, weights: Sequence[float], measure: Any, level: float, seed: int
) -> dict[str, Any]:
    import numpy as np

    from examcore import bootstrap_mean
    from grading._similarity import similarity

    texts, golds = _lines(path), _lines(gold)
    if len(texts) != len(golds):
        raise ValueError(f"{gold}: {len(golds)} lines; wanted {len(texts)}, one for each of {path}")
    _require_words(path, [[one] for one in texts])
    forms = [one.split("\t") for one in golds]
    _require_words(gold, forms)
    scores = [similarity(one, some, weights=weights, measure=measure) for one, some in zip(texts, forms, strict=True)]
    known = np.array([one.score for one in scores if not np.isnan(one.score)])
    return {
        "score": bootstrap_mean(known, level=level, seed=seed).as_dict(),
        "measure": measure,
        "weights": list(weights),
        "interval": level,
        "pairs": len(scores),
        "undefined": len(scores) - len(known),
        "lines": [
            {"line": at, "text": text, "score": one.score}
            for at, (text, one) in enumerate(zip(texts, scores, strict=True), 1)
        ],
    }


def _lines(path: Path) -> list[str]:
    from examcore import read_text

    lines = read_text(path).split("\n")
    return [one.rstrip("\r") for one in (lines[:-1] if lines and not lines[-1].strip() else lines)]


def _require_words(path: Path, lines: Sequence[Sequence[str]]) -> None:
    from grading._similarity import words

    if not lines:
        raise ValueError(f"{path}: is empty; wanted one text to a line")
    for number, some in enumerate(lines, start=1):
        if not any(words(one) for one in some):
            raise ValueError(f"{path}:{number}: the line has no words; wanted a text")


def _similarity_lines(content: dict[str, Any]) -> str:
    weights = ",".join(f"{one:g}" for one in content["weights"])
    if "pairs" not in content:
        head = f"{content['measure']} with weights {weights}: {content['score']:.3f}"
        return f"{head}\n" + "  ".join(f"{name} {content[name]:.3f}" for name in ("jaccard", "dice", "cosine", "block"))
    left_out = f"; {content['undefined']} pairs too short to compare" if content["undefined"] else ""
    mean = interval_text(content["score"])
    return f"mean {content['measure']} of {content['pairs']} pairs with weights {weights}: {mean}{left_out}"
