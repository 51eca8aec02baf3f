"""A language model behind an OpenAI-compatible server."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, Unpack

from examcore import (
    LONE_SURROGATE,
    Arrival,
    FailedError,
    Likelihoods,
    NoReply,
    Prompt,
    ReplyOptions,
    Schema,
    has_lone_surrogate,
    up_to_stop,
)
from rag.servers._likelihoods import (
    LOGPROBS_FORMATS,
    LogprobsFormat,
    ScoredTokens,
    continuation_likelihoods,
    first_choice,
    reported_tokens,
)
from rag.servers._options import Price, ServerAddress, ServerOptions, Traffic, api_key, parse_address
from rag.servers._transport import RefusedError, ServerRequest, Transport, UnusableError, one_line
from rag.weights._sources import chat_text, load_tokenizer

Value = TypeVar("Value")

NO_LIMIT = 1 << 24
"""The context of a server that reports none."""
CHARACTERS_PER_TOKEN = 4.0
"""Bytes of a token, to estimate counts without a tokenizer."""
MAX_TOKEN_CHARACTERS = 64
"""A server that writes more characters than this per allowed token ignores the limit; the rest is cut."""
_OPTIONAL = ("seed", "temperature", "stop")
"""Fields that some servers refuse; they are then left out, with a note."""
_SAME_MODEL = re.compile(r"@\S+|[-:](?:latest|\d[\d-]*)")


Billed = tuple[Value, int, int]
"""A text, or its log-probabilities, and the tokens billed for it, read and written."""


class ServerModel:
    """One model of one server; `traffic` counts requests, failures and tokens.

    Replies depend on model, prompt and options, not on the address, so `settings`, stored with answers, leaves it out.
    """

    def __init__(self, name: str, options: ServerOptions | None = None) -> None:
        self._options = options or ServerOptions()
        self._place: ServerAddress = parse_address(name, self._options)
        self.traffic = Traffic()
        self._transport = Transport(self._place, api_key(self._place, self._options), self._options, self.traffic)
        self._left_out: set[str] = set()
        self._limit_name = "max_tokens"
        self._shape = ["json_schema", "json_object"]
        self.settings: Mapping[str, object] = {
            "model": self._place.model,
            "server": "chat" if self._options.chat else "plain",
            **({"tokenizer": self._options.tokenizer} if self._options.tokenizer else {}),
        }

    @property
    def name(self) -> str:
        """The model's name on the server, without organisation."""
        return self._place.model.rpartition("/")[2]

    @property
    def price(self) -> Price:
        """The price of a million tokens, read and written."""
        return self._options.price_per_million

    @cached_property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens: as configured, else as the server reports."""
        if self._options.context_tokens:
            return self._options.context_tokens
        listed = self._transport.models()
        mine = next((one for one in listed if one.get("id") == self._place.model), {})
        meta = mine.get("meta")
        found = mine.get("max_model_len") or (meta.get("n_ctx_train") if isinstance(meta, dict) else None)
        return found if isinstance(found, int) and found > 0 else NO_LIMIT

    def check(self) -> list[str]:
        """Warnings about the server; raises in one line when it cannot be reached or refuses the key."""
        listed = [str(one.get("id")) for one in self._transport.models()]
        if not listed or any(_same_model(self._place.model, one) for one in listed):
            return []
        return [f"server {self._place.host} does not list {self._place.model}; it lists {one_line(', '.join(listed))}"]

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text by the configured tokenizer, else estimated at four bytes each."""
        if self._tokenizer is not None:
            return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])
        return math.ceil(len(text.encode("utf-8", "replace")) / CHARACTERS_PER_TOKEN)

    def render(self, prompt: Prompt) -> str:
        """The text of a prompt sent as plain text, by the tokenizer's chat template if there is one."""
        above = f"{prompt.system}\n\n{prompt.user}" if prompt.system else prompt.user
        if self._tokenizer is None or not self._tokenizer.chat_template:
            return f"{above}\n{prompt.reply}"
        messages = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages.append({"role": "user", "content": prompt.user})
        # The server opens every text with this token by itself.
        return chat_text(self._tokenizer, messages).removeprefix(self._tokenizer.bos_token or "") + prompt.reply

    def generate(self, prompts: Sequence[Prompt], **options: Unpack[ReplyOptions]) -> list[str]:
        """One reply per prompt; raises `FailedError` when a prompt gets none."""
        texts = [""] * len(prompts)
        for one in self.replies(prompts, **options):
            texts[one.place] = self._given(one.value)
        return texts

    def replies(
        self, prompts: Sequence[Prompt], *, schema: Schema | None = None, **options: Unpack[ReplyOptions]
    ) -> Iterator[Arrival[str]]:
        """A reply to each prompt as it comes; `NoReply` if every attempt failed."""
        given = {"temperature": 0.0, "seed": 0, **options, "stop": list(options.get("stop", ()))}
        return self._arrivals([self._writing(one, given, schema) for one in prompts])

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """The log-likelihood of each continuation after the prompt; raises `FailedError` if the server gives none."""
        (arrival,) = self.likelihoods([(prompt, tuple(continuations))])
        value: Likelihoods = self._given(arrival.value)
        return value

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        """The log-likelihoods of each prompt's continuations, as soon as all of a prompt have come.

        Raises ValueError when the server gives no log-probabilities of a given text.
        """
        for place, (prompt, continuations) in enumerate(asked):
            if not all(continuations):
                raise ValueError(f"model {self.name}: a continuation has no tokens; wanted some text")
            if not continuations:
                yield Arrival(place, Likelihoods((), (), self.count_tokens(self.render(prompt))), 0, 0)
        texts_of = [self._texts(one) for one in asked]
        wanted = [(place, text) for place, texts in enumerate(texts_of) for text in dict.fromkeys(texts)]
        if not wanted:
            return
        form = self._form
        parts: list[dict[str, Arrival[ScoredTokens]]] = [{} for _ in asked]
        for one in self._arrivals([self._scoring(text, form) for _, text in wanted]):
            place, text = wanted[one.place]
            parts[place][text] = one
            if len(parts[place]) == len(set(texts_of[place])):
                yield self._compared(place, [parts[place][text] for text in texts_of[place]])

    def need_likelihoods(self) -> None:
        """Raise ValueError unless the server gives log-probabilities of a given text."""
        _ = self._form

    @cached_property
    def _form(self) -> LogprobsFormat:
        """The first format that the server answers correctly, tried on a prompt of our own."""
        texts = ("The capital of France is", "The capital of France is Paris")
        reasons = []
        for form in LOGPROBS_FORMATS:
            jobs = [self._asking(text, form, lambda reply: reply) for text in texts]
            try:
                found = dict(self._transport.stream(jobs))
                replies = [self._given(found[place]) for place in range(2)]
                continuation_likelihoods(form.read(replies[0], texts[0]), [form.read(replies[1], texts[1])])
            except (RefusedError, UnusableError) as error:
                if isinstance(error, RefusedError) and error.concerns_key:
                    raise
                reasons.append(f"{form.name}: {error}")
            else:
                return form
        raise ValueError(
            f"server {self._place.host}: model {self._place.model} gives no log-probabilities of a given text "
            f"({'; '.join(reasons)}); wanted a server that does (vLLM); without, an llm of a grid answers by letters "
            "(answers: letters), and questions are verified by letters (exam.verification=letters) or by another model "
            "(verifier.model)"
        )

    def _arrivals(self, requests: Sequence[ServerRequest[Billed[Value]]]) -> Iterator[Arrival[Value]]:
        for place, found in self._transport.stream(requests):
            yield Arrival(place, found, 0, 0) if isinstance(found, NoReply) else Arrival(place, *found)

    def _writing(self, prompt: Prompt, options: Mapping[str, Any], schema: Schema | None) -> ServerRequest[Billed[str]]:
        return ServerRequest(
            "chat/completions" if self._options.chat else "completions",
            lambda: self._body(prompt, options, schema),
            lambda reply: self._read(reply, prompt, options),
            self._adapt,
        )

    def _body(self, prompt: Prompt, options: Mapping[str, Any], schema: Schema | None) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._place.model, self._limit_name: options["max_tokens"]}
        body |= {name: options[name] for name in _OPTIONAL if name not in self._left_out and options[name] != []}
        if self._options.chat:
            body["messages"] = _messages(prompt)
        else:
            body["prompt"] = self.render(prompt)
        if schema is not None and self._shape:
            shape = {"json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}
            kind = self._shape[0]
            body["response_format"] = {"type": kind, **(shape if kind == "json_schema" else {})}
        return body

    def _read(self, reply: Mapping[str, Any], prompt: Prompt, options: Mapping[str, Any]) -> Billed[str]:
        self._check_name(reply)
        choice = first_choice(reply)
        message = choice.get("message") if self._options.chat else choice
        if not isinstance(message, dict) or not isinstance(text := message.get("content", message.get("text")), str):
            if not (isinstance(message, dict) and (message.get("refusal") or choice.get("finish_reason"))):
                raise UnusableError("a reply without text")
            text = ""
        if self._options.chat:
            text = without_repeated_opening(text, prompt.reply)
        text = up_to_stop(text[: MAX_TOKEN_CHARACTERS * int(options["max_tokens"])], options["stop"])
        if has_lone_surrogate(text):
            raise UnusableError(LONE_SURROGATE)
        read, written = self._billed(reply, self.render(prompt), text)
        return text, read, written

    def _adapt(self, refusal: str, sent: Mapping[str, Any]) -> None:
        """Leave out the field that the server says it does not know, so that the next body differs."""
        reason = refusal.lower()
        if "response_format" in sent and re.search("response_format|json_schema|json_object", reason):
            # Another request in progress may have been refused for the same reason already.
            if self._shape and sent["response_format"]["type"] == self._shape[0]:
                refused = self._shape.pop(0)
                self.traffic.note(f"server {self._place.host}: does not take response_format {refused}")
        elif "max_completion_tokens" in reason:
            self._limit_name = "max_completion_tokens"
        else:
            for name in _OPTIONAL:
                if re.search(rf"\b{name}\b", reason) and name not in self._left_out:
                    self._left_out.add(name)
                    self.traffic.note(f"server {self._place.host}: does not take {name}, which is left out")

    def _scoring(self, text: str, form: LogprobsFormat) -> ServerRequest[Billed[ScoredTokens]]:
        return self._asking(text, form, lambda reply: (form.read(reply, text), *self._billed(reply, text, "")))

    def _asking(self, text: str, form: LogprobsFormat, read: Any) -> ServerRequest[Any]:
        def checked(reply: Mapping[str, Any]) -> Any:
            self._check_name(reply)
            return read(reply)

        body = {"model": self._place.model, "prompt": text, **form.fields}
        return ServerRequest("completions", lambda: body, checked)

    def _texts(self, asked: tuple[Prompt, tuple[str, ...]]) -> list[str]:
        """The texts that the server must encode: the prompt alone, then with each continuation."""
        prompt, continuations = asked
        rendered = self.render(prompt)
        return [rendered, *(rendered + one for one in continuations)] if continuations else []

    def _compared(self, place: int, parts: Sequence[Arrival[ScoredTokens]]) -> Arrival[Likelihoods]:
        """Likelihoods from the scored texts, the prompt alone first; equal texts are billed once."""
        billed = {id(one): one for one in parts}.values()
        read, written = sum(one.prompt_tokens for one in billed), sum(one.written_tokens for one in billed)
        scored: list[ScoredTokens] = []
        for one in parts:
            if isinstance(one.value, NoReply):
                return Arrival(place, one.value, read, written)
            scored.append(one.value)
        try:
            return Arrival(place, continuation_likelihoods(scored[0], scored[1:]), read, written)
        except UnusableError as error:
            return Arrival(place, NoReply(str(error)), read, written)

    @cached_property
    def _tokenizer(self) -> Any:
        if self._options.tokenizer is None:
            return None
        return load_tokenizer(self._options.tokenizer)

    def _check_name(self, reply: Mapping[str, Any]) -> None:
        named = reply.get("model")
        if isinstance(named, str) and named and not _same_model(self._place.model, named):
            self.traffic.note(
                f"server {self._place.host}: asked for {self._place.model}, its replies name {one_line(named, 80)}; "
                "check that it is the model you mean"
            )

    def _billed(self, reply: Mapping[str, Any], prompt: str, text: str) -> tuple[int, int]:
        read, written = (reported_tokens(reply, name) for name in ("prompt_tokens", "completion_tokens"))
        read = self.count_tokens(prompt) if read is None else read
        written = self.count_tokens(text) if written is None else written
        self.traffic.prompt_tokens += read
        self.traffic.written_tokens += written
        return read, written

    def _given(self, value: Any) -> Any:
        if isinstance(value, NoReply):
            raise FailedError(f"server {self._place.host}: no usable reply from {self._place.model}: {value.reason}")
        return value


def without_repeated_opening(text: str, opening: str) -> str:
    """A chat reply without the opening words it was asked for, of which it may repeat all, some or none."""
    reply, wanted = text.lstrip(), opening.strip()
    starts = [0, *(match.end() for match in re.finditer(r"\s+", wanted))] if wanted else []
    for start in starts:
        repeated = wanted[start:]
        if reply.lower().startswith(repeated.lower()) and not reply[len(repeated) : len(repeated) + 1].isalnum():
            return reply[len(repeated) :]
    # The reply may repeat a label without the words after it.
    label = re.match(r"\S+:", wanted)
    if label and reply.lower().startswith(label.group().lower()):
        reply = reply[label.end() :].lstrip()
    return f" {reply}" if wanted and reply else reply


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    """The prompt as chat messages. Servers do not agree on how to continue a begun reply: ask for its opening words."""
    user = f"{prompt.user}\n\nBegin your reply with: {prompt.reply.strip()}" if prompt.reply.strip() else prompt.user
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, {"role": "user", "content": user}]


def _same_model(asked: str, named: str) -> bool:
    """Whether a reply's model is the requested one: the same name, perhaps with a date, a tag or an organisation."""
    one, other = (name.rpartition("/")[2].lower() for name in (asked, named))
    return one == other or (other.startswith(one) and bool(_SAME_MODEL.fullmatch(other[len(one) :])))
