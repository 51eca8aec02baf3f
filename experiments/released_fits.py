"""The released grids by the present model and without effects of levels on items: held-out scores, contrasts, seconds.

    python experiments/released_fits.py held-out experiments/*/released
    python experiments/released_fits.py contrasts experiments/*/released
    python experiments/released_fits.py keep experiments/*/released

`held-out` leaves out whole questions (`items`), whole pipelines (`students`), all answers of a retriever to a question
(`level`), whole retrievers (`new-level`) and single `answers`, and prints the mean log score of an answer by both
models (2pl by `map`), how far the older one is behind with its standard error over questions, the fits that converged
and seconds of processor; `--kinds items students` names some of these (`--` before the folders). `contrasts` fits all
answers by `map` and prints neighbouring levels of every facet. `keep` samples the present model (`nuts`), writes the
tables of `fit/`, without draws, and prunes by it.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import irt

MODELS = {"with effects": irt.FitSettings(method="map"), "without": irt.FitSettings(method="map", item_effects=False)}
FACET = "retriever"
KINDS: Mapping[str, tuple[str, bool]] = {
    "items": ("items", False),
    "students": ("students", False),
    "level": (FACET, False),
    "new-level": (FACET, True),
    "answers": ("answers", False),
}
"""What is left out together, as `irt.compare_models` names it, and whether of all items at once."""
FOLDS = 5
SEED = 1
"""Of the kept fits, as of the runs."""
TABLES = ("abilities.csv", "components.csv", "items.csv", "fit.json")


def main() -> None:
    """Do one of the three for each grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("released", type=Path, nargs="+", help="folders with responses.csv")
    words = parser.parse_args()
    for folder in words.released:
        if (folder / "responses.csv").is_file():
            TASKS[words.task](folder, words.kinds)


def held_out(folder: Path, kinds: Sequence[str]) -> None:
    """Print a line per kind of fold."""
    data = answers(folder)
    for by, whole in (KINDS[kind] for kind in kinds):
        begin = time.process_time()
        found = irt.compare_models(data, MODELS, by, FOLDS, whole=whole)
        new, old = (found.scores[name] for name in MODELS)
        gap = found.behind["without"] - found.behind["with effects"]
        error = max(found.se.values())
        cells = [
            *(f"`{folder.parent.name}`", new.left_out, new.folds, f"{new.score:.4f}", f"{old.score:.4f}"),
            *(f"{gap:+.4f} ± {error:.4f}", f"{new.converged}, {old.converged}", f"{time.process_time() - begin:.0f}"),
        ]
        print("|", " | ".join(map(str, cells)), "|", flush=True)


def contrasts(folder: Path, _kinds: Sequence[str]) -> None:
    """Print neighbouring levels of each facet, best first, by both models."""
    data, fits = answers(folder), {}
    for name, settings in MODELS.items():
        begin = time.process_time()
        fits[name] = irt.fit(data, settings=settings)
        print(f"{folder.parent.name}, {name}: {time.process_time() - begin:.1f} s of processor")
    for facet in irt.facet_names(data):
        own = fits["with effects"].components.query("facet == @facet")
        order = list(own.sort_values("effect", ascending=False)["level"])
        for better, worse in itertools.pairwise(order):
            gaps = [fits[name].contrast(facet, better, worse) for name in MODELS]
            said = " | ".join(f"{gap.estimate:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]" for gap in gaps)
            print(f"| `{folder.parent.name}` | {better} minus {worse} | {said} |", flush=True)


def keep(folder: Path, _kinds: Sequence[str]) -> None:
    """Sample the present model and keep the tables of the fit."""
    begin = time.process_time(), time.perf_counter()
    fit = irt.fit(answers(folder), model="2pl", method="nuts", seed=SEED)
    seconds = time.process_time() - begin[0], time.perf_counter() - begin[1]
    with tempfile.TemporaryDirectory() as scratch:
        fit.save(scratch)
        for name in TABLES:
            shutil.copyfile(Path(scratch) / name, folder / "fit" / name)
        irt.prune(fit.data, fit, seed=SEED).save(scratch)
        shutil.copyfile(Path(scratch) / "prune.json", folder / "prune.json")
    print(f"{folder.parent.name}: {fit!r}, {seconds[0]:.0f} s of processor, {seconds[1]:.0f} s", flush=True)
    for sentence in fit.warnings:
        print(f"  {sentence}", flush=True)


def answers(folder: Path) -> irt.ResponseMatrix:
    """The released answers, with the facets that vary."""
    return irt.without_constant_facets(irt.read_responses(folder / "responses.csv"))


TASKS: Mapping[str, Callable[[Path, Sequence[str]], None]] = {
    "held-out": held_out,
    "contrasts": contrasts,
    "keep": keep,
}

if __name__ == "__main__":
    main()
