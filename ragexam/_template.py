"""Beginning an exam of one's own."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from examcore import write_text


def begin(directory: Path) -> str:
    """Write `config.yaml` and an empty `documents/`; returns what to do next.

    Raises `ValueError` when a configuration is already there.
    """
    config, documents = directory / "config.yaml", directory / "documents"
    if config.exists():
        raise ValueError(f"{config}: already there; wanted a new folder")
    documents.mkdir(parents=True, exist_ok=True)
    text = (files("ragexam") / "config_template.yaml").read_text(encoding="utf-8")
    write_text(config, [text.format(config=config, documents=documents, run=directory / "run")])
    return f"wrote {config}\nput documents into {documents}/, then: ragexam run {config}"
