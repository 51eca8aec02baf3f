"""A server: its address, key, limits and price, and counts of the requests sent to it."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

PREFIX = "openai:"
DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Price:
    """The cost of a million tokens, read and written, in the currency of the bill."""

    prompt: float = 0.0
    written: float = 0.0

    def __post_init__(self) -> None:
        if min(self.prompt, self.written) < 0:
            raise ValueError(f"price_per_million: {min(self.prompt, self.written)}; wanted at least 0")

    def of(self, prompt_tokens: int, written_tokens: int) -> float:
        """The cost of these numbers of tokens."""
        return (prompt_tokens * self.prompt + written_tokens * self.written) / 1e6


@dataclass(frozen=True)
class ServerOptions:
    """How to send requests to a server.

    `base_url`: its address up to `/v1`, unless the model's name gives it. `api_key_env`: the environment variable that
    holds the key, never the key itself. `concurrency`: requests in progress at once. `requests_per_minute`: start at
    most this many. `timeout`: seconds for one request. `retries`: further attempts after a failed one. `backoff`: wait
    this long (s) before the first of them, and twice as long before each next one. `context_tokens`: the model's
    context, if the server does not report it. `chat`: ask for chat replies; false sends plain text to continue.
    `tokenizer`: a folder or hub name whose tokenizer counts tokens and renders the chat template of plain text.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    concurrency: int = 8
    requests_per_minute: float | None = None
    timeout: float = 120.0
    retries: int = 6
    backoff: float = 0.5
    context_tokens: int | None = None
    chat: bool = True
    tokenizer: str | None = None
    price_per_million: Price = field(default_factory=Price)

    def __post_init__(self) -> None:
        for name, least in (("concurrency", 1), ("retries", 0), ("context_tokens", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"server: {name} is {value}; wanted at least {least}")
        for name in ("requests_per_minute", "timeout", "backoff"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"server: {name} is {value}; wanted a number above 0")
        # A value that does not look like a variable may be the key itself and is not shown.
        if self.api_key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", self.api_key_env):
            raise ValueError(
                "server: api_key_env is no name of an environment variable; wanted one such as OPENAI_API_KEY"
            )
        if self.base_url is not None:
            check_url(self.base_url)


class ServerAddress(NamedTuple):
    """A model and the address of its server."""

    model: str
    base_url: str

    @property
    def host(self) -> str:
        """The server's name in messages."""
        return urlsplit(self.base_url).netloc

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine."""
        return urlsplit(self.base_url).hostname in LOOPBACK


def is_server(name: str) -> bool:
    """Whether a model's name stands for a model behind a server."""
    return name.startswith(PREFIX)


def parse_address(name: str, options: ServerOptions) -> ServerAddress:
    """Model and address from `openai:MODEL` or `openai:MODEL@http://host:port/v1`.

    Without an address in the name or the options it is OPENAI_BASE_URL, else OpenAI's own. Raises ValueError for a name
    without a model, and for an address that is invalid or holds a password.
    """
    found = re.fullmatch(r"(?P<model>(?!@http)\S+?)(?:@(?P<url>https?://\S+))?", name.removeprefix(PREFIX))
    if not is_server(name) or found is None:
        raise ValueError(f"model {name}: wanted openai:MODEL or openai:MODEL@http://host:port/v1")
    if found["url"] and options.base_url and found["url"].rstrip("/") != options.base_url.rstrip("/"):
        raise ValueError(f"model {name}: base_url is {options.base_url}; wanted one address")
    url = found["url"] or options.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
    check_url(url)
    return ServerAddress(found["model"], url.rstrip("/"))


def api_key(place: ServerAddress, options: ServerOptions) -> str | None:
    """The key for a server, from the environment; None if there is none.

    OPENAI_API_KEY is not sent unencrypted to another machine unless `api_key_env` names it. Raises ValueError when the
    named variable is empty.
    """
    if options.api_key_env is None:
        trusted = place.is_local or urlsplit(place.base_url).scheme == "https"
        return os.environ.get(DEFAULT_KEY) or None if trusted else None
    key = os.environ.get(options.api_key_env)
    if not key:
        raise ValueError(
            f"model {place.model}: the environment variable {options.api_key_env} is not set; wanted a key"
        )
    return key


def check_url(url: str) -> None:
    """Raise ValueError for an invalid address and for one that holds a password."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "server: base_url holds more than an address; wanted http://host:port/v1, the key in the environment"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"server: base_url is {url!r}; wanted http://host:port/v1")


def check_service_url(url: str, what: str) -> None:
    """Raise ValueError about `what`, without repeating an invalid address, which may hold a password."""
    try:
        check_url(url)
    except ValueError:
        raise ValueError(
            f"{what} holds more than http://host:port/path; wanted the key in the environment "
            "(server: {api_key_env: NAME})"
        ) from None


@dataclass
class Traffic:
    """Counts of one model's requests; `lost` prompts got no usable reply; each of `notes` is shown once."""

    requests: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    prompt_tokens: int = 0
    written_tokens: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        self.notes[sentence] = None

    def as_dict(self) -> dict[str, object]:
        """Counts for a record."""
        counts = {name: value for name, value in vars(self).items() if name != "notes"}
        return {**counts, "failed": dict(self.failed.most_common())}
