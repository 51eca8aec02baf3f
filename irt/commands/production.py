"""From a table of answers to a folder: a fit, or a shorter exam, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from irt.commands.review import labels
from irt.commands.said import SHOWN, Said, excerpt, kept
from irt.estimation import fit as fit_model
from irt.files import require_folder
from irt.fitting.estimation_outcome import Progress
from irt.methods import METHODS
from irt.model import Priors
from irt.reading import read_responses
from irt.responses import ResponseMatrix, constant_facets, facet_names
from irt.result import Fit
from irt.selecting.selection import Pruned, prune

RESULTS = "a folder for the results"
UNSAVED = "Nothing was written: --out DIR keeps the result."


@dataclass(frozen=True)
class Table:
    """A response table to read; `facets` None takes all that vary, `graded` reads ratings up to `top`."""

    path: Path
    facets: Sequence[str] | None = None
    graded: bool = False
    top: int | None = None

    def read(self) -> ResponseMatrix:
        """The table; a facet of one level that nobody named is left out, which its notes say."""
        data = read_responses(self.path, self.facets, graded=self.graded, top=self.top)
        return varying(data) if self.facets is None else data


@dataclass(frozen=True)
class Estimation:
    """What to fit and how."""

    model: str = "2pl"
    method: str = "nuts"
    backend: str | None = None
    interactions: Sequence[Sequence[str]] = ()
    covariates: Sequence[str] = ()
    options: int = 4
    interval: float = 0.9
    seed: int = 0
    facets: Sequence[str] | None = None
    priors: bool = False


@dataclass(frozen=True)
class Shortening:
    """What to drop and how it is judged; `groups` is a file `item,group` whose groups keep their parts."""

    keep: float = 0.7
    quantile: float = 0.1
    holdout: float = 0.3
    criterion: str = "discrimination"
    at: Sequence[float] | None = None
    groups: Path | None = None
    stop: str | None = None
    model: str = "2pl"
    method: str = "map"
    options: int = 4
    interval: float = 0.9
    seed: int = 0


def varying(data: ResponseMatrix) -> ResponseMatrix:
    """The table without facets that have one level only, which its notes tell: there is nothing to compare."""
    constant = constant_facets(data)
    notes = tuple(
        f"Facet '{name}' has one level only and was left out: there is nothing to compare." for name in constant
    )
    kept = data.with_facets([name for name in facet_names(data) if name not in constant])
    return replace(kept, notes=(*data.notes, *notes))


def fitted(data: ResponseMatrix, how: Estimation, out: Path | None = None, progress: Progress | None = None) -> Said:
    """Fit a table; `out` receives items, abilities, components, draws and `fit.json`."""
    if out is not None:
        require_folder(out, RESULTS)
    if how.priors and how.method in METHODS and how.method != "mml":
        raise ValueError(f"--priors is of method 'mml', found '{how.method}'; --method mml, or no --priors, was wanted")
    result = fit_model(
        data,
        how.model,
        how.method,
        how.facets,
        interactions=how.interactions,
        covariates=how.covariates,
        options=how.options,
        backend=how.backend,
        seed=how.seed,
        interval=how.interval,
        priors=Priors() if how.priors else None,
        progress=progress,
    )
    return Said(result.record(), _fit_lines(result, out), result.warnings, (*result.notes, *_saved(result, out)))


def pruned(data: ResponseMatrix, how: Shortening, out: Path | None = None, progress: Progress | None = None) -> Said:
    """Shorten an exam; `out` receives `prune.json`."""
    if out is not None:
        require_folder(out, RESULTS)
    result = prune(
        data,
        keep=how.keep,
        quantile=how.quantile,
        holdout=how.holdout,
        criterion=how.criterion,
        information_at=how.at,
        groups=None if how.groups is None else labels(how.groups, "group", data.items),
        stop=how.stop,
        model=how.model,
        method=how.method,
        options=how.options,
        interval=how.interval,
        seed=how.seed,
        progress=progress,
    )
    return Said(result.to_json(), _prune_lines(result, out), result.warnings, (*data.notes, *_saved(result, out)))


def _saved(result: Fit | Pruned, out: Path | None) -> tuple[str, ...]:
    """Save where a folder was given; else the note that nothing was written."""
    if out is None:
        return (UNSAVED,)
    result.save(out)
    return ()


def _fit_lines(result: Fit, out: Path | None) -> str:
    lines = [f"{result.model} by {result.method}: {'converged' if result.converged else 'NOT CONVERGED'}"]
    lines[0] += f"; reliability {result.reliability:.3f}"
    for term in result.design.terms:
        top = result.probability_best(term.name).iloc[0]
        combined = "combination " if len(term.facets) > 1 else ""
        lines.append(f"best {combined}{term.name}: {top['level']} (probability {top['probability']:.2f})")
    if residual := result.residual_scale:
        lines.append(
            f"left over by the components: sd {residual.estimate:.2f} [{residual.low:.2f}, {residual.high:.2f}] of "
            "abilities"
        )
    kind = "marginal" if result.method == "mml" else "joint"
    lines[0] += f"; {kind} log-likelihood {result.log_likelihood:.3f}"
    if "bic" in result.diagnostics:
        lines[0] += f", AIC {result.diagnostics['aic']:.1f}, BIC {result.diagnostics['bic']:.1f}"
        held = int(result.diagnostics.get("items_held_by_priors", 0))
        if held:
            lines[0] += f" (not at their best: priors hold {held} item{'s' if held > 1 else ''})"
        lines.append(_excerpt(result, "items", out))
    lines.append(_excerpt(result, "components" if result.design.terms else "abilities", out))
    return "\n".join(lines)


def _excerpt(result: Fit, name: str, out: Path | None) -> str:
    return excerpt(getattr(result, name), kept(out, f"{name}.csv", "--out DIR keeps all"))


def _prune_lines(result: Pruned, out: Path | None) -> str:
    gain, random, ranks = result.heldout_gain, result.random, result.rank_agreement
    lines = [
        f"kept {len(result.kept)}, dropped {len(result.dropped)}: {result.stopped}",
        f"held-out gain in mean information {gain.estimate:+.1%} [{gain.low:+.1%}, {gain.high:+.1%}]"
        + ("" if gain.low > 0 else "; no gain can be claimed"),
        f"better than {random.beaten:.0%} of random subsets as long; order of the held-out students: "
        f"Kendall's tau {ranks.estimate:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]",
    ]
    lines += [f"group {label}: {after} of {before}" for label, (before, after) in result.groups.items()]
    lines += [f"{drop.round}\t{drop.item}\t{drop.reason}" for drop in result.dropped[:SHOWN]]
    left = len(result.dropped) - SHOWN
    return "\n".join([*lines, *([f"... and {left} more: {kept(out, 'prune.json')}"] if left > 0 else [])])
