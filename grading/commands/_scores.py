"""Scores of runs and passages: measure, cover, qrels, tau."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from examcore import read_text
from examcore.console import AsJson, interval_text, show
from grading._file_rows import holds_json, read_rows
from grading._printing import aligned, few, joined, named, pair_lines, show_ranked, write_scores
from grading._records import Bank, Sampling, SystemScores
from grading.commands._options import GradePrompt, GradeSource, Resampling, Scores, ShownPairs
from grading.formats._bank_files import read_bank_questions
from grading.formats._common_parts import (
    graded_passages,
    graded_questions,
    lacking_queries,
    require_judged_passages,
    require_level,
    require_parsed,
    require_reached,
    require_shared_passages,
)
from grading.formats._grades import ReadGrades, qrels_grades, read_grades
from grading.formats._trec import (
    QRELS_COLUMNS,
    Qrels,
    TrecRun,
    is_qrels,
    qrels_lines,
    read_qrels,
    read_runs,
    write_qrels,
)
from grading.leaderboards._paired import Standing, differences, standings
from grading.scores._cover import Cover, Labels, exam_labels, exam_qrels, outside
from grading.scores._cover import cover as cover_of
from grading.scores._diversity import alpha_ndcg
from grading.scores._effectiveness import DEFAULT, Effectiveness, Over, measure_runs, parse_measure
from grading.scores._thresholds import candidates, choose_by_leaderboard, choose_by_passages

Grades = Annotated[Path, typer.Argument(metavar="GRADES", help="Grades of passages: .jsonl, .csv, .tsv, also .gz.")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Ranked runs in TREC format.")]
Tau = Annotated[float, typer.Option(help="The least grade that counts.")]
K = Annotated[int, typer.Option("--k", min=1, help="Passages that count per query.")]


def measure(
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Relevance judgements in TREC format.")],
    runs: Runs,
    resampling: Resampling,
    measures: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Divided by commas: MAP,nDCG@20 or map,ndcg_cut_20.")
    ] = None,
    rel: Annotated[int, typer.Option(min=1, help="The least grade that is relevant.")] = 1,
    depth: Annotated[int | None, typer.Option(min=1, help="Documents read per topic; all without it.")] = None,
    over: Annotated[Over, typer.Option(help="Average over all topics of the qrels, or those all runs answer.")] = "all",
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """Measure runs against qrels: MAP, nDCG, Rprec, MRR, P@k. With intervals and paired differences."""
    names = [] if measures is None else [one.strip() for one in measures.split(",")]
    if not all(names):
        raise ValueError(f"--measures {measures!r}: an empty name; wanted names such as MAP,nDCG@20")
    sampling = resampling.sampling
    read = read_runs(runs)
    judged = read_qrels(qrels)
    found = measure_runs(judged, read, names or DEFAULT, rel=rel, depth=depth, over=over)
    _require_levels(qrels, judged, names or DEFAULT, rel)
    require_shared_passages(runs, read, qrels, {query: list(one) for query, one in judged.items()}, "judged", depth)
    means = {
        name: {one.system: _overall(name, one, found) for one in standings(table, sampling)}
        for name, table in found.scores.items()
    }
    warnings = [*_run_notes(read), *_topic_notes(found, over), *_unjudged_notes(judged, read, depth)]
    compared = {name: differences(table, sampling) for name, table in found.scores.items()}
    result: dict[str, Any] = {
        "topics": len(found.topics),
        "over": over,
        "rel": rel,
        "runs": {run.name: {name: means[name][run.name] for name in means} for run in read},
        "per_topic": {
            run.name: {topic: {name: found.scores[name][run.name][topic] for name in means} for topic in found.topics}
            for run in read
        },
        "pairs": {name: [one.as_dict() for one in some] for name, some in compared.items()},
        "skipped": found.skipped,
        "unjudged": found.unjudged,
        "without_relevant": found.without_relevant,
        "summed": found.summed,
        "warnings": warnings,
    }
    first = next(iter(means))
    rows = [["run", *means]] + [[run, *(interval_text(means[one][run]) for one in means)] for run in means[first]]
    lines = [f"{first}: {line}" for line in pair_lines(compared[first], pairs)]
    lines += [f"Pairs by the other {len(means) - 1} measures: --json."] if lines and len(means) > 1 else []
    show(result, as_json=as_json, lines=joined(aligned(rows), warnings, *lines))
    write_scores(scores, first, {run.name: found.scores[first][run.name] for run in read})


def cover(
    grades: Grades,
    runs: Runs,
    tau: Tau,
    source: GradeSource,
    resampling: Resampling,
    k: K = 20,
    alpha: Annotated[
        float | None, typer.Option(help="Also alpha-nDCG, where a repeated answer counts 1 - alpha as much.")
    ] = None,
    pairs: ShownPairs = "neighbours",
    scores: Scores = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Cover@k,tau: share of questions that a run answers.

    The questions of a query, answered by the first k passages.
    """
    sampling = resampling.sampling
    graded, read = read_grades(grades, source.prompt), read_runs(runs)
    questions = bank_of(source.bank, graded.questions) or graded.questions
    found = {run.name: cover_of(graded, run, tau, k, questions) for run in read}
    early = {} if alpha is None else {run.name: alpha_ndcg(graded, run, tau, alpha, k, questions) for run in read}
    require_reached(grades, graded, tau)
    require_shared_passages(runs, read, grades, graded_passages(graded), k=k)
    lacking = [] if source.bank is None else lacking_queries(source.bank, questions, graded_questions(graded), grades)
    table: SystemScores = {run: one.scores for run, one in found.items()}
    ranked = standings(table, sampling)
    only = {"cover": ranked[0].score.as_dict(), "per_query": table[ranked[0].system]} if len(ranked) == 1 else {}
    result: dict[str, Any] = {
        "tau": tau,
        "k": k,
        "bank": "grades" if source.bank is None else str(source.bank),
        "queries": len(questions),
        "questions": sum(map(len, questions.values())),
        "unparsed": graded.unparsed,
        **only,
        "runs": {one.system: {"cover": one.score.as_dict(), **_detail(found[one.system])} for one in ranked},
    }
    means = {one.system: one.score.as_dict() for one in standings(early, sampling)} if early else {}
    if early:
        _add_alpha_ndcg(result, alpha, early, means)
    rows = [["run", f"cover@{k},{tau:g}", "queries", "passages graded", *([f"alpha-nDCG@{k}"] if early else [])]]
    for one in ranked:
        system = found[one.system]
        share = f"{system.passages - system.ungraded} of {system.passages}"
        rows.append([one.system, interval_text(one.score.as_dict()), str(one.topics), share])
        rows[-1] += [interval_text(means[one.system])] if early else []
    notes = [*graded.notes, *_run_notes(read), *_bank_notes(graded, questions, source.bank)]
    notes += named("Queries of the bank without a grade, which no passage can answer", lacking)
    notes += _cover_notes(list(found.values()))
    if early:
        unanswered = [query for query in questions if all(math.isnan(each[query]) for each in early.values())]
        notes += named("Queries without an answering passage: no alpha-nDCG, left out of its mean", unanswered)
    compared = differences(table, sampling)
    show_ranked(result, rows, compared, notes, pairs, as_json=as_json)
    write_scores(scores, "cover", {one.system: table[one.system] for one in ranked})


