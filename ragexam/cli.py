"""The command line: each command opens what it is given, calls the library, and prints."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import ragexam
from examcore import BAD_INPUT, Progress, error_line, exit_status_of
from examcore.console import AsJson, Quiet, Seed, show, show_result
from ragexam._exam_commands import Overrides, exam_app

TASKS = {
    "Set up": ("init", "estimate", "run", "doctor"),
    "Write an exam": ("corpus", "generate", "filter", "statistics", "classify", "assemble", "diff"),
    "Sit it": ("sit", "retrieval", "validity", "answers"),
    "Measure": (
        *("fit", "prune", "check", "dif", "information", "score", "adaptive", "link", "compare", "power"),
        *("components", "d-study", "effects", "held-out"),
    ),
    "Read": ("report", "view"),
    "Exchange": ("export", "import"),
    "Free text": ("grade",),
}
"""The commands as `--help` groups them."""


class CommandGroup(TyperGroup):
    """The commands by task; those that load much are fetched when they are run."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, loaded where it is only listed here."""
        return _loaded(cmd_name) if cmd_name in LISTED else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as typer calls it
        """One section of the help for each task."""
        width = max(map(len, self.commands))
        for task, names in TASKS.items():
            with formatter.section(task):
                limit = formatter.width - 6 - width
                formatter.write_dl(
                    [(f"{name:<{width}}", self.commands[name].get_short_help_str(limit)) for name in names]
                )


def _loaded(name: str) -> Any:
    """A command of a module that loads much; what is loaded stays, so that no collection of garbage need look at it."""
    gc.disable()
    try:
        return _command(name)
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        gc.enable()


def _command(name: str) -> Any:
    from irt.commands import application, keep_interruptions

    keep_interruptions()
    loaded: typer.Typer
    if name == "grade":
        from grading.commands import app as loaded
    elif name in ("run", "sit", "answers", "classify"):
        from ragexam._model_commands import model_commands as loaded
    else:
        loaded = application(Progress().step, "ragexam")
    group = typer.main.get_group(loaded)
    if name == "grade":
        group.name = name
        return group
    return group.commands[name]


app = typer.Typer(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},  # of every command, which inherits them
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")]


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        from importlib.metadata import version

        print(f"ragexam {version('ragexam')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=show_version, help="Print the version and exit.")
]


@app.callback()
def root(version: Version = False) -> None:
    """Exams for RAG: written from your corpus, sat by your pipelines, measured with item response theory."""


def main() -> None:
    """Run the command line; exit status 0 done, 1 failed, 2 bad input, 130 stopped."""
    # Threads that wait by spinning slow a machine with other work down tenfold, and those that sleep at once take a
    # third longer on an idle one: they spin for some ten microseconds. OpenMP reads this when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "6000")
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:
        message = getattr(error, "message", "") or "missing"
        if type(error).__name__ == "NoArgsIsHelpError":
            print(message, file=sys.stderr)
            sys.exit(2)
        parameter = getattr(error, "param", None)
        where = parameter and (
            (parameter.metavar if parameter.param_type_name == "argument" else "") or parameter.opts[0]
        )
        fail(f"{f'{where}: ' if where else ''}{message} (see --help)")
    except Exception as error:
        wrong = exit_status_of(error)
        if os.environ.get("RAGEXAM_TRACE") or wrong is None:
            raise
        fail(error_line(error), wrong)
    if status == 130:
        print("ragexam: stopped; the same command goes on from here", file=sys.stderr)
    sys.exit(status if isinstance(status, int) else 0)


def fail(message: str, status: int = BAD_INPUT) -> None:
    """Say what went wrong and end with a status."""
    print(f"ragexam: {message}", file=sys.stderr)
    sys.exit(status)


