"""A service of somebody else's at an address: retrievers and whole systems that are asked with JSON over HTTP."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from rag.servers._options import ServerAddress, ServerOptions, api_key
from rag.servers._traffic import Traffic
from rag.servers._transport import RefusedError, Transport


class JsonService(NamedTuple):
    """The connection to an address, and the last part of its path."""

    transport: Transport
    path: str


def connect(name: str, url: str, options: ServerOptions | None = None) -> JsonService:
    """The service at `url`, called `name` in messages; its key is sent only where the options name the variable."""
    options = options or ServerOptions()
    parts = urlsplit(url)
    folder, _, path = parts.path.rpartition("/")
    place = ServerAddress(name, f"{parts.scheme}://{parts.netloc}{folder}")
    # A key that belongs to a language model's server is nobody else's business.
    key = api_key(place, options) if options.api_key_env else None
    return JsonService(Transport(place, key, options, Traffic()), path)


def refusal_error(service: str, question: str, error: RefusedError) -> ValueError:
    """A service's refusal in one line: of the key it was sent or not, which any question meets, or of a question."""
    why = f"status {error.status}: {error.said or 'no reason given'}"
    if error.of_the_key:
        return ValueError(f"{service}: {why}; wanted a key it accepts (server: {{api_key_env: NAME}})")
    return ValueError(f"{service}: question {question!r}: {why}")
