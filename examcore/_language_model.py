"""What exam writing and exam sitting ask of a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Generic, NamedTuple, Protocol, Required, TypedDict, TypeVar, Unpack, runtime_checkable

from examcore._jsonl import LONE_SURROGATE, has_lone_surrogate

Schema = Mapping[str, object]
"""A JSON schema; of a kind `rag.local._json_shape` knows where a local model is to be held to it."""
Value = TypeVar("Value")


@dataclass(frozen=True)
class Prompt:
    """A request: `system` and `user` go through the model's chat template, `reply` starts its answer."""

    user: str
    system: str = ""
    reply: str = ""


class Likelihoods(NamedTuple):
    """Natural-log likelihood and length in tokens of each continuation of one prompt."""

    sums: tuple[float, ...]
    tokens: tuple[int, ...]
    prompt_tokens: int


class ReplyOptions(TypedDict, total=False):
    """How replies are written: of at most `max_tokens`, ended by a `stop` string (default: none).

    Greedy at `temperature` 0, the default, else drawn by `seed` (default 0).
    """

    max_tokens: Required[int]
    stop: Sequence[str]
    temperature: float
    seed: int


class LanguageModel(Protocol):
    """A text model: writes replies and scores given continuations."""

    @property
    def name(self) -> str:
        """The name that answers and questions are stored under."""

    @property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens."""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, without special ones."""

    def generate(self, prompts: Sequence[Prompt], **options: Unpack[ReplyOptions]) -> list[str]:
        """One reply per prompt, as one batch; `reply` is not repeated, a stop string ends and is cut."""

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """Log-likelihood of each continuation right after the prompt, the prompt encoded once."""


@dataclass(frozen=True)
class NoReply:
    """What stands where a reply would, when a model could not be brought to give one; `reason` says why."""

    reason: str


class FailedError(OSError):
    """A failure while running: a server, a system or a worker that gives no answer however often it is asked.

    Nobody's input is at fault: what was done is kept, and the same command goes on once the cause is gone.
    """


class Arrival(NamedTuple, Generic[Value]):
    """One answer as it comes: the place of its prompt, the answer, and the tokens it is billed for."""

    place: int
    value: Value | NoReply
    prompt_tokens: int
    written_tokens: int


def storable(arrivals: Iterable[Arrival[Value]]) -> Iterator[Arrival[Value]]:
    """The answers as they come; one that no file can hold, for half a character in it, is lost."""
    for one in arrivals:
        fits = isinstance(one.value, NoReply) or not has_lone_surrogate(one.value)
        yield one if fits else one._replace(value=NoReply(LONE_SURROGATE))


@runtime_checkable
class StreamsLikelihoods(Protocol):
    """A language model that is best asked for many likelihoods at once."""

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        """The log-likelihoods of each prompt's continuations, in any order."""


@runtime_checkable
class RemoteLanguageModel(StreamsLikelihoods, Protocol):
    """A language model elsewhere: its answers come one by one, and none depends on what was asked beside it."""

    def replies(
        self, prompts: Sequence[Prompt], *, schema: Schema | None = None, **options: Unpack[ReplyOptions]
    ) -> Iterator[Arrival[str]]:
        """A reply to each prompt, in any order; with a schema, JSON of that shape where the server can do it."""


@runtime_checkable
class WritesJson(Protocol):
    """A language model that can be held to JSON of a given shape."""

    def generate_json(
        self, prompts: Sequence[Prompt], schema: Schema, *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """One JSON text per prompt, as one batch."""


def likelihoods_of(
    model: LanguageModel, asked: Sequence[tuple[Prompt, tuple[str, ...]]]
) -> Iterator[Arrival[Likelihoods]]:
    """The log-likelihoods of each prompt's continuations, as the model streams them, else one prompt at a time."""
    yield from model.likelihoods(asked) if isinstance(model, StreamsLikelihoods) else one_by_one(model, asked)


def replies_of(
    model: LanguageModel, prompts: Sequence[Prompt], **options: Unpack[ReplyOptions]
) -> Iterator[Arrival[str]]:
    """A reply to each prompt, as the model streams them, else one prompt at a time.

    In low precision a reply may depend on the other prompts of its batch.
    """
    if isinstance(model, RemoteLanguageModel):
        return storable(model.replies(prompts, **options))
    return storable(_replies_one_by_one(model, prompts, **options))


def _replies_one_by_one(
    model: LanguageModel, prompts: Sequence[Prompt], **options: Unpack[ReplyOptions]
) -> Iterator[Arrival[str]]:
    for place, prompt in enumerate(prompts):
        (text,) = model.generate([prompt], **options)
        yield Arrival(place, text, model.count_tokens(f"{prompt.user}{prompt.reply}"), model.count_tokens(text))


def one_by_one(model: LanguageModel, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
    """The log-likelihoods of each prompt's continuations, one prompt at a time."""
    for place, (prompt, continuations) in enumerate(asked):
        value = model.log_likelihoods(prompt, continuations)
        yield Arrival(place, value, value.prompt_tokens, 0)


def up_to_stop(text: str, stop: Sequence[str]) -> str:
    """A reply up to the first of the strings that end it."""
    ends = [position for position in (text.find(one) for one in stop) if position >= 0]
    return text[: min(ends)] if ends else text


def common_prefix(first: Sequence[object], second: Sequence[object]) -> int:
    """The number of leading tokens that two sequences share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
