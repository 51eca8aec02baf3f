"""A model at work with its replies in a store, and the record of what was made with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from examcore import Progress, ReplyStore, file_hash, write_text
from examcore.console import jsonable
from grading.graders._assessor import ALONE, NORMALIZATION, TOGETHER, Assessor, CachedAssessor
from rag import ModelSettings, load_language_model, prepare_models
from rag.engines import EngineOptions, open_engine
from rag.servers import is_server


@dataclass(frozen=True)
class ModelOptions:
    """A language model, and how its numbers are held and where."""

    model: Annotated[
        str, typer.Option(help="The model, as for pipelines: embedded:NAME, a folder, a hub name, openai:…")
    ]
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, int8, nf4.")] = "auto"
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")] = "auto"


ONE_PROCESS = EngineOptions()


@contextmanager
def asking_of(
    model: ModelOptions, store: ReplyStore, progress: Progress, options: EngineOptions = ONE_PROCESS, batch: int = 1
) -> Iterator[CachedAssessor]:
    """A model at work on an engine; its answers are kept in the store."""
    settings = ModelSettings(**vars(model))
    prepare_models([settings.model], [settings], progress)
    with (
        open_engine(options, progress.say) as engine,
        engine(partial(assessor, settings, batch), NORMALIZATION) as at_work,
    ):
        alone = options == ONE_PROCESS and not is_server(settings.model)
        yield CachedAssessor(at_work, store, batch, max(ALONE, batch) if alone else TOGETHER)


def assessor(settings: ModelSettings, batch: int) -> Assessor:
    """The assessor of a model's settings; built where it works."""
    return Assessor(load_language_model(settings), batch=batch)


def write_record(
    path: Path, files: Mapping[str, Path | None], how: Mapping[str, object], told: Mapping[str, object]
) -> None:
    """Write what was made, from which files, and how."""
    given = {name: one for name, one in files.items() if one is not None}
    record = {
        "format": 1,
        "made_from": {name: file_hash(one) for name, one in given.items() if one.is_file()},
        "sources": given,
        **how,
        "ragexam": version("ragexam"),
        **told,
    }
    write_text(path, [json.dumps(jsonable(record), indent=2, ensure_ascii=False) + "\n"])
