"""HTTP requests: many at once, within limits, retried when they fail; each reply is delivered as it comes."""

from __future__ import annotations

import asyncio
import email.utils
import json
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from examcore import FailedError, NoReply, counted
from rag.servers._options import ServerAddress, ServerOptions, Traffic, api_key

Reply = TypeVar("Reply")

MAX_REPLY_BYTES = 10 * 1024 * 1024
"""A longer reply counts as failed."""
MAX_WAIT = 120.0
"""Wait at most this long (s) before the next attempt, whatever the server asks for."""
GRACE_SECONDS = 0.5
"""Give requests this long (s) to end before they are cancelled: cancelling a connection attempt leaks its socket."""
CLOSING_SECONDS = 5.0
"""Wait at most this long (s) for connections to close after the stream is abandoned."""
MAX_FAILURES_IN_A_ROW = 20
"""This many lost prompts in a row mean that the server is gone, not that the prompts are bad."""
_TOO_LONG = re.compile(
    r"context.{0,9}(?:length|window|size)|maximum context|too (?:long|large|many tokens)|content.?(?:filter|management)"
    r"|prompt.{0,20}exceed",
    re.IGNORECASE,
)
_certificates = cache(httpx.create_ssl_context)
"""Certificates of this machine, read once: each reading takes 20 ms, and there is a client for each batch."""
_JITTER = random.Random()
"""A generator of its own, so that waits do not affect seeded draws elsewhere."""
_UNPACKED = ("", "identity", "gzip", "deflate")
"""Content encodings that are unpacked: others, and several in turn, may turn few bytes into very many."""
_ABOUT_THE_BODY = frozenset({400, 422})
_ABOUT_THE_KEY = frozenset({401, 403})
_REPEATED = frozenset({408, 409, 425, 429})
_PAYMENT = 402
"""Statuses of HTTP, by what they say about a request."""


class UnusableError(Exception):
    """An attempt without a usable reply; it is counted by `kind` and retried.

    `detail`: more about it, such as the server's own words. `wait`: seconds that the server asked for.
    """

    def __init__(self, kind: str, detail: str = "", wait: float = 0.0) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind, self.detail, self.wait = kind, detail, wait


class RefusedError(ValueError):
    """A request that the server refuses for good; `detail` holds the server's own words.

    `place` is the request's place in the stream.
    """

    def __init__(self, message: str, status: int, detail: str) -> None:
        super().__init__(message)
        self.status, self.detail, self.place = status, detail, 0

    @property
    def concerns_key(self) -> bool:
        """Whether the key, or its absence, is refused, so that every request would be."""
        return self.status in _ABOUT_THE_KEY


@dataclass(frozen=True)
class ServerRequest(Generic[Reply]):
    """One request: its path, its body, and how to read the JSON of the reply.

    `body` is called for each attempt. `read` raises `UnusableError` for a reply it cannot use. `adapt` gets the reason
    for a refusal and the refused body; if `body` then returns another one, that is sent.
    """

    path: str
    body: Callable[[], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any]], Reply]
    adapt: Callable[[str, Mapping[str, Any]], None] = lambda _refusal, _sent: None


