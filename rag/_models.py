"""Language models: the settings that name one, loading it (hub name, folder, GGUF file, own factory), its usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, model_validator

from examcore import FailedError, LanguageModel, ModelUsage
from rag._third_party import PYTHON_PREFIX, has_module_and_name, import_object, third_party
from rag.servers._options import PREFIX, ServerOptions, is_server, parse_address
from rag.servers._server_model import ServerModel
from rag.servers._transport import excerpt
from rag.weights._placement import resolve_placement
from rag.weights._sources import check_source, find_source, weights_name


class SettingsGroup(BaseModel):
    """A group of settings; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(SettingsGroup):
    """The language model that `load_model` loads."""

    model: str
    dtype: str = "auto"
    device: str = "auto"
    server: ServerOptions | None = None

    @model_validator(mode="after")
    def _has_an_address(self) -> ModelSettings:
        if is_server(self.model):
            parse_address(self.model, self.server or ServerOptions())
        return self

    @property
    def identity(self) -> dict[str, Any]:
        """What the replies depend on. How a server is asked is left out: it may change between runs."""
        return self.model_dump(exclude={"server"})


def load_model(
    name: str,
    dtype: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    server: ServerOptions | None = None,
    chat: bool = True,
) -> LanguageModel:
    """Load a language model.

    `name`: a hub name (`org/model`), a local folder in the hub's layout, a `.gguf` file, `embedded:NAME` (see
    `rag.weights`), `openai:MODEL@BASE_URL` for a model behind an OpenAI-compatible server (`server` says how to ask
    it), or `python:package.module:factory`, a factory called without arguments. `dtype`: `auto` (on a processor
    `w8a8` for GGUF files of 512 MB or more, else bfloat16 where the processor computes in it, else float32),
    `float32`, `bfloat16`, `float16`, `w8a8` (8-bit integers, on processors), or with bitsandbytes `int8` or `nf4` (4
    bits). `device`: `auto`, `cpu`, `cuda`,
    `mps`, anything torch accepts, or `spread` over several GPUs. Without `chat`, prompts are plain text even if the
    tokenizer has a chat template. Raises ValueError or OSError with one line that says what was tried.
    """
    if back_end := _back_end(name):
        return back_end.load(name, server)
    source = find_source(name)
    from rag.local import load_local_model  # loads torch, which takes seconds

    placement = resolve_placement(dtype, device, source.packed_bytes)
    return load_local_model(source, weights_name(name), placement, threads, chat)


def check_model(name: str, server: ServerOptions | None = None, dtype: str = "auto", device: str = "auto") -> list[str]:
    """Raise in one line for a model that cannot be loaded this way, without loading it; embedded weights must be here.

    A server must answer and accept the key. Returns warnings.
    """
    if back_end := _back_end(name):
        return back_end.check(name, server)
    resolve_placement(dtype, device)
    check_source(name)
    return []


def _back_end(name: str) -> BackEnd | None:
    return next((back_end for prefix, back_end in BACK_ENDS.items() if name.startswith(prefix)), None)


def _from_factory(name: str) -> LanguageModel:
    if not has_module_and_name(name):
        raise ValueError(f"model {name}: wanted python:package.module:factory")
    with third_party(f"model {name}", "an importable factory"):
        factory = import_object(name)
    if not callable(factory):
        raise ValueError(f"model {name}: {type(factory).__name__}; wanted a factory, called without arguments")
    with third_party(f"model {name}", "a factory of a LanguageModel, without arguments"):
        model = factory()
        found = {part: getattr(model, part, None) for part in LANGUAGE_MODEL}
    for part, (is_right, wanted) in LANGUAGE_MODEL.items():
        if not is_right(found[part]):
            told = f"has no {part!r}" if found[part] is None else f"has {part!r} {excerpt(repr(found[part]))}"
            raise ValueError(f"model {name}: {type(model).__name__} {told}; wanted a LanguageModel, with {wanted}")
    return cast(LanguageModel, FactoryModel(name, model))


