"""A saved fit read back: tables for people, draws for programs, and `fit.json` that says how it was made."""

from __future__ import annotations

import json
from pathlib import Path

from irt import _posterior_file as posterior_file
from irt._design import build_design
from irt._files import require_folder
from irt._result import FORMAT, Fit

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
    columns = (*said["facets"], *said.get("covariates", ()))
    found = posterior_file.read(folder / "posterior.nc", columns, said["chains"])
    return Fit(
        model=said["model"],
        method=said["method"],
        backend=said["backend"],
        data=found.data,
        design=build_design(found.data, said["facets"], said["interactions"], said.get("covariates", ())),
        draws=found.draws,
        point=found.point,
        errors=found.errors,
        chance=found.chance,
        chains=found.chains,
        interval=said["interval"],
        seed=said["seed"],
        log_likelihood=said["log_likelihood"],
        elpd_loo=said["elpd_loo"],
        elpd_loo_se=said["elpd_loo_se"],
        converged=said["converged"],
        diagnostics=said["diagnostics"],
        warnings=tuple(said["warnings"]),
        notes=tuple(said.get("notes", ())),
        seconds=said["seconds"],
        model_choice=tuple(said["model_choice"]),
    )
