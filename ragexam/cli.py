"""The command line: each command opens what it is given, calls the library, and prints."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragexam.errors import is_bad_input, one_line
from ragexam.progress import Progress

if TYPE_CHECKING:
    from irt.inquiry import Said

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, e.g. exam.questions=80.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")]
Facets = Annotated[
    str | None, typer.Option(help="Facet columns, comma separated; all extra columns when not given, '' for none.")
]


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from importlib.metadata import version

        print(f"ragexam {version('ragexam')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and end.")
]


@app.callback()
def root(version: Version = False) -> None:
    """Exams for RAG: written from your corpus, sat by your pipelines, measured with item response theory."""


def main() -> None:
    """Run the command line; exit status 0 done, 1 failed, 2 bad input, 130 stopped."""
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:
        message = getattr(error, "message", "") or str(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            print(message, file=sys.stderr)
            sys.exit(2)
        parameter = getattr(getattr(error, "param", None), "opts", None)
        fail(f"{f'{parameter[0]}: ' if parameter else ''}{message} (see --help)")
    except Exception as error:
        if os.environ.get("RAGEXAM_TRACE") or not is_bad_input(error):
            raise
        fail(one_line(error))
    if status == 130:
        print("ragexam: stopped; the same command goes on from here", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def fail(message: str) -> None:
    """Say what is wrong with the input and end with status 2."""
    print(f"ragexam: {message}", file=sys.stderr)
    sys.exit(2)


def show(result: Mapping[str, Any], *, as_json: bool, lines: str) -> None:
    """Print a result: for a program or for a reader."""
    print(json.dumps(result, indent=2, ensure_ascii=False) if as_json else lines)


def tell(said: Said, *, as_json: bool) -> None:
    """Print what a saved fit says; doubts about it go to standard error."""
    for sentence in said.warnings:
        print(f"warning: {sentence}", file=sys.stderr)
    show(said.record, as_json=as_json, lines=said.lines)


@app.command(epilog="Example: ragexam init my-exam && ragexam run my-exam/config.yaml")
def init(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """Begin an exam of your own: a commented configuration and a folder for documents."""
    from ragexam.template import begin

    print(begin(directory))


@app.command(epilog="Example: ragexam run experiments/quickstart/config.yaml --set exam.questions=80")
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml")],
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write, sit, measure, prune and report; stops and resumes anywhere."""
    from ragexam.config import Config
    from ragexam.run import run_all
    from ragexam.settings import read
    from ragexam.summary import in_words

    settings = read(config, Config, overrides or ())
    summary = run_all(settings, Progress(quiet=quiet))
    show(summary, as_json=as_json, lines=in_words(summary, settings.run))


