"""The command line of the measurement package: read, call the library, write."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import irt
from irt.estimation import METHODS
from irt.model import MODELS

FORMS = {
    "fit": "python -m irt fit responses.csv --facets retriever,shots --model 2pl --method nuts --out fit",
    "prune": "python -m irt prune responses.csv --keep 0.7 --holdout 0.3 --out pruned",
    "information": "python -m irt information fit --low -3 --high 3 --points 13",
    "score": "python -m irt score fit new_responses.csv --method wle",
    "adaptive": "python -m irt adaptive fit --pipeline new-pipeline --responses new_responses.csv",
    "link": "python -m irt link fit fit-next-year --out linked",
    "compare": "python -m irt compare fit bm25 oracle",
    "power": "python -m irt power fit --gap 0.2",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 done, 2 bad input (one line on standard error)."""
    options = _parser().parse_args(arguments)
    try:
        {"fit": _fit, "prune": _prune, "information": _information}.get(options.command, _inquire)(options)
    except (ValueError, OSError) as error:
        print(f"irt: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m irt", description="Item response theory for any 0/1 table.")
    commands = parser.add_subparsers(dest="command", required=True)
    fit = _command(commands, "fit", "fit a model; write items, abilities, components, draws and fit.json")
    _common(fit)
    fit.add_argument("--method", default="nuts", help=f"{' or '.join(METHODS)} (default nuts)")
    fit.add_argument("--backend", help="implementation of the method (default: the one it has)")
    fit.add_argument("--interval", type=float, default=0.9, help="probability of the central intervals (default 0.9)")
    fit.add_argument("--interactions", default="", help="facet pairs such as llm:retriever,llm:shots")
    prune = _command(commands, "prune", "drop the least discriminating items, judged on held-out students")
    _common(prune)
    prune.add_argument("--keep", type=float, default=0.7, help="share of the items to keep (default 0.7)")
    prune.add_argument("--quantile", type=float, default=0.1, help="share dropped per round (default 0.1)")
    prune.add_argument("--holdout", type=float, default=0.3, help="share of students who only judge (default 0.3)")
    prune.add_argument("--stop", choices=["auto"], help="auto: stop when a round shows no credible gain")
    show = _command(commands, "information", "print the information curve of a saved fit as CSV")
    show.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    show.add_argument("--low", type=float, default=-3.0, help="lowest ability (default -3)")
    show.add_argument("--high", type=float, default=3.0, help="highest ability (default 3)")
    show.add_argument("--points", type=int, default=25, help="number of abilities (default 25)")
    show.add_argument("--json", action="store_true", help="JSON with the items' curves")
    _add_inquiries(commands)
    return parser


def _add_inquiries(commands: Any) -> None:
    """The commands that use a saved fit."""
    score = _command(commands, "score", "abilities of new students on the items of a fit")
    score.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    score.add_argument("responses", type=Path, metavar="RESPONSES", help="their answers")
    score.add_argument("--method", default="eap", help="eap, map, ml or wle (default eap)")
    score.add_argument("--known", action="store_true", help="take the items as known exactly")
    exam = _command(commands, "adaptive", "an adaptive exam: from recorded answers, or live")
    exam.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    exam.add_argument("--pipeline", required=True, metavar="P", help="the student who sits it")
    exam.add_argument("--responses", type=Path, help="recorded answers (default: those in the fit)")
    exam.add_argument("--live", action="store_true", help="print each item's id, read its score (0 or 1) from stdin")
    exam.add_argument("--state", type=Path, help="file that keeps a live exam's answers, to go on from")
    exam.add_argument("--se", type=float, help="stop at this standard error (default: full exam's + 20 %%)")
    exam.add_argument("--longest", type=int, help="stop after so many items")
    exam.add_argument("--choice", default="information", help="information, posterior, kl or random")
    exam.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    line = _command(commands, "link", "put fit B on the scale of fit A by the items they share")
    line.add_argument("fit", type=Path, metavar="FIT_A", help="folder written by fit")
    line.add_argument("fit_b", type=Path, metavar="FIT_B", help="folder written by fit")
    line.add_argument("--method", default="stocking-lord", help="mean-mean, mean-sigma, haebara or stocking-lord")
    line.add_argument("--symmetric", action="store_true", help="match the curves on both scales")
    line.add_argument("--out", type=Path, help="folder for items, abilities and drift of the anchors")
    pair = _command(commands, "compare", "two students, or two levels of a facet")
    pair.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    pair.add_argument("a", metavar="A", help="student or level")
    pair.add_argument("b", metavar="B", help="student or level")
    pair.add_argument("--facet", help="the facet, when several have both levels")
    plan = _command(commands, "power", "questions needed to tell a gap apart, or the gap that questions show")
    plan.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    plan.add_argument("--gap", type=float, help="gap between two students")
    plan.add_argument("--questions", type=int, help="instead of --gap: what gap do so many questions show")
    plan.add_argument("--at", type=float, default=0.0, help="ability halfway between them (default 0)")
    plan.add_argument("--power", type=float, default=0.8, help="probability to find the gap (default 0.8)")
    plan.add_argument("--level", type=float, default=0.05, help="two-sided level (default 0.05)")
    plan.add_argument("--scale", default="ability", help="scale of the gap: ability or accuracy (default ability)")
    plan.add_argument("--design", default="paired", help="paired (the same questions) or independent")
    for command in (score, exam, line, pair, plan):
        command.add_argument("--json", action="store_true", help="print the result as JSON")


