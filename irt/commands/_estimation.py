"""Commands from a table of answers to a folder: fit a model, prune an exam."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from irt._estimation import fit
from irt._files import require_folder
from irt._fit_settings import METHODS, FitSettings, option
from irt._model import MODELS, RATINGS, Priors
from irt._printing import first_rows, where_whole
from irt._reading import read_responses
from irt._responses import ResponseMatrix, without_constant_facets
from irt._result import Fit
from irt.commands._arguments import Choices, Facets, Responses
from irt.commands._label_files import read_labels
from irt.commands._output import OpenStep, Output
from irt.selecting._prune_result import Pruned
from irt.selecting._prune_settings import PruneSettings
from irt.selecting._selection import prune

RESULTS = "a folder for the results"
PRIORS = tuple(each.name for each in fields(Priors))
UNSAVED = "Nothing was written: --out DIR keeps the result."


@dataclass(frozen=True)
class RatingOptions:
    """Whether scores are ratings."""

    graded: bool = option(
        False, "Scores are ratings 0, 1, 2, ... (so say --model grm, gpcm and pcm).", heading="Ratings"
    )
    top: int | None = option(
        None, "Highest rating. Default: column top, else the largest an item got.", "N", heading="Ratings"
    )


@dataclass(frozen=True)
class PriorOptions:
    """Priors of the model."""

    priors: bool = option(
        False, "mml only: items with priors whose spread is estimated, for few students.", heading="Priors"
    )
    prior: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            rich_help_panel="Priors",
            help="Change one prior, such as spread_a=0.3, with mml as if --priors were given; repeatable. "
            f"docs/measurement.md says what each is: {', '.join(PRIORS)}.",
        ),
    ] = None

    def chosen(self, method: str) -> Priors | None:
        """The priors to fit with, None for the method's own."""
        if self.priors and method in METHODS and method != "mml":
            raise ValueError(f"--priors: found with --method {method}; wanted --method mml, or no --priors")
        if self.prior is None and not self.priors:
            return None
        return Priors(**dict(_prior(each) for each in self.prior or ()))


def fit_table(
    responses: Responses,
    settings: FitSettings,
    ratings: RatingOptions,
    priors: PriorOptions,
    output: Output,
    step: OpenStep,
    model: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(MODELS)}, auto (compares 1pl, 2pl, 3pl), or, of ratings, "
            f"{', '.join(RATINGS)}. Default: 2pl; of ratings, {RATINGS[0]}."
        ),
    ] = None,
    facets: Facets = None,
    options: Choices = "4",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for items, abilities, components, draws and fit.json, which other commands read.",
        ),
    ] = None,
) -> None:
    """Fit a model: items, abilities, components, draws."""
    graded = ratings.graded or ratings.top is not None or model in RATINGS
    columns = None if facets is None else [*facets, *settings.covariates]
    data = _table(responses, columns, graded, ratings.top)
    if out is not None:
        require_folder(out, RESULTS)
    settings = settings.changed(
        model=model or (RATINGS[0] if graded else settings.model),
        facets=facets,
        priors=priors.chosen(settings.method),
        options=_choices(options, data),
    )
    with output.progress(step, "fit") as progress:
        result = fit(data, settings=settings, progress=progress)
        notes = _saved(result, out)
    output.show(FitSummary(result), result.warnings, (*result.notes, *notes), out)


def prune_table(
    responses: Responses,
    settings: PruneSettings,
    output: Output,
    step: OpenStep,
    facets: Facets = None,
    options: Choices = "4",
    groups: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="item,group: each group keeps its part of the exam.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for prune.json.")] = None,
) -> None:
    """Drop the items worth least, judged on held-out students."""
    data = _table(responses, facets)
    if out is not None:
        require_folder(out, RESULTS)
    labels = None if groups is None else read_labels(groups, "group", data.items)
    choices = _choices(options, data)
    with output.progress(step, "prune") as progress:
        result = prune(data, settings=settings, groups=labels, options=choices, progress=progress)
        notes = _saved(result, out)
    output.show(result, result.warnings, (*data.notes, *notes), out)