class Transport:
    """A connection to one server on its own thread, so that it works inside a notebook and ends with Ctrl-C."""

    def __init__(self, place: ServerAddress, key: str | None, options: ServerOptions, traffic: Traffic) -> None:
        self.place, self._key, self._options, self.traffic = place, key, options, traffic
        self._pace = 60 / options.requests_per_minute if options.requests_per_minute else 0.0
        self._next = 0.0
        self._lost_in_a_row = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def stream(self, requests: Sequence[ServerRequest[Reply]]) -> Iterator[tuple[int, Reply | NoReply]]:
        """The replies with the places of their requests, as they come; `NoReply` if every attempt failed.

        A reply counts as in progress until the next one is wanted: a caller that stores each as it comes and is killed
        loses at most `concurrency` of them.

        Raises `RefusedError` when the server refuses for good, `FailedError` when it is gone or wants to be paid.
        Requests still in progress when the iterator is closed are abandoned.
        """
        arrived: queue.SimpleQueue[tuple[int, Reply | NoReply] | None] = queue.SimpleQueue()
        stop, slots = asyncio.Event(), asyncio.Semaphore(self._options.concurrency)
        work = self._start(self._ask(requests, arrived, stop, slots))
        work.add_done_callback(lambda _: arrived.put(None))
        try:
            while (item := arrived.get()) is not None:
                self._count_lost(item[1])
                yield item
                self._running().call_soon_threadsafe(slots.release)
            work.result()
        finally:
            self._running().call_soon_threadsafe(stop.set)
            self._running().call_soon_threadsafe(slots.release)
            wait([work], CLOSING_SECONDS)

    def models(self) -> list[Mapping[str, Any]]:
        """What the server reports about its models; empty if it reports nothing of use.

        Raises `RefusedError` when it refuses the key, `FailedError` when it cannot be reached.
        """
        return self._start(self._models()).result()

    def _count_lost(self, answer: object) -> None:
        if not isinstance(answer, NoReply):
            self._lost_in_a_row = 0
            return
        self.traffic.lost += 1
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise FailedError(
                f"server {self.place.host}: no usable reply to {MAX_FAILURES_IN_A_ROW} prompts in a row "
                f"({answer.reason})"
            )

    def _start(self, work: Coroutine[Any, Any, Reply]) -> Future[Reply]:
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name=f"server {self.place.host}", daemon=True).start()
        return self._loop

    async def _ask(
        self,
        requests: Sequence[ServerRequest[Reply]],
        arrived: queue.SimpleQueue[Any],
        stop: asyncio.Event,
        slots: asyncio.Semaphore,
    ) -> None:
        """Put each reply into `arrived`, whose reader releases its slot."""

        async def send(place: int, request: ServerRequest[Reply], client: httpx.AsyncClient) -> None:
            await slots.acquire()
            try:
                if not stop.is_set():
                    arrived.put((place, await self._answer(request, client)))
            except Exception as error:
                stop.set()
                if isinstance(error, RefusedError):
                    error.place = place
                raise
            finally:
                if stop.is_set():  # the reader is gone: let the next request see that, too
                    slots.release()

        async with self._client() as client:
            tasks = [asyncio.create_task(send(place, request, client)) for place, request in enumerate(requests)]
            together = asyncio.gather(*tasks)
            together.add_done_callback(lambda _: stop.set())
            await stop.wait()
            await _give_up(tasks)
            await together

    def _client(self) -> httpx.AsyncClient:
        headers = {"Accept-Encoding": "gzip, deflate"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        limits = httpx.Limits(max_connections=self._options.concurrency)
        # A proxy stands between this machine and others, not between it and itself.
        outside = not self.place.is_local
        return httpx.AsyncClient(
            headers=headers,
            limits=limits,
            timeout=self._options.timeout,
            trust_env=outside,
            verify=_certificates(trust_env=outside),
        )

    async def _answer(self, request: ServerRequest[Reply], client: httpx.AsyncClient) -> Reply | NoReply:
        reason, attempt, backoff = "", 0, self._options.backoff
        while attempt <= self._options.retries:
            await self._turn()
            body = dict(request.body())
            self.traffic.requests += 1
            try:
                response, content = await self._exchange(client, "POST", request.path, body)
                if response.status_code != 200:
                    raise self._fault(response, content)
                return _read(request, _object(content))
            except UnusableError as error:
                reason = str(error)
                self.traffic.failed[error.kind] += 1
                attempt += 1
                if error.wait:
                    self._next = max(self._next, time.monotonic() + min(error.wait, MAX_WAIT))
                elif attempt <= self._options.retries:
                    await asyncio.sleep(min(backoff, MAX_WAIT) * _JITTER.uniform(0.5, 1))
                backoff *= 2
            except RefusedError as error:
                if error.status in _ABOUT_THE_BODY:
                    request.adapt(error.detail, body)
                if dict(request.body()) == body:
                    # A prompt that is too long is one lost prompt; any other refusal would affect every prompt.
                    if error.status == 413 or (error.status in _ABOUT_THE_BODY and _TOO_LONG.search(error.detail)):
                        return NoReply(f"status {error.status}: {error.detail}")
                    raise
        return NoReply(f"{reason}, {counted(attempt, 'attempt')}")

    async def _turn(self) -> None:
        """Wait until the rate limit, or the wait that a server asked for, allows the next request."""
        now = time.monotonic()
        begin = max(now, self._next)
        self._next = begin + self._pace if self._pace else self._next
        if begin > now:
            await asyncio.sleep(begin - now)

    async def _exchange(
        self, client: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> tuple[httpx.Response, bytes]:
        try:
            async with (
                asyncio.timeout(self._options.timeout),
                client.stream(method, f"{self.place.base_url}/{path}", json=body) as response,
            ):
                content = await _bounded(response)
                # A server may repeat the key.
                return response, content.replace(self._key.encode(), b"***") if self._key else content
        except (TimeoutError, httpx.TimeoutException):
            raise UnusableError(f"no answer within {self._options.timeout:g} s") from None
        except httpx.RequestError as error:
            raise UnusableError(f"connection: {one_line(str(error)) or type(error).__name__}") from None

    def _fault(self, response: httpx.Response, content: bytes) -> Exception:
        status, message, code = response.status_code, *_message(content)
        spent = status == _PAYMENT or code == "insufficient_quota"
        if (status in _REPEATED or status >= 500 or 200 < status < 300) and not spent:
            return UnusableError(f"status {status}", message, _retry_after(response.headers.get("retry-after")))
        hint = "; wanted a key it accepts (api_key_env)" if status in _ABOUT_THE_KEY else ""
        place = f"server {self.place.host}: model {self.place.model}"
        whole = f"{place}: status {status}: {message or 'no reason given'}{hint}"
        return FailedError(whole) if spent else RefusedError(whole, status, message)

    async def _models(self) -> list[Mapping[str, Any]]:
        async with self._client() as client:
            try:
                response, content = await self._exchange(client, "GET", "models")
            except UnusableError as error:
                raise FailedError(
                    f"server {self.place.host}: cannot be reached ({error}); wanted an OpenAI-compatible server at "
                    f"{self.place.base_url}"
                ) from None
        if response.status_code in _ABOUT_THE_KEY:
            raise self._fault(response, content)
        try:
            listed = _object(content).get("data")
        except UnusableError:
            return []
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def connect_service(name: str, url: str, options: ServerOptions | None = None) -> tuple[Transport, str]:
    """The connection to a third-party service (a retriever, a whole system) that answers JSON at `url`, called `name`
    in messages, and the last part of its path.

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


async def _give_up(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Return when all have ended, by themselves within `GRACE_SECONDS` or cancelled."""
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE_SECONDS)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _bounded(response: httpx.Response) -> bytes:
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in _UNPACKED:
        raise UnusableError(f"content encoding {one_line(packed, 40)}")
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > MAX_REPLY_BYTES:
            raise UnusableError(f"a reply above {MAX_REPLY_BYTES // 1024**2} MB")
    return bytes(content)


def _read(request: ServerRequest[Reply], reply: Mapping[str, Any]) -> Reply:
    """Read a reply; an unusable one is quoted in the error if the error has no detail."""
    try:
        return request.read(reply)
    except UnusableError as error:
        raise UnusableError(error.kind, error.detail or excerpt(json.dumps(reply, ensure_ascii=False))) from None


def _object(content: bytes) -> Mapping[str, Any]:
    """The JSON object of a reply; `UnusableError` for anything else."""
    if not content.strip():
        raise UnusableError("an empty reply")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        text = content[:200].decode("utf-8", "replace")
        kind = "HTML for JSON" if text.lstrip().startswith("<") else "broken JSON"
        raise UnusableError(kind, excerpt(text)) from None
    if not isinstance(value, dict):
        raise UnusableError("JSON that is no object", excerpt(json.dumps(value)))
    return value


def _message(content: bytes) -> tuple[str, str]:
    """A server's error message, on one line, and its code."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return one_line(re.sub(r"<[^>]*>", " ", content[:2000].decode("utf-8", "replace"))), ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return one_line(str(error)), ""
    text = error.get("message") or error.get("detail") or error or ""
    return one_line(str(text)), str(error.get("code") or "")


def one_line(text: str, longest: int = 300) -> str:
    """A server's text on one line, short and without control characters."""
    kept = "".join(mark if mark.isprintable() else " " for mark in text[: 10 * longest])
    return " ".join(kept.split())[:longest]


def excerpt(text: str) -> str:
    """The beginning of a server's text on one line, with `...` if it goes on."""
    shown = one_line(text, 81)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def _retry_after(value: str | None) -> float:
    """The seconds of a Retry-After header, which gives seconds or a date; 0 without one."""
    if not value:
        return 0.0
    try:
        return max(float(value), 0.0) if float(value) < float("inf") else 0.0
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return 0.0
