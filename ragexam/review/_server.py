"""A page for one reader on this machine: loopback only, one secret in its address, nothing from elsewhere.

Other machines do not reach the port; other sites open in the same browser do not know the secret, fail the checks of
`Host` and `Origin`, and cannot send JSON here without being asked for leave, which is never given.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from examcore import error_line

Query = Mapping[str, str]
Body = Mapping[str, Any]
MAX_BODY = 4 << 20
"""Bytes of a request that are read at most."""
ADDRESS = "127.0.0.1"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_FILES = ("review.css", "page.js", "editor.js", "review.js", "audit.js")


class ConflictError(Exception):
    """The request was made on a state that somebody else has changed since."""


class Application(Protocol):
    """What a page can ask for: reads by GET, writes by POST, each answered with a JSON value.

    A `ValueError` is the caller's fault, told in one line; after a `ConflictError` the page reloads.
    """

    @property
    def page(self) -> str:
        """The name of the page's file."""

    @property
    def reads(self) -> Mapping[str, Callable[[Query], object]]:
        """Reads by name."""

    @property
    def writes(self) -> Mapping[str, Callable[[Body], object]]:
        """Writes by name."""


def text_of(body: Body, name: str, default: str | None = None) -> str:
    """A string of a request; `ValueError` when it is none."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"request: {name} is no string; wanted one")
    return value


def number_of(body: Body, name: str) -> int:
    """A whole number of a request; `ValueError` when it is none."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"request: {name} is no whole number; wanted one")
    return value


def place_of(query: Query, count: int) -> int:
    """The number `n` of a query, from 1 to `count`; `ValueError` for another."""
    text = query.get("n", "")[:20]
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= count):
        raise ValueError(f"number {text!r}: nothing has it; wanted 1 to {count}")
    return int(text)


class ReviewServer(ThreadingHTTPServer):
    """Serves an application at `address`, whose path is the secret."""

    daemon_threads = True

    def __init__(self, application: Application, port: int = 0) -> None:
        self.application = application
        self.secret = secrets.token_urlsafe(24)
        self.turn = threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "no such port"
            raise ValueError(f"--port {port}: {reason}; wanted a free port, or none to be given one") from None
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/{self.secret}/"


class _RefusalError(Exception):
    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    protocol_version = "HTTP/1.1"
    server_version = "ragexam"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_HEAD(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the address holds the secret."""

    def _answer(self, work: Callable[[], tuple[bytes, str]]) -> None:
        try:
            self._check_origin()
            content, kind = work()
            self._send(HTTPStatus.OK, content, kind)
        except _RefusalError as refusal:
            # What a refused request still sends is not read as the next one.
            self.close_connection = True
            self._fail(refusal.status, str(refusal))
        except ConflictError as conflict:
            self._fail(HTTPStatus.CONFLICT, str(conflict))
        except ValueError as error:
            self._fail(HTTPStatus.BAD_REQUEST, error_line(error))
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, error_line(error))

    def _check_origin(self) -> None:
        """Refuse a foreign name for this server (a rebound DNS entry) and a foreign page that asks."""
        if self.headers.get("Host") not in self.server.hosts:
            raise _RefusalError(HTTPStatus.MISDIRECTED_REQUEST, "wanted another Host")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            raise _RefusalError(HTTPStatus.FORBIDDEN, "wanted a request of this page")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _RefusalError(HTTPStatus.FORBIDDEN, "wanted a request of this page")

    def _target(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        _, _, rest = parts.path.partition("/")
        secret, slash, name = rest.partition("/")
        if not slash or not hmac.compare_digest(unquote(secret).encode(), self.server.secret.encode()):
            raise _RefusalError(HTTPStatus.NOT_FOUND, "nothing here; wanted the address that ragexam view printed")
        return name, dict(parse_qsl(parts.query, keep_blank_values=True))

    def _get(self) -> tuple[bytes, str]:
        name, query = self._target()
        application = self.server.application
        if not name or name in _FILES:
            own = files("ragexam.review").joinpath(name or application.page)
            return own.read_bytes(), _KINDS[own.name.rpartition(".")[2]]
        work = self._known(application.reads, name)
        with self.server.turn:
            return _json(work(query))

    def _post(self) -> tuple[bytes, str]:
        name, _ = self._target()
        work = self._known(self.server.application.writes, name)
        body = self._body()
        with self.server.turn:
            return _json(work(body))

    def _known(self, named: Any, name: str) -> Callable[[Any], object]:
        work: Callable[[Any], object] | None = named.get(name.removeprefix("api/")) if name.startswith("api/") else None
        if work is None:
            raise _RefusalError(HTTPStatus.NOT_FOUND, "nothing here")
        return work

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise _RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "wanted application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise _RefusalError(HTTPStatus.LENGTH_REQUIRED, "wanted a Content-Length")
        if int(length) > MAX_BODY:
            raise _RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"wanted at most {MAX_BODY} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise _RefusalError(HTTPStatus.BAD_REQUEST, "wanted JSON") from None
        if not isinstance(body, dict):
            raise _RefusalError(HTTPStatus.BAD_REQUEST, "wanted a JSON object")
        return body

    def _fail(self, status: HTTPStatus, message: str) -> None:
        self._send(status, json.dumps({"error": message}).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _json(value: object) -> tuple[bytes, str]:
    return json.dumps(value).encode(), "application/json"