def qrels(
    grades: Grades,
    tau: Annotated[float | None, typer.Option(help="1 from this grade on, 0 below; the grades without it.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the qrels to a file.")] = None,
    prompt: GradePrompt = None,
    as_json: AsJson = False,
) -> None:
    """EXAM-Label: each passage's best grade, as TREC qrels. The best is over the questions."""
    graded = read_grades(grades, prompt)
    labels = exam_labels(graded)
    found = exam_qrels(labels, tau)
    require_parsed(grades, graded)
    if tau is not None:
        require_reached(grades, graded, tau)
    warnings = [*graded.notes, *_label_notes(graded, labels)]
    result: dict[str, Any] = {
        "tau": tau,
        "n": sum(map(len, found.values())),
        "queries": len(found),
        "unparsed": graded.unparsed,
        "unlabelled": labels.unlabelled,
        "qrels": found,
        "labels": labels.best,
        "warnings": warnings,
    }
    if out is not None:
        write_qrels(out, found)
        text = joined([f"{out}: {result['n']} passages of {len(found)} queries"], warnings)
    else:
        text = "".join(qrels_lines(found)).rstrip("\n")
        for warning in [] if as_json else warnings:
            typer.echo(f"note: {warning}", err=True)
    show(result, as_json=as_json, lines=text)


