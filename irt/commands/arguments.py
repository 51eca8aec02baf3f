"""The words of the measurement commands, the same for `python -m irt` and `ragexam`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

from irt.adaptive import CHOICES
from irt.linking_constants import METHODS as LINKINGS
from irt.methods import METHODS
from irt.model import MODELS
from irt.power import DESIGNS, SCALES
from irt.scoring import METHODS as SCORINGS
from irt.selecting.choosing import CRITERIA


class OneLineParser(argparse.ArgumentParser):
    """A parser whose complaints are one line, raised as ValueError."""

    def error(self, message: str) -> NoReturn:
        """Refuse the words given."""
        raise ValueError(f"{message} (see {self.prog} --help)")


class Command(NamedTuple):
    """A command: what it does, an example of its words, and what declares its options."""

    purpose: str
    example: str
    declare: Callable[[argparse.ArgumentParser], None]


FIRST_STEPS = """\
A table of answers is long (columns student,item,score, then facets and trials)
or wide (first column student, every other an item; where none names students,
rows are numbered). An empty score means not asked.

First steps:
  {program} fit responses.csv --out fit   a model, kept in a folder
  {program} check fit                     can it be believed, what is to be mended
  {program} score fit new.csv             abilities of other students
  {program} COMMAND --help                the options of a command, an example
