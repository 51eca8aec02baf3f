"""A run folder that is fitted and pruned, in a few seconds: the joint mode instead of draws by NUTS."""

from __future__ import annotations

import json
from pathlib import Path

import irt
from irt.selecting._selection import prune
from tests.ragexam.report.run_folder import write_run


def write_fitted(folder: Path, **settings: object) -> Path:
    """Write a run, fit it by MAP and prune it."""
    write_run(folder, **settings)  # type: ignore[arg-type]
    data = irt.read_responses(folder / "responses.csv")
    facets = [name for name in irt.facet_names(data) if name not in irt.constant_facets(data)]
    irt.fit(data, model="2pl", method="map", facets=facets, seed=0).save(folder / "fit")
    prune(data, facets=facets, keep=0.7, seed=0).save(folder / "pruned")
    return folder


def edit_json(path: Path, **changes: object) -> None:
    """Change top-level fields of a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | changes), encoding="utf-8")