def _command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, epilog=f"example: {FORMS[name]}"
    )
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("responses", type=Path, metavar="RESPONSES", help="long or wide table, .csv or .parquet")
    parser.add_argument("--graded", action="store_true", help="scores are ratings 0, 1, 2, ... (model grm)")
    parser.add_argument("--top", type=int, help="highest rating (default: column top, else the largest seen)")
    parser.add_argument("--facets", help="comma-separated facet columns (default: all that vary; none: '')")
    parser.add_argument("--model", default="2pl", help=f"{', '.join(MODELS)} or, for fit, auto or grm (default 2pl)")
    parser.add_argument("--options", type=int, default=4, help="choices per item, for guessing (default 4)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    parser.add_argument("--out", type=Path, help="folder to write to")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _read(options: argparse.Namespace) -> irt.ResponseMatrix:
    """The table with the facets asked for, or all that vary; what is left out is said."""
    named = None if options.facets is None else [name for name in options.facets.split(",") if name]
    data = irt.read_responses(options.responses, named, graded=options.graded, top=options.top)
    if named is not None:
        return data
    constant = irt.constant_facets(data)
    if constant:
        print(f"irt: left out, one level only: {', '.join(constant)}", file=sys.stderr)
    return data.with_facets([name for name in irt.facet_names(data) if name not in constant])


def _fit(options: argparse.Namespace) -> None:
    data = _read(options)
    print(f"irt: {len(data.students)} students, {len(data.items)} items", file=sys.stderr)
    pairs = [tuple(pair.split(":")) for pair in options.interactions.split(",") if pair]
    result = irt.fit(
        data,
        options.model,
        options.method,
        interactions=pairs,
        options=options.options,
        backend=options.backend,
        seed=options.seed,
        interval=options.interval,
        progress=_progress("sampling" if options.method == "nuts" else "climbing"),
    )
    for sentence in result.warnings:
        print(f"irt: {sentence}", file=sys.stderr)
    if options.out is not None:
        result.save(options.out)
    if options.json:
        from irt.storage import record

        print(json.dumps(record(result), indent=2, ensure_ascii=False))
    else:
        print(_summary(result))


def _summary(result: irt.Fit) -> str:
    lines = [f"{result.model} by {result.method}: {'converged' if result.converged else 'NOT CONVERGED'}"]
    for term in result.design.terms:
        top = result.probability_best(term.name).iloc[0]
        lines.append(f"best {term.name}: {top['level']} (probability {top['probability']:.2f})")
    table = result.components if result.design.terms else result.abilities
    return "\n".join([*lines, table.round(3).to_string(index=False)])


def _prune(options: argparse.Namespace) -> None:
    from irt.selection import prune

    result = prune(
        _read(options),
        keep=options.keep,
        quantile=options.quantile,
        holdout=options.holdout,
        stop=options.stop,
        model=options.model,
        options=options.options,
        seed=options.seed,
        progress=_progress("dropping items"),
    )
    for sentence in result.warnings:
        print(f"irt: {sentence}", file=sys.stderr)
    if options.out is not None:
        result.save(options.out)
    if options.json:
        print(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
        return
    gain = result.heldout_gain
    print(f"kept {len(result.kept)}, dropped {len(result.dropped)}: {result.stopped}")
    print(f"held-out gain in mean information {gain.estimate:+.1%} [{gain.low:+.1%}, {gain.high:+.1%}]")
    for drop in result.dropped:
        print(f"{drop.round}\t{drop.item}\t{drop.reason}")


def _information(options: argparse.Namespace) -> None:
    if options.points < 1 or options.high < options.low:
        raise ValueError(f"{options.points} points from {options.low:g} to {options.high:g} is not a grid")
    result = irt.load_fit(options.fit).information(np.linspace(options.low, options.high, options.points))
    if options.json:
        curves = {item: row.tolist() for item, row in zip(result.items, result.mean, strict=True)}
        total = {"mean": result.total, "low": result.total_low, "high": result.total_high}
        lists = {name: values.tolist() for name, values in total.items()}
        print(json.dumps({"theta": result.theta.tolist(), "total": lists, "items": curves}, indent=2))
        return
    print("theta,information,low,high,standard_error")
    for row in zip(result.theta, result.total, result.total_low, result.total_high, result.standard_error, strict=True):
        print(",".join(f"{value:.6g}" for value in row))


def _inquire(options: argparse.Namespace) -> None:
    """Ask a saved fit and print the answer."""
    from irt import inquiry
    from irt.adaptive import Rules

    given = options
    if given.command == "score":
        said = inquiry.scores(given.fit, given.responses, given.method, not given.known)
    elif given.command == "adaptive":
        rules = Rules(se=given.se, longest=given.longest, choice=given.choice, seed=given.seed)
        if given.live:
            said = inquiry.live(given.fit, given.pipeline, rules, given.state, inquiry.asked_on_terminal)
        else:
            said = inquiry.adaptive(given.fit, given.pipeline, given.responses, rules)
    elif given.command == "link":
        said = inquiry.linked(given.fit, given.fit_b, given.method, given.symmetric, given.out)
    elif given.command == "compare":
        said = inquiry.compared(given.fit, given.a, given.b, given.facet)
    else:
        test = {"wanted": given.power, "level": given.level, "scale": given.scale, "design": given.design}
        said = inquiry.planned(given.fit, given.gap, given.questions, given.at, **test)
    for sentence in said.warnings:
        print(f"irt: {sentence}", file=sys.stderr)
    print(json.dumps(said.record, indent=2, ensure_ascii=False) if given.json else said.lines)


def _progress(what: str) -> Any:
    def show(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\rirt: {what} {done}/{total} ", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return show