"""


def parser(program: str) -> OneLineParser:
    """The parser of all commands, to be called as `program` (`python -m irt`, or `ragexam`)."""
    whole = OneLineParser(
        program,
        description="Item response theory for any table of right, wrong or rated answers.",
        epilog=FIRST_STEPS.format(program=program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        one = commands.add_parser(
            name,
            help=command.purpose,
            description=f"{command.purpose[0].upper()}{command.purpose[1:]}.",
            epilog=f"Example: {program} {name} {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.declare(one)
        one.add_argument("--json", action="store_true", help="print the result as JSON")
        one.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    return whole


def names(words: str) -> list[str]:
    """The names in a comma-separated list."""
    return [word.strip() for word in words.split(",") if word.strip()]


def pairs(words: str) -> list[tuple[str, ...]]:
    """The interactions in a list such as `llm:retriever,llm:icl`."""
    return [tuple(part.strip() for part in word.split(":")) for word in names(words)]


def numbers(words: str) -> list[float]:
    """The numbers in a comma-separated list."""
    return [float(word) for word in names(words)]


TABLE = "long (student,item,score[,facets]) or wide table (first column student), .csv or .parquet"


def _table(one: argparse.ArgumentParser, folder: str) -> None:
    one.add_argument("responses", type=Path, metavar="RESPONSES", help=TABLE)
    one.add_argument(
        "--facets",
        type=names,
        metavar="F,...",
        help="facet columns, comma separated (default: all that vary, of a wide table none; none: '')",
    )
    one.add_argument("--options", type=int, metavar="N", default=4, help="choices per item; 1/N is chance (default 4)")
    one.add_argument(
        "--interval", type=float, metavar="P", default=0.9, help="probability of central intervals (default 0.9)"
    )
    one.add_argument("--seed", type=int, metavar="N", default=0, help="random seed (default 0)")
    one.add_argument("--out", type=Path, metavar="DIR", help=folder)


def _fit(one: argparse.ArgumentParser) -> None:
    _table(one, "folder for items, abilities, components, draws and fit.json, which other commands read")
    one.add_argument(
        "--model",
        help=f"{', '.join(MODELS)}, auto (compares 1pl, 2pl, 3pl), or grm for ratings (default 2pl; of ratings grm)",
    )
    one.add_argument(
        "--method", default="nuts", help=f"{', '.join(METHODS)} (default nuts; map gives a first look at once)"
    )
    one.add_argument(
        "--priors", action="store_true", help="of mml: items with priors whose spread is estimated, for few students"
    )
    one.add_argument("--backend", help="implementation of the method (default: its first)")
    one.add_argument(
        "--interactions", type=pairs, metavar="F:F,...", default=[], help="facet pairs such as llm:retriever,llm:icl"
    )
    one.add_argument(
        "--covariates", type=names, metavar="F,...", default=[], help="columns of numbers with a smooth effect"
    )
    one.add_argument("--graded", action="store_true", help="scores are ratings 0, 1, 2, ... (--model grm says so too)")
    one.add_argument(
        "--top", type=int, metavar="N", help="highest rating (default: column top, else the largest an item got)"
    )


def _prune(one: argparse.ArgumentParser) -> None:
    _table(one, "folder for prune.json")
    one.add_argument("--keep", type=float, metavar="P", default=0.7, help="share of the items to keep (default 0.7)")
    one.add_argument("--quantile", type=float, metavar="P", default=0.1, help="share dropped per round (default 0.1)")
    one.add_argument(
        "--holdout", type=float, metavar="P", default=0.3, help="share of students who only judge (default 0.3)"
    )
    one.add_argument("--criterion", default="discrimination", help=f"{' or '.join(CRITERIA)} (default discrimination)")
    one.add_argument("--at", type=numbers, metavar="THETA,...", help="abilities at which information counts")
    one.add_argument("--groups", type=Path, metavar="FILE.csv", help="item,group: each group keeps its part")
    one.add_argument("--stop", choices=["auto"], help="auto: stop before a round that shows no credible gain")
    one.add_argument("--model", default="2pl", help="2pl, 3pl or 4pl (default 2pl)")
    one.add_argument("--method", default="map", help="method of the refits (default map)")


def _saved(one: argparse.ArgumentParser, *others: tuple[str, str]) -> None:
    one.add_argument("fit", type=Path, metavar="FIT", help="folder written by fit")
    for name, purpose in others:
        one.add_argument(name.lower(), metavar=name, help=purpose)


def _information(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("--low", type=float, metavar="THETA", default=-3.0, help="lowest ability (default -3)")
    one.add_argument("--high", type=float, metavar="THETA", default=3.0, help="highest ability (default 3)")
    one.add_argument("--points", type=int, metavar="N", default=25, help="number of abilities (default 25)")
    one.add_argument("--groups", type=Path, metavar="FILE.csv", help="item,group: one curve per group")


def _dif(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("--facet", required=True, metavar="F", help="the facet whose levels are compared")
    one.add_argument("--responses", type=Path, metavar="FILE", help="table with the facet, if the fit has it not")
    one.add_argument("--out", type=Path, metavar="DIR", help="folder for the table")


def _check(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("--groups", type=Path, metavar="FILE.csv", help="item,group: items that may depend on each other")
    one.add_argument(
        "--options",
        type=Path,
        metavar="FILE.csv",
        help="with --key: student, then the chosen option of each item (no student column if the fit's table had none)",
    )
    one.add_argument("--key", type=Path, metavar="FILE.csv", help="with --options: item,key, the right options")
    one.add_argument("--seed", type=int, metavar="N", help="random seed (default: that of the fit)")
    one.add_argument("--out", type=Path, metavar="DIR", help="folder for one CSV per check")


def _score(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("responses", type=Path, metavar="RESPONSES", help=f"their answers: {TABLE}")
    one.add_argument("--method", default="eap", help=f"{', '.join(SCORINGS)} (default eap)")
    one.add_argument("--known", action="store_true", help="take the items as known exactly (shorter intervals)")
    one.add_argument("--out", type=Path, metavar="DIR", help="folder for abilities.csv")


def _adaptive(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("--pipeline", required=True, metavar="P", help="the student who sits it")
    one.add_argument("--responses", type=Path, metavar="FILE", help="recorded answers (default: those in the fit)")
    one.add_argument(
        "--live", action="store_true", help="print each item's id, read its score (0 or 1); with --longest or --se"
    )
    one.add_argument("--state", type=Path, metavar="FILE", help="keeps a live exam's answers, to go on from")
    one.add_argument(
        "--se", type=float, metavar="E", help="stop at this standard error (default, not live: full exam's + 20 %%)"
    )
    one.add_argument("--longest", type=int, metavar="N", help="stop after so many items")
    one.add_argument("--choice", default="information", help=f"{', '.join(CHOICES)} (default information)")
    one.add_argument("--seed", type=int, metavar="N", default=0, help="random seed (default 0)")


def _link(one: argparse.ArgumentParser) -> None:
    one.add_argument("fit", type=Path, metavar="FIT_A", help="the fit whose scale is kept")
    one.add_argument("fit_b", type=Path, metavar="FIT_B", help="the fit that is moved")
    one.add_argument("--method", default="stocking-lord", help=f"{', '.join(LINKINGS)} (default stocking-lord)")
    one.add_argument("--symmetric", action="store_true", help="match the curves on both scales")
    one.add_argument("--out", type=Path, metavar="DIR", help="folder for items, abilities and drift of the anchors")


def _compare(one: argparse.ArgumentParser) -> None:
    _saved(one, ("A", "a student, or a level of a facet"), ("B", "another"))
    one.add_argument("--facet", metavar="F", help="the facet, when several have both levels")


def _power(one: argparse.ArgumentParser) -> None:
    _saved(one)
    one.add_argument("--gap", type=float, metavar="G", help="gap between two students, above 0")
    one.add_argument("--questions", type=int, metavar="N", help="instead of --gap: what gap do so many items show")
    one.add_argument("--at", type=float, metavar="THETA", default=0.0, help="ability halfway between them (default 0)")
    one.add_argument("--power", type=float, metavar="P", default=0.8, help="probability to find the gap (default 0.8)")
    one.add_argument("--level", type=float, metavar="P", default=0.05, help="two-sided level (default 0.05)")
    one.add_argument("--scale", default="ability", help=f"scale of the gap: {' or '.join(SCALES)} (default ability)")
    one.add_argument("--design", default="paired", help=f"{' or '.join(DESIGNS)} items (default paired)")


COMMANDS = {
    "fit": Command(
        "fit a model; print it, and with --out write items, abilities, components, draws",
        "responses.csv --facets llm,retriever,icl --model 2pl --method nuts --out fit",
        _fit,
    ),
    "prune": Command(
        "drop the items worth least, judged on held-out students",
        "responses.csv --keep 0.7 --criterion information --groups topics.csv --out pruned",
        _prune,
    ),
    "information": Command(
        "print the information curve of a fit as CSV", "fit --low -3 --high 3 --points 13", _information
    ),
    "check": Command(
        "say whether a fit can be believed, and which items to mend", "fit --groups documents.csv --out checks", _check
    ),
    "dif": Command("find items that treat equally able students differently", "fit --facet llm", _dif),
    "score": Command("abilities of new students on the items of a fit", "fit new.csv --method wle", _score),
    "adaptive": Command(
        "an adaptive exam: from recorded answers, or live", "fit --pipeline new --responses new.csv", _adaptive
    ),
    "link": Command("put fit B on the scale of fit A by the items they share", "fit fit-next --out linked", _link),
    "compare": Command("two students, or two levels of a facet", "fit bm25 oracle", _compare),
    "power": Command("items needed to tell a gap apart, or the gap that items show", "fit --gap 0.2", _power),
}
