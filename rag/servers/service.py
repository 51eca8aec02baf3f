"""A service of somebody else's at an address: retrievers and whole systems that are asked with JSON over HTTP."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from rag.servers.options import Address, ServerOptions, key_of
from rag.servers.traffic import Traffic
from rag.servers.transport import Transport


class Service(NamedTuple):
    """The connection to an address, and the last part of its path."""

    transport: Transport
    path: str


def connect(name: str, url: str, options: ServerOptions | None = None) -> Service:
    """The service at `url`, called `name` in messages; its key is sent only where the options name the variable."""
    options = options or ServerOptions()
    parts = urlsplit(url)
    folder, _, path = parts.path.rpartition("/")
    place = Address(name, f"{parts.scheme}://{parts.netloc}{folder}")
    # A key that belongs to a language model's server is nobody else's business.
    key = key_of(place, options) if options.api_key_env else None
    return Service(Transport(place, key, options, Traffic()), path)