class FactoryModel:
    """A model of somebody's own: what its methods raise is a `FailedError` of one line that names it."""

    def __init__(self, place: str, model: object) -> None:
        self._where, self._model = f"model {place}", model

    def __getattr__(self, part: str) -> Any:
        found = getattr(self._model, part)
        return self._guarded(found) if callable(found) else found

    def _guarded(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*given: Any, **named: Any) -> Any:
            with third_party(self._where, kind=FailedError):
                found = method(*given, **named)
            return self._items(found) if isinstance(found, Iterator) else found

        return call

    def _items(self, found: Iterator[Any]) -> Iterator[Any]:
        while True:
            with third_party(self._where, kind=FailedError):
                try:
                    one = next(found)
                except StopIteration:
                    return
            yield one


LANGUAGE_MODEL: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (lambda value: isinstance(value, str) and bool(value), "a name"),
    "context_tokens": (
        lambda value: isinstance(value, Real) and float(value) > 0,
        "a number of tokens as 'context_tokens'",
    ),
    **{part: (callable, f"a method {part!r}") for part in ("count_tokens", "generate", "log_likelihoods")},
}
"""The parts of a language model, each with what it has to be."""


class BackEnd(NamedTuple):
    """Models that run elsewhere: how one is loaded, and how its name is checked before anything is paid for.

    Both take the name and the server's options; the check returns warnings and raises in one line.
    """

    load: Callable[[str, ServerOptions | None], LanguageModel]
    check: Callable[[str, ServerOptions | None], list[str]]


def _check_factory(name: str, _: ServerOptions | None) -> list[str]:
    _from_factory(name)
    return []


BACK_ENDS: Mapping[str, BackEnd] = {
    PYTHON_PREFIX: BackEnd(lambda name, _: _from_factory(name), _check_factory),
    PREFIX: BackEnd(ServerModel, lambda name, server: ServerModel(name, server).check()),
}
"""Back ends by the prefix of their models' names; a name without one is a model on this machine."""


def need_likelihoods(model: LanguageModel) -> None:
    """Raise in one line when a model's server gives no log-probabilities, before anything is paid for."""
    if (check := getattr(model, "need_likelihoods", None)) is not None:
        check()


def usage_record(works: Sequence[tuple[str, LanguageModel, ModelUsage]]) -> dict[str, Any]:
    """For each kind of work its model, calls, tokens, seconds and cost; the total `cost`; `notes` for the user.

    Tokens, seconds and cost are those of the whole exam over all runs; `server` counts the requests of this run.
    """
    content: dict[str, Any] = {"cost": 0.0, "notes": []}
    for name, model, usage in works:
        content[name] = {"model": model.name, **asdict(usage), "seconds": round(usage.seconds, 1), "cost": 0.0}
        if isinstance(model, ServerModel):
            content[name]["cost"] = round(model.price.of(usage.prompt_tokens, usage.written_tokens), 6)
            content[name]["server"] = model.traffic.as_dict()
            content["notes"] += list(model.traffic.notes)
            content["cost"] += content[name]["cost"]
    return content


def failed_requests(content: Mapping[str, Any]) -> str:
    """The servers' failures, such as `3 status 500, 1 timeout`; empty without any."""
    failed: Counter[str] = Counter()
    for name in ("writing", "verifying"):
        failed.update(content.get(name, {}).get("server", {}).get("failed", {}))
    return ", ".join(f"{count} {kind}" for kind, count in failed.most_common())


def usage_lines(content: Mapping[str, Any]) -> list[str]:
    """One line for each kind of work (replies, tokens, seconds, cost, failed requests), then the notes."""
    lines = []
    for name in ("writing", "verifying"):
        if name not in content:
            continue
        one = content[name]
        line = f"{name} with {one['model']}: {one['calls']} replies, {one['cached']} of them kept from before; "
        line += f"{one['prompt_tokens']:,} tokens read, {one['written_tokens']:,} written, {one['seconds']:.0f} s"
        line += f", cost {one['cost']:.4f}" if one["cost"] else ""
        if failed := failed_requests({name: one}):
            line += f"; failed requests: {failed}"
        lines.append(line)
    return [*lines, *(f"note: {note}" for note in content.get("notes", []))]
