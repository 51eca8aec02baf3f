"""A saved fit read back: tables for people, draws for programs, and `fit.json` that says how it was made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from irt import _posterior_file as posterior_file
from irt._design import build_design
from irt._files import require_folder
from irt._fit_settings import recorded_settings
from irt._item_covariates import read_item_table
from irt._result import AS_SAVED, FORMAT, SENTENCES, Fit

FOLDER = "a folder written by Fit.save (fit --out)"


def load_fit(folder: str | Path) -> Fit:
    """Restore a saved fit; OSError when a file is missing or the folder is none, ValueError for a newer format."""
    folder = Path(folder)
    require_folder(folder, FOLDER)
    for name in ("fit.json", "posterior.nc"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder / name}: no such file; wanted {FOLDER}")
    try:
        said = json.loads((folder / "fit.json").read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{folder / 'fit.json'}:{error.lineno}: not JSON ({error.msg})") from error
    found = said.get("format") if isinstance(said, dict) else None
    if not isinstance(found, int) or found > FORMAT:
        raise ValueError(
            f"{folder / 'fit.json'}: format {found!r} is not one this version reads (up to {FORMAT}); upgrade ragexam"
        )
    settings = recorded_settings(said)
    facets = tuple(settings.facets or ())
    arrays = posterior_file.read(folder / "posterior.nc", (*facets, *settings.covariates))
    design = build_design(
        arrays.data, facets, settings.interactions, settings.covariates, straight=settings.method == "mml"
    )
    table = settings.item_covariates
    known = None if table is None else read_item_table(table, arrays.data.items)
    design = replace(design, item_facets=tuple(said.get("item_facets", ())), item_covariates=known)
    if arrays.chance.all():  # no ratings
        settings = settings.changed(options=[round(1 / chance) for chance in arrays.chance])
    sentences: dict[str, Any] = {name: tuple(said.get(name, ())) for name in SENTENCES}
    saved = {name: said[name] for name in AS_SAVED}
    return Fit(settings=settings, design=design, **arrays._asdict(), **sentences, **saved)