def choose_tau(
    grades: Annotated[
        Path, typer.Argument(metavar="GRADES", help="Grades of passages; or RUBRIC's .qrel of predicted grades.")
    ],
    official: Annotated[
        Path, typer.Argument(metavar="OFFICIAL", help="Official qrels, or a leaderboard .csv (system,score).")
    ],
    source: GradeSource,
    resampling: Resampling,
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", help="Three or more runs: compare leaderboards.")
    ] = None,
    by: Annotated[str, typer.Option(help="What the runs are scored by: cover, or a measure such as MAP.")] = "cover",
    k: K = 20,
    rel: Annotated[int, typer.Option(min=1, help="The least official grade that is relevant.")] = 1,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Parts of the queries, each held out once; 5, or one for each query.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose tau on some queries and judge it on the others. By kappa of labels, or by leaderboards of runs."""
    sampling = resampling.sampling
    graded, read = _graded_or_predicted(grades, source.prompt), read_runs(runs or [])
    require_parsed(grades, graded)
    if read and by == "cover" and is_qrels(grades):
        raise ValueError(f"{grades}: one grade a passage and no questions to cover; wanted --by with a measure, as MAP")
    if read:
        what, questions = "kendall", bank_of(source.bank, graded.questions) or graded.questions
        tables = {tau: _table_at(graded, read, tau, by, k, questions) for tau in candidates(graded)}
        require_shared_passages(runs or [], read, grades, graded_passages(graded), k=k)
        if source.bank is not None:
            lacking_queries(source.bank, questions, graded_questions(graded), grades)
        wanted = _official(official, read, rel)
        choice = choose_by_leaderboard(tables, wanted, sampling, folds=folds)
        left_out = _leaderboard_notes(read, wanted)
    else:
        what, judged = "kappa", read_qrels(official)
        require_judged_passages(official, judged, graded, grades)
        choice = choose_by_passages(graded, judged, sampling, rel=rel, folds=folds)
        left_out = _judged_notes(graded, judged)
    warnings = [*graded.notes, *_run_notes(read), *left_out, *few(choice.queries, "queries")]
    if len(choice.chosen) > 1:
        warnings.append("The folds chose different taus: the queries do not settle it.")
    held_out, curve = choice.held_out.as_dict(), {f"{tau:g}": one.as_dict() for tau, one in choice.curve.items()}
    chosen = {f"{tau:g}": count for tau, count in choice.chosen.items()}
    result: dict[str, Any] = {
        "agreement": what,
        "tau": choice.tau,
        "held_out": held_out,
        "curve": curve,
        "chosen": chosen,
        "queries": choice.queries,
        "folds": choice.folds,
        "warnings": warnings,
    }
    rows = [["tau", f"{what}, all queries", "chosen for"]]
    rows += [[tau, interval_text(one), str(chosen.get(tau, 0))] for tau, one in curve.items()]
    summary = f"tau {choice.tau:g}; on queries held out in {choice.folds} folds: {what} {interval_text(held_out)}"
    show(result, as_json=as_json, lines=joined(aligned(rows), warnings, summary))


def bank_of(path: Path | None, graded: Bank | None = None) -> dict[str, tuple[str, ...]]:
    """The names of a bank's questions by query, as `graded` knows them; empty without a bank."""
    bank = {} if path is None else read_bank_questions(path, graded)
    return {query: tuple(questions) for query, questions in bank.items()}


def _add_alpha_ndcg(
    result: dict[str, Any], alpha: float | None, values: SystemScores, means: Mapping[str, dict[str, float | None]]
) -> None:
    """Put alpha-nDCG beside the cover of each run and query."""
    result["alpha"] = alpha
    for name, mean in means.items():
        run = result["runs"][name]
        run["alpha_ndcg"] = mean
        for query, value in values[name].items():
            run["per_query"][query]["alpha_ndcg"] = value


def _overall(name: str, one: Standing, found: Effectiveness) -> dict[str, float | None]:
    """The mean over topics with its interval; of a count the sum, as in trec_eval."""
    times = one.topics if name in found.summed else 1
    return {part: None if value is None else value * times for part, value in one.score.as_dict().items()}


def _table_at(graded: ReadGrades, runs: Sequence[TrecRun], tau: float, by: str, k: int, bank: Bank) -> SystemScores:
    if by == "cover":
        return {run.name: cover_of(graded, run, tau, k, bank).scores for run in runs}
    return measure_runs(exam_qrels(exam_labels(graded), tau), runs, [by]).scores[by]


def _graded_or_predicted(path: Path, prompt: str | None) -> ReadGrades:
    """Grades by questions, or those of RUBRIC's `.qrel`, one a passage."""
    return qrels_grades(read_qrels(path)) if is_qrels(path) else read_grades(path, prompt)


def _official(path: Path, runs: Sequence[TrecRun], rel: int) -> dict[str, float]:
    header = read_text(path).partition("\n")[0]
    divided = ("," in header or "\t" in header) and len(header.split()) < len(QRELS_COLUMNS.split())
    if divided or holds_json(path):
        rows = read_rows(path, {"system": ("run", "run_id"), "score": ("value", "map", "MAP")})
        return {row.text("system"): row.number("score") for row in rows}
    judged = read_qrels(path)
    require_level(path, judged, rel)
    table = measure_runs(judged, runs, ["MAP"], rel=rel).scores["MAP"]
    return {one.system: one.score.estimate for one in standings(table, Sampling(draws=0))}


