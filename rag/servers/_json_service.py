"""Third-party services that answer JSON over HTTP: retrievers and whole systems."""

from __future__ import annotations

from urllib.parse import urlsplit

from rag.servers._options import ServerAddress, ServerOptions, Traffic, api_key
from rag.servers._transport import RefusedError, Transport


def connect(name: str, url: str, options: ServerOptions | None = None) -> tuple[Transport, str]:
    """The connection to `url`, called `name` in messages, and the last part of its path.

    A key is sent only if the options name its variable.
    """
    options = options or ServerOptions()
    parts = urlsplit(url)
    folder, _, path = parts.path.rpartition("/")
    place = ServerAddress(name, f"{parts.scheme}://{parts.netloc}{folder}")
    # OPENAI_API_KEY belongs to a language model's server and is not sent to other services.
    key = api_key(place, options) if options.api_key_env else None
    return Transport(place, key, options, Traffic()), path


def refusal_error(service: str, question: str, error: RefusedError) -> ValueError:
    """A service's refusal in one line: of the key, or its absence, which affects all questions; or of one question."""
    why = f"status {error.status}: {error.detail or 'no reason given'}"
    if error.concerns_key:
        return ValueError(f"{service}: {why}; wanted a key it accepts (server: {{api_key_env: NAME}})")
    return ValueError(f"{service}: question {question!r}: {why}")