@app.command(epilog="Example: ragexam init my-exam && ragexam run my-exam/config.yaml")
def init(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")]) -> None:
    """Create an exam's configuration and a folder for documents."""
    from ragexam._template import begin

    print(begin(directory))


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
    """Write an exam from a corpus. The folder gets corpus.jsonl, chunks.jsonl, exam.jsonl and dropped.jsonl."""
    written = ragexam.generate(
        corpus,
        out,
        questions=questions,
        writer=writer,
        sample=sample,
        seed=seed,
        overrides=overrides or (),
        progress=Progress(quiet=quiet),
    )
    show_result(written, as_json=as_json)


@app.command("filter", epilog="Example: ragexam filter runs/quickstart --dry-run --rule near-duplicate=0.7")
def filter_exam(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or an exam.jsonl.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="NEW", help="A new run folder or .jsonl file.")] = None,
    rehearse: Annotated[bool, typer.Option("--dry-run", help="Show what each rule would remove.")] = False,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", metavar="NAME=LIMIT", help="A limit, a share (10%), on or off.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="NAME", help="This rule and no others.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that reads likelihoods; usually the writer.")] = None,
    encoder: Annotated[str | None, typer.Option(help="The encoder that compares meanings.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Drop questions by named rules: a dry run, or a new exam. A dry run shows examples; the old exam stays."""
    from exam_gen.rules import rules_of
    from ragexam._filtering import FilterSource, changed, dry_run, write_filtered

    if (out is None) != rehearse:
        raise ValueError("filter: found both or neither of --dry-run and --out; wanted one of them")
    source = FilterSource.of(run, model, encoder)
    settings = changed(source.settings, rule or ())
    rules = rules_of(settings, only=only or ())
    if out is None:
        show_result(dry_run(source, rules, seed, Progress(quiet=quiet)), as_json=as_json)
        return
    show_result(write_filtered(source, settings, rules, out, seed, Progress(quiet=quiet)), as_json=as_json)


MEASUREMENT = {
    "fit": "Fit an item response model: items, abilities, components.",
    "prune": "Drop the questions worth least, judged on held-out pipelines.",
    "information": "Print how much an exam tells at each ability.",
    "check": "Say if a fit can be believed, and which questions to mend.",
    "dif": "Find questions that treat equally able pipelines differently.",
    "score": "Abilities of new pipelines on the questions of a fit.",
    "adaptive": "An adaptive exam: from recorded answers, or live.",
    "link": "Put one exam version on the scale of another.",
    "compare": "Who is better, by how much, how sure.",
    "held-out": "How well models predict answers they have not seen.",
    "power": "How many questions like these tell two pipelines apart.",
    "components": "Where differences between answers come from.",
    "d-study": "How sure longer exams would be of two components.",
    "effects": "Which questions speak for a component, and which against it.",
}
"""The commands of `python -m irt`: listed here, defined in `irt.commands`."""
LISTED = {
    "run": "Write, sit, measure, prune and report; resumes anywhere.",
    "sit": "Let a grid of pipelines sit an exam.",
    "answers": "Show the answers in free text: right, wrong, declined.",
    "classify": "Label questions: Bloom's taxonomy, forms, your own taxonomy.",
    "grade": "Grade free text: EXAM, EXAM++, ARGUE, nuggets, leaderboards.",
    **MEASUREMENT,
}
"""The first sentence of each command whose module loads much, so that `--help` need not load it."""
for _name, _purpose in LISTED.items():
    app.command(_name, help=_purpose)(lambda: None)


@app.command(epilog="Example: ragexam report runs/quickstart; two runs: ragexam report runs/before runs/after")
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    other: Annotated[Path | None, typer.Argument(metavar="[RUN_B]", help="A second run: what changed to it.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="With two runs: where the page is written.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a run, or what changed between two.

    The run gets report.html and figures/, the second of two runs comparison.html.
    """
    from ragexam.report.comparison import write_comparison

    if other is not None:
        show_result(write_comparison(run, other, out), as_json=as_json)
        return
    if out is not None:
        raise ValueError("--out: found with one run, whose page is RUN/report.html; wanted two runs with it")
    found = ragexam.load_run(run)
    page = found.write_report()
    show(found.record() if as_json else {}, as_json=as_json, lines=str(page))


@app.command(epilog="Example: ragexam view runs/quickstart")
def view(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write reviewed.jsonl from the edits so far; no page.")
    ] = False,
    audit: Annotated[
        int | None, typer.Option("--audit", metavar="N", min=1, help="Judge N survivors and N drops blindly.")
    ] = None,
    seed: Seed = 0,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --audit: write the blind items to a file; no page.")
    ] = None,
    result: Annotated[bool, typer.Option("--result", help="With --audit: what was judged so far; no page.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Read, edit and audit an exam on a local page.

    Questions are accepted, edited, retired and restored, or judged blindly.
    """
    from ragexam.review import BlindAudit
    from ragexam.review._session import audit_session, review_session

    if audit is None and (sheet is not None or result):
        raise ValueError(f"--{'result' if result else 'sheet'}: found without --audit; wanted --audit N with it")
    if audit is not None and write:
        raise ValueError("--write: found with --audit; wanted one of them")
    if audit is None:
        show_result(review_session(run, port, Progress(), page=not write), as_json=as_json)
        return
    blind = BlindAudit(run, audit, seed)
    show_result(audit_session(blind, port, Progress(), sheet=sheet, page=not result), as_json=as_json)


@app.command(epilog="Example: ragexam doctor")
def doctor(as_json: AsJson = False) -> None:
    """Show what this machine has: processors, memory, disk, models."""
    from ragexam._doctor import examine

    machine = examine()
    show_result(machine, as_json=as_json)
    raise typer.Exit(0 if machine.is_healthy else 1)


@app.command(epilog="Example: ragexam estimate experiments/quickstart/config.yaml")
def estimate(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.yaml")],
    overrides: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Tokens, time and download size of a run, before running it."""
    from ragexam._config import Config
    from ragexam._estimate import estimate_run
    from ragexam._settings import read

    show_result(estimate_run(read(config, Config, overrides or ()), Progress(quiet=quiet)), as_json=as_json)


app.add_typer(exam_app)


if __name__ == "__main__":
    main()