def _table(path: Path, facets: Sequence[str] | None, graded: bool = False, top: int | None = None) -> ResponseMatrix:
    """A table of answers; a facet of one level that nobody named is left out, which its notes say."""
    data = read_responses(path, facets, graded=graded, top=top)
    return without_constant_facets(data) if facets is None else data


def _choices(words: str, data: ResponseMatrix) -> int | dict[str, int]:
    """Choices per item: one number, or a file `item,options`."""
    try:
        return int(words)
    except ValueError:
        labels = read_labels(Path(words), "options", data.items)
    for item, label in labels.items():
        if not label.isdecimal():
            raise ValueError(f"{words}: item '{item}': found '{label}' options; wanted a whole number")
    return {item: int(labels[item]) for item in data.items}


def _prior(words: str) -> tuple[str, float]:
    name, _, value = words.partition("=")
    if name not in PRIORS:
        raise ValueError(f"--prior: found '{words}'; wanted NAME=VALUE with one of {', '.join(PRIORS)}")
    try:
        return name, float(value)
    except ValueError as error:
        raise ValueError(f"--prior {name}: found '{value}'; wanted a number") from error


def _saved(result: Fit | Pruned, out: Path | None) -> tuple[str, ...]:
    """Save where a folder was given; else the note that nothing was written."""
    if out is None:
        return (UNSAVED,)
    result.save(out)
    return ()


@dataclass(frozen=True)
class FitSummary:
    """The content of `fit.json`, and for a reader the quality of a fit and the table that matters most."""

    fit: Fit

    def record(self) -> dict[str, Any]:
        """The content of `fit.json`."""
        return self.fit.record()

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The summary for a reader; `out` is the folder that received the fit."""
        fit = self.fit
        lines = [self._quality()]
        for term in fit.design.terms if fit.converged else ():
            top = fit.probability_best(term.name).iloc[0]
            combined = "combination " if len(term.facets) > 1 else ""
            lines.append(f"best {combined}{term.name}: {top['level']} (probability {top['probability']:.2f})")
        if alike := fit.design.item_facets:
            sds = ", ".join(f"{name} {fit.point[f'item_effect_scale.{name}']:.2f}" for name in alike)
            lines.append(f"effects of levels on items, sd in logits: {sds}")
            lines += self._explained()
        if left := fit.residual_scale:
            lines.append(
                f"left over by the components: sd {left.estimate:.2f} [{left.low:.2f}, {left.high:.2f}] of abilities"
            )
        tables = ["items"] if "bic" in fit.diagnostics else []
        lines += [self._table(name, out) for name in (*tables, "components" if fit.design.terms else "abilities")]
        if fit.design.item_covariates is None:
            return lines
        where = where_whole(out and out / "fit.json", "covariate_effects", "--json has all")
        return [*lines, "what item covariates add, in units of ability:", first_rows(fit.covariate_effects(), where)]

    def _explained(self) -> list[str]:
        """What share of the variance of effects on items the item covariates explain."""
        if self.fit.design.item_covariates is None:
            return []
        shares = self.fit.explained_shares()
        each = ", ".join(f"{name} {share.estimate:.0%} [{share.low:.0%}, {share.high:.0%}]" for name, share in shares)
        return [f"explained by item covariates, of the variance of difficulties and effects: {each}"]

    def _quality(self) -> str:
        fit = self.fit
        kind = "marginal" if fit.method == "mml" else "joint"
        line = (
            f"{fit.model} by {fit.method}: {'converged' if fit.converged else 'NOT CONVERGED'}; "
            f"reliability {fit.reliability:.3f}; {kind} log-likelihood {fit.log_likelihood:.3f}"
        )
        if "bic" in fit.diagnostics:
            line += f", AIC {fit.diagnostics['aic']:.1f}, BIC {fit.diagnostics['bic']:.1f}"
            held = int(fit.diagnostics.get("items_held_by_priors", 0))
            if held:
                line += f" (not at their best: priors hold {held} item{'s' if held > 1 else ''})"
        return line

    def _table(self, name: str, out: Path | None) -> str:
        return first_rows(getattr(self.fit, name), where_whole(out, f"{name}.csv", "--out DIR keeps all"))
