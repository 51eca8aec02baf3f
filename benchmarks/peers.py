"""Peers that live in an interpreter of their own: run there, stopped at a limit, put on the scale of the truth."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SCRIPT = Path(__file__).with_name("peer_fits.py")
PYTHON = os.environ.get("PEERS_PYTHON", "")
"""Interpreter with the peers, the default of `--peers-python` (see RESULTS.md for how to make one)."""
Z = 1.6448536269514722
"""Half width of a 90 % interval, in standard deviations."""


def run(python: str, tool: str, scores: Any, model: str, limit: float, steps: int = 2000) -> dict[str, Any] | str:
    """What `peer_fits.py` found, or why there is nothing."""
    if not python:
        return "skipped: no --peers-python"
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "answers.npz", Path(folder) / "result.npz"
        np.savez(given, scores=scores)
        command = [python, str(SCRIPT), tool, model, str(given), str(result), str(steps)]
        try:
            subprocess.run(command, check=True, timeout=limit, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return f"more than {limit:g} s"
        except OSError as error:
            return f"skipped: {error}"
        except subprocess.CalledProcessError as error:
            return "failed: " + (error.stderr.strip().splitlines() or ["no message"])[-1][:100]
        with np.load(result) as found:
            return dict(found)


def aligned(found: Mapping[str, Any]) -> dict[str, Any]:
    """Estimates of py-irt, whose scale is free: abilities of mean 0 and, the posterior's spread included, sd 1."""
    centre = found["theta"].mean()
    unit = np.sqrt(found["theta"].var() + np.mean(found["theta_sd"] ** 2))
    return {
        "a": found["a"] * unit,
        "b": (found["b"] - centre) / unit,
        "theta": (found["theta"] - centre) / unit,
        "log_a_sd": found["log_a_sd"],
        "b_sd": found["b_sd"] / unit,
        "theta_sd": found["theta_sd"] / unit,
    }


def held(point: Mapping[str, Any], truth: Any) -> dict[str, float]:
    """Share of 90 % intervals of an `aligned` result that hold the truth, by parameter."""
    gaps = {
        "a": np.abs(np.log(truth.a / point["a"])) / point["log_a_sd"],
        "b": np.abs(truth.b - point["b"]) / point["b_sd"],
        "theta": np.abs(truth.theta - point["theta"]) / point["theta_sd"],
    }
    return {name: float(np.mean(gap < Z)) for name, gap in gaps.items()}
