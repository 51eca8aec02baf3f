"""The margin of EXAM's own reader as options give it: a number of nats, or the file that its calibration wrote."""

from __future__ import annotations

import json
import math
from pathlib import Path

from examcore import JsonRecord, check_format, shown_json
from grading.formats._json_files import read_json_object


def read_margin(given: str | None, model: str) -> float | None:
    """The margin in nats, None where none is given.

    Raises `ValueError` for a number below 0, a file of another kind, and one that was written for another model, whose
    likelihoods have another spread.
    """
    if given is None:
        return None
    try:
        margin = float(given)
    except ValueError:
        return _calibrated(Path(given), model)
    if not 0 <= margin < math.inf:
        raise ValueError(f"--margin {given}; wanted a number of nats from 0 on, or the file of a calibration")
    return margin


def _calibrated(path: Path, model: str) -> float:
    fields = read_json_object(path)
    check_format(JsonRecord(str(path), fields))
    margin = fields.get("margin")
    if isinstance(margin, bool) or not isinstance(margin, int | float) or "model" not in fields:
        raise ValueError(f"{path}: margin {shown_json(margin)}; wanted a file of ragexam grade margin")
    if fields["model"] != model:
        raise ValueError(f"{path}: is of model {shown_json(fields['model'])}; wanted that of {json.dumps(model)}")
    return float(margin)