def _run_notes(runs: Sequence[TrecRun]) -> list[str]:
    return [note for run in runs for note in run.notes]


def _topic_notes(found: Effectiveness, over: Over) -> list[str]:
    effect = "counted 0 in the mean" if over == "all" else "left out of the mean"
    notes = []
    for run, topics in found.skipped.items():
        notes += named(f"Topics of the qrels that {run} skips, {effect}", topics)
    for run, topics in found.unjudged.items():
        notes += named(f"Topics of {run} without qrels, which take no part", topics)
    notes += named("Topics without a relevant document, which count 0", found.without_relevant)
    notes += named("Counts, of which the sum over topics is given", found.summed)
    return notes + few(len(found.topics), "topics")


def _require_levels(path: Path, judged: Qrels, names: Sequence[str], rel: int) -> None:
    """Refuse levels, by `--rel` or in the name of a measure, that no judgement reaches."""
    require_level(path, judged, rel)
    for name in names:
        require_level(path, judged, parse_measure(name, rel).params.get("rel", 1), name)


def _unjudged_notes(judged: Qrels, runs: Sequence[TrecRun], depth: int | None) -> list[str]:
    counts = []
    for run in runs:
        tops = [(query, one) for query in run.rankings if query in judged for one in run.top(query, depth)]
        without = sum(one not in judged[query] for query, one in tops)
        if without:
            counts.append(f"{run.name} {without} of {len(tops)}")
    return named("Runs with passages that are not judged, which count as not relevant", counts)


def _bank_notes(graded: ReadGrades, questions: Bank, bank: Path | None) -> list[str]:
    notes = []
    if bank is None:
        notes.append(
            "Without --bank the bank is every question graded for the query; questions never asked are missing."
        )
    elif strange := outside(graded, questions):
        notes.append(f"Grades of questions that the bank does not have, which do not count: {strange}.")
    if graded.unparsed:
        notes.append(f"Unparsed grades, which reach no tau: {graded.unparsed} of {len(graded.grades)}.")
    return notes


def _cover_notes(found: Sequence[Cover]) -> list[str]:
    notes = []
    for one in found:
        notes += named(f"Queries of the bank that {one.run} skips, counted 0", one.skipped)
        notes += named(f"Queries of {one.run} without a question, which take no part", one.without_bank)
        unknown = [query for query, score in one.queries.items() if math.isnan(score.score)]
        if one.ungraded:
            share = f"{one.ungraded} of {one.passages} passages of {one.run} were never graded"
            partly = sum(bool(score.ungraded) and query not in unknown for query, score in one.queries.items())
            notes.append(f"{share}; {partly} queries may be covered better than they seem.")
        notes += named(f"Queries of {one.run} without a graded passage: no score, left out of the mean", unknown)
    return notes + few(len(found[0].queries), "queries")


def _detail(one: Cover) -> dict[str, Any]:
    return {
        "passages": one.passages,
        "ungraded": one.ungraded,
        "skipped": one.skipped,
        "without_bank": one.without_bank,
        "per_query": {
            query: {
                "cover": found.score,
                "covered": found.questions,
                "passages": found.passages,
                "ungraded": found.ungraded,
            }
            for query, found in one.queries.items()
        },
    }


def _label_notes(graded: ReadGrades, labels: Labels) -> list[str]:
    notes = []
    if graded.unparsed:
        notes.append(f"Unparsed grades, which count in no label: {graded.unparsed} of {len(graded.grades)}.")
    without = (passage for _, passage in labels.unlabelled)
    return notes + named("Passages without a parsed grade, which have no label", without)


def _leaderboard_notes(runs: Sequence[TrecRun], official: Mapping[str, float]) -> list[str]:
    names = [run.name for run in runs]
    return [
        *named("Runs without an official score, which take no part", (one for one in names if one not in official)),
        *named("Systems of the official leaderboard without a run", (one for one in official if one not in names)),
    ]


def _judged_notes(graded: ReadGrades, official: Qrels) -> list[str]:
    labels = exam_labels(graded).best
    apart = [query for query, found in labels.items() if not any(one in official.get(query, {}) for one in found)]
    both = {query: [one for one in found if one in official.get(query, {})] for query, found in labels.items()}
    count, size = sum(map(len, both.values())), sum(map(len, labels.values()))
    notes = [f"Passages with a label and an official grade: {count} of {size} with a label."]
    return notes + named("Queries without any of them, which take no part", apart)