@app.command(epilog="Example: ragexam generate documents/ --out runs/mine --questions 60")
def generate(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A folder, a file, hf:NAME or python-docs.")],
    out: Out,
    questions: Annotated[int | None, typer.Option(help="Wanted number of surviving questions.")] = None,
    writer: Annotated[str | None, typer.Option(help="The writing model.")] = None,
    sample: Annotated[int | None, typer.Option(help="Use so many documents, drawn by the seed.")] = None,
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write an exam from a corpus: corpus.jsonl, chunks.jsonl, exam.jsonl, dropped.jsonl."""
    from ragexam.config import of_generate
    from ragexam.run import run_exam

    given = {"exam.questions": questions, "writer.model": writer, "corpus.sample": sample}
    settings = of_generate(corpus, out, seed, given, overrides or ())
    result = run_exam(settings, Progress(quiet=quiet))
    lost = ", ".join(f"{count} {reason}" for reason, count in result["dropped"].items()) or "none"
    show(result, as_json=as_json, lines=f"{out}/exam.jsonl: {result['n_questions']} questions; dropped: {lost}")


@app.command(epilog="Example: ragexam sit runs/mine/exam.jsonl --pipelines grid.yaml --out runs/mine")
def sit(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="exam.jsonl, or a run folder.")],
    pipelines: Annotated[Path, typer.Option("--pipelines", metavar="GRID.yaml", help="llms, retrievers, shots.")],
    out: Out,
    engine: Annotated[str, typer.Option(help="Where pipelines run: local.")] = "local",
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let a grid of pipelines sit an exam: answers.sqlite and responses.csv."""
    from ragexam.config import GridSettings
    from ragexam.run import run_sitting
    from ragexam.settings import read

    grid = read(pipelines, GridSettings, overrides or ())
    result = run_sitting(exam, grid, out, engine, seed, Progress(quiet=quiet))
    rows = "\n".join(f"{accuracy:.3f}  {name}" for name, accuracy in result["accuracy"].items())
    show(result, as_json=as_json, lines=f"{rows}\n{out}/responses.csv")


@app.command(epilog="Example: ragexam fit responses.csv --model 2pl --method nuts --facets llm,retriever,icl --out fit")
def fit(
    responses: Annotated[Path, typer.Argument(metavar="RESPONSES", help="responses.csv or .parquet, long or wide.")],
    out: Out,
    model: Annotated[str, typer.Option(help="1pl, 2pl, 3pl, 4pl or auto.")] = "2pl",
    method: Annotated[str, typer.Option(help="map or nuts.")] = "nuts",
    backend: Annotated[str, typer.Option(help="numpyro.")] = "numpyro",
    facets: Facets = None,
    interval: Annotated[float, typer.Option(min=0.01, max=0.99, help="Share of the central intervals.")] = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit an item response model: items.csv, abilities.csv, components.csv, posterior.nc, fit.json."""
    from ragexam.measure import fit_table

    result = fit_table(responses, out, model, method, backend, facets, interval, seed, Progress(quiet=quiet))
    for warning in result["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    verdict = "converged" if result["converged"] else "NOT converged"
    table = (out / "components.csv").read_text(encoding="utf-8").splitlines()
    rows = [
        f"{row['facet']:>12} {row['level']:<16} {float(row['effect']):+.2f} "
        f"[{float(row['low']):+.2f}, {float(row['high']):+.2f}]"
        for row in csv.DictReader(table)
    ]
    rows.append(f"{out}: {result['model']} by {result['method']}, {verdict}")
    show(result, as_json=as_json, lines="\n".join(rows))


@app.command(epilog="Example: ragexam prune runs/quickstart/responses.csv --keep 0.7 --out pruned")
def prune(
    responses: Annotated[Path, typer.Argument(metavar="RESPONSES", help="responses.csv or .parquet.")],
    out: Out,
    keep: Annotated[float, typer.Option(help="Share of the questions to keep.")] = 0.7,
    holdout: Annotated[float, typer.Option(help="Share of the pipelines that only judge.")] = 0.3,
    model: Annotated[str, typer.Option(help="1pl, 2pl, 3pl or 4pl.")] = "2pl",
    facets: Facets = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Drop the questions that measure little, judged on held-out pipelines: prune.json."""
    from ragexam.measure import prune_table

    result = prune_table(responses, out, keep, holdout, model, facets, seed, Progress(quiet=quiet))
    gain = result["heldout_gain"]
    kept = f"kept {len(result['kept'])}, dropped {len(result['dropped'])}"
    size = f"{gain['estimate']:+.1%} ({gain['low']:+.1%} to {gain['high']:+.1%})"
    verdict = "" if gain["low"] > 0 else "; no gain can be claimed"
    lines = f"{kept}; information per question against random pruning {size}{verdict}"
    show(result, as_json=as_json, lines=lines)


FitFolder = Annotated[Path, typer.Argument(metavar="FIT", help="A folder written by fit, such as RUN/fit.")]


@app.command(epilog="Example: ragexam score runs/quickstart/fit new_responses.csv --method wle")
def score(
    fit: FitFolder,
    responses: Annotated[Path, typer.Argument(metavar="RESPONSES", help="Answers to questions of the fit.")],
    method: Annotated[str, typer.Option(help="eap, map, ml or wle.")] = "eap",
    known: Annotated[bool, typer.Option("--known", help="Take the questions as known exactly.")] = False,
    as_json: AsJson = False,
) -> None:
    """Abilities of new pipelines on the questions of a fit, with intervals."""
    from irt import inquiry

    tell(inquiry.scores(fit, responses, method, propagate=not known), as_json=as_json)


@app.command(epilog="Example: ragexam adaptive runs/quickstart/fit --pipeline new --responses new_responses.csv")
def adaptive(
    fit: FitFolder,
    pipeline: Annotated[str, typer.Option("--pipeline", metavar="P", help="The pipeline that sits the exam.")],
    responses: Annotated[Path | None, typer.Option(help="Recorded answers; those in the fit when not given.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Print each question's id, read its score, 0 or 1.")] = False,
    state: Annotated[Path | None, typer.Option(help="File that keeps a live exam's answers, to go on from.")] = None,
    se: Annotated[float | None, typer.Option(help="Stop at this error; full exam's + 20 % when not given.")] = None,
    longest: Annotated[int | None, typer.Option(help="Stop after so many questions.")] = None,
    choice: Annotated[str, typer.Option(help="information, posterior, kl or random.")] = "information",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """An adaptive exam: how few questions would have done, from recorded answers, or live."""
    from irt import inquiry
    from irt.adaptive import Rules

    rules = Rules(se=se, longest=longest, choice=choice, seed=seed)
    if live:
        said = inquiry.live(fit, pipeline, rules, state, inquiry.asked_on_terminal)
    else:
        said = inquiry.adaptive(fit, pipeline, responses, rules)
    tell(said, as_json=as_json)


@app.command(epilog="Example: ragexam link runs/old/fit runs/new/fit --out linked")
def link(
    fit_a: Annotated[Path, typer.Argument(metavar="FIT_A", help="The fit whose scale is kept.")],
    fit_b: Annotated[Path, typer.Argument(metavar="FIT_B", help="The fit that is moved.")],
    method: Annotated[str, typer.Option(help="mean-mean, mean-sigma, haebara or stocking-lord.")] = "stocking-lord",
    symmetric: Annotated[bool, typer.Option("--symmetric", help="Match the curves on both scales.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the linked tables.")] = None,
    as_json: AsJson = False,
) -> None:
    """Put one exam version on the scale of another by the questions they share."""
    from irt import inquiry

    tell(inquiry.linked(fit_a, fit_b, method, symmetric, out), as_json=as_json)


@app.command(epilog="Example: ragexam compare runs/quickstart/fit bm25 oracle")
def compare(
    fit: FitFolder,
    a: Annotated[str, typer.Argument(metavar="A", help="A pipeline, or a level of a component.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    facet: Annotated[str | None, typer.Option(help="The component, when several have both levels.")] = None,
    as_json: AsJson = False,
) -> None:
    """Who is better, by how much, how sure; and what a test without a model says."""
    from irt import inquiry

    tell(inquiry.compared(fit, a, b, facet), as_json=as_json)


@app.command(epilog="Example: ragexam power runs/quickstart/fit --gap 0.2")
def power(
    fit: FitFolder,
    gap: Annotated[float | None, typer.Option(help="The gap between two pipelines.")] = None,
    questions: Annotated[int | None, typer.Option(help="Instead: the gap that so many questions show.")] = None,
    at: Annotated[float, typer.Option(help="Ability halfway between the two.")] = 0.0,
    wanted: Annotated[float, typer.Option("--power", help="Probability to find the gap.")] = 0.8,
    level: Annotated[float, typer.Option(help="Two-sided level of the test.")] = 0.05,
    scale: Annotated[str, typer.Option(help="Scale of the gap: ability or accuracy.")] = "ability",
    design: Annotated[str, typer.Option(help="paired (the same questions) or independent.")] = "paired",
    as_json: AsJson = False,
) -> None:
    """How many questions like these tell two pipelines apart."""
    from irt import inquiry

    said = inquiry.planned(fit, gap, questions, at, wanted=wanted, level=level, scale=scale, design=design)
    tell(said, as_json=as_json)


@app.command(epilog="Example: ragexam report runs/quickstart")
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    as_json: AsJson = False,
) -> None:
    """Write report.html and figures/ from the files of a run folder."""
    from ragexam.report import write_report
    from ragexam.report.summary import summarize

    page = write_report(run)
    show(summarize(run) if as_json else {}, as_json=as_json, lines=str(page))


@app.command(epilog="Example: ragexam doctor")
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has: versions, processors, memory, disk, models at hand."""
    from ragexam.doctor import examine, in_words

    findings = examine()
    show(findings, as_json=as_json, lines=in_words(findings))
    raise typer.Exit(0 if findings["healthy"] else 1)


@app.command(epilog="Example: ragexam estimate experiments/quickstart/config.yaml")
def estimate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml")],
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tokens, time and download size of a run, before running it."""
    from ragexam.config import Config
    from ragexam.estimate import foresee, in_words
    from ragexam.settings import read

    foreseen = foresee(read(config, Config, overrides or ()), Progress(quiet=quiet))
    show(foreseen, as_json=as_json, lines=in_words(foreseen))


if __name__ == "__main__":
    main()
