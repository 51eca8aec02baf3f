"""How close texts are to their gold standard, two texts, or two files line by line: similarity."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examcore.console import AsJson, Interval, Seed, show_result
from grading._records import Sampling
from grading._similarity import Measure, NgramSettings, compared_files, compared_texts, require_weights


def similarity(
    text: Annotated[str, typer.Argument(metavar="TEXT_A", help="A text, or a file with one to a line.")],
    gold: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT_B...", help="The text to compare with, or several; or a file, several to a line by tabs."
        ),
    ],
    weights: Annotated[str, typer.Option(help="Weights of one, two and three words.")] = "2,1,0",
    measure: Annotated[Measure, typer.Option(help="How n-grams are compared.")] = "jaccard",
    stepping: Annotated[
        bool, typer.Option("--stepping", help="n-grams that do not overlap, as in Table 9 of the paper.")
    ] = False,
    interval: Interval = 0.9,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Say how close a reformulated question is to the gold one. By weighted n-grams; of several, the closest."""
    how = NgramSettings(_weights(weights), measure, stepping)
    files = [_is_file(one) for one in (text, *gold)]
    if any(files) and not (all(files) and len(gold) == 1):
        raise ValueError(f"{text}, {', '.join(gold)}: files beside texts; wanted two files, or texts alone")
    if any(files):
        show_result(compared_files(Path(text), Path(gold[0]), how, Sampling(interval, seed=seed)), as_json=as_json)
    else:
        show_result(compared_texts(text, gold, how), as_json=as_json)


def _weights(text: str) -> tuple[float, float, float]:
    """The weights of one, two and three words in `2,1,0`."""
    try:
        found = [float(one) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"--weights: {text!r}; wanted numbers like 2,1,0") from None
    return require_weights(found)


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
