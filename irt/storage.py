"""A fit on disk: tables for people, draws for programs, and `fit.json` that says how it was made."""

from __future__ import annotations

import json
import platform
import warnings
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from irt.design import build_design
from irt.files import replacing, require_folder
from irt.responses import ResponseMatrix

if TYPE_CHECKING:
    from irt.result import Fit

FORMAT = 1
FOLDER = "a folder written by Fit.save (fit --out)"
PACKAGES = ("numpy", "scipy", "jax", "numpyro")
DIMENSIONS = {"a": "item", "b": "item", "c": "item", "d": "item", "theta": "student"}
THRESHOLDS = ["item", "threshold"]


def save(fit: Fit, folder: Path) -> None:
    """Write the five files of a fit; `fit.json` comes last, so a folder that has it is complete.

    All are put in place when all are written: a save that ends before leaves the folder as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:  # puts the files in place last entered first
        said = stack.enter_context(replacing(folder / "fit.json"))
        _write_posterior(fit, stack.enter_context(replacing(folder / "posterior.nc")))
        for name, table in (("items", fit.items), ("abilities", fit.abilities), ("components", fit.components)):
            table.to_csv(stack.enter_context(replacing(folder / f"{name}.csv")), index=False)
        said.write_text(json.dumps(record(fit), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (folder / "fit.json").unlink(missing_ok=True)


def record(fit: Fit) -> dict[str, Any]:
    """The content of `fit.json`."""
    return {
        "format": FORMAT,
        "model": fit.model,
        "method": fit.method,
        "backend": fit.backend,
        "n_students": len(fit.data.students),
        "n_items": len(fit.data.items),
        "facets": [term.name for term in fit.design.terms if len(term.facets) == 1 and not term.smooth],
        "covariates": [term.name for term in fit.design.terms if term.smooth],
        "interactions": [list(term.facets) for term in fit.design.terms if len(term.facets) > 1],
        "log_likelihood": fit.log_likelihood,
        "elpd_loo": fit.elpd_loo,
        "elpd_loo_se": fit.elpd_loo_se,
        "reliability": fit.reliability,
        "residual_scale": None if fit.residual_scale is None else fit.residual_scale._asdict(),
        "interval": fit.interval,
        "converged": fit.converged,
        "diagnostics": dict(fit.diagnostics),
        "warnings": list(fit.warnings),
        "notes": list(fit.notes),
        "model_choice": [dict(row) for row in fit.model_choice],
        "seconds": dict(fit.seconds),
        "seed": fit.seed,
        "chains": fit.chains,
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES},
    }


def load_fit(folder: str | Path) -> Fit:
    """Restore a saved fit; OSError when a file is missing or the folder is none, ValueError for a newer format."""
    from irt.result import Fit

    folder = Path(folder)
    require_folder(folder, FOLDER)
    for name in ("fit.json", "posterior.nc"):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder / name}: no such file; {FOLDER} was wanted")
    try:
        said = json.loads((folder / "fit.json").read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{folder / 'fit.json'}:{error.lineno}: not JSON ({error.msg})") from error
    found = said.get("format") if isinstance(said, dict) else None
    if not isinstance(found, int) or found > FORMAT:
        raise ValueError(
            f"{folder / 'fit.json'}: format {found!r} is not one this version reads (up to {FORMAT}); upgrade ragexam"
        )
    data, draws, point, errors, chance = _read_posterior(folder / "posterior.nc", said)
    return Fit(
        model=said["model"],
        method=said["method"],
        backend=said["backend"],
        data=data,
        design=build_design(data, said["facets"], said["interactions"], said.get("covariates", ())),
        draws=draws,
        point=point,
        errors=errors,
        chance=chance,
        chains=said["chains"],
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


def _write_posterior(fit: Fit, path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

        coords: dict[str, Any] = {"item": list(fit.data.items), "student": list(fit.data.students)}
        dims: dict[str, list[str]] = {name: [axis] for name, axis in DIMENSIONS.items()}
        if "thresholds" in fit.draws:
            coords["threshold"] = list(range(1, fit.draws["thresholds"].shape[2] + 1))
            dims |= {"thresholds": THRESHOLDS, "top": ["item"]}
        for term in fit.design.terms:
            level = _escaped(f"level.{term.name}")
            coords[level] = list(term.levels)
            dims[_escaped(f"effect.{term.name}")] = [level]
        grid = ["student", "item"]
        constants: dict[str, Any] = {"chance": fit.chance}
        if fit.data.top is not None:
            constants["top"] = fit.data.top
        facets = {} if fit.data.facets is None else {_escaped(f"facet.{name}"): name for name in fit.data.facets}
        if fit.data.facets is not None:
            constants |= {key: fit.data.facets[name].to_numpy(dtype=str) for key, name in facets.items()}
        constants |= {_escaped(f"point.{name}"): values for name, values in fit.point.items()}
        constants |= {_escaped(f"error.{name}"): values for name, values in fit.errors.items()}
        dims |= {f"{kind}.{name}": axes for name, axes in list(dims.items()) for kind in ("point", "error")}
        dims |= {key: ["student"] for key in facets}
        posterior = {
            _escaped(name): values.reshape(fit.chains, len(values) // fit.chains, *values.shape[1:])
            for name, values in fit.draws.items()
        }
        inference = arviz.from_dict(
            posterior=posterior,
            observed_data={"scores": fit.data.scores, "trials": fit.data.attempts},
            constant_data=constants,
            coords=coords,
            dims=dims | {"scores": grid, "trials": grid, "chance": ["item"]},
        )
        inference.to_netcdf(str(path), engine="h5netcdf")


def _escaped(name: str) -> str:
    """A name without slashes, which separate groups in the file."""
    return name.replace("%", "%25").replace("/", "%2F")


def _read_posterior(
    path: Path, said: dict[str, Any]
) -> tuple[ResponseMatrix, dict[str, Any], dict[str, Any], dict[str, Any], Any]:
    import xarray

    def group(name: str) -> Any:
        try:
            with xarray.open_dataset(path, group=name, engine="h5netcdf") as opened:
                return opened.load()
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: not a readable posterior ({' '.join(str(error).split())[:120]})") from error

    posterior, observed, constant = group("posterior"), group("observed_data"), group("constant_data")
    draws = {
        str(name).replace("%2F", "/").replace("%25", "%"): np.asarray(values).reshape(-1, *values.shape[2:])
        for name, values in posterior.data_vars.items()
    }
    students = tuple(str(name) for name in observed["student"].values)
    items = tuple(str(name) for name in observed["item"].values)
    named = (*said["facets"], *said.get("covariates", ()))
    columns = {name: constant[_escaped(f"facet.{name}")].values.astype(str) for name in named}
    facets = pd.DataFrame(columns, index=pd.Index(students, name="student"), dtype=str) if columns else None
    trials = observed["trials"].values
    top = constant["top"].values if "top" in constant else None
    counts = trials if trials.max() > 1 and top is None else None
    data = ResponseMatrix(observed["scores"].values, students, items, counts, facets, top=top)
    point, errors = (
        {
            name: np.asarray(constant[_escaped(prefix + name)]).reshape(values.shape[1:])
            for name, values in draws.items()
            if _escaped(prefix + name) in constant
        }
        for prefix in ("point.", "error.")
    )
    return data, draws, point, errors, constant["chance"].values
