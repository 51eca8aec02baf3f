"""How close texts are to their gold standard, two texts, or two files line by line: similarity."""

from __future__ import annotations

from typing import Annotated

import typer

from examcore.console import AsJson, Interval, Seed, show_result
from grading._records import Sampling
from grading._similarity import Measure, NgramSettings, compared, weights_in


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
    how = NgramSettings(weights_in(weights), measure, stepping)
    show_result(compared(text, gold, how, Sampling(interval, seed)), as_json=as_json)
