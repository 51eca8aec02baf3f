"""Reads the questions that lie beside this file; the tasks here name it as their `custom_dataset`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from datasets import Dataset


def load(file: str, **_: Any) -> dict[str, Dataset]:
    """The questions of one file, as the split that the tasks test on."""
    lines = (Path(__file__).parent / file).read_text(encoding="utf-8").split("\n")
    return {"test": Dataset.from_list([json.loads(line) for line in lines if line])}
