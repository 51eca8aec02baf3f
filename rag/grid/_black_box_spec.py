"""A black box of the grid: a whole system of somebody else's, which brings its own retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag.grid._checks import level, texts
from rag.servers._options import ServerOptions, check_url, options_of
from rag.third_party._objects import HTTP_PREFIXES, PYTHON_PREFIX, default_name, has_module_and_name

KNOWN = ("name", "system", "choices", "timeout", "server")
TIMEOUT = ServerOptions.timeout
"""Seconds for a question, of a function as of an address."""


@dataclass(frozen=True)
class BlackBoxSpec:
    """The name a system goes by, where it is (an http address or `python:package.module:name`), and what it is shown.

    `choices`: whether it is shown the choices beside the question; `timeout`: seconds a function has for a question;
    `server`: how an address is asked.
    """

    name: str
    system: str
    choices: bool = True
    timeout: float = TIMEOUT
    server: ServerOptions | None = None

    @property
    def identity(self) -> dict[str, object]:
        """What is stored with its answers: how it is asked leaves them as they are."""
        return {"name": self.name, "system": self.system, "answers": "endpoint", "choices": self.choices}


def black_box_of(entry: Any, where: str) -> BlackBoxSpec:
    """A black box from its address or `{name, system, choices, timeout, server}`; ValueError names `where` and key."""
    given = dict(entry) if isinstance(entry, Mapping) else {}
    choices, timeout, server = given.pop("choices", True), given.pop("timeout", None), given.pop("server", None)
    fields = texts(given if isinstance(entry, Mapping) else entry, "system", KNOWN, where)
    if not isinstance(choices, bool):
        raise ValueError(f"{where}: choices: {choices!r}; wanted true or false")
    system = fields["system"]
    _check(system, where)
    if server is not None and system.startswith(PYTHON_PREFIX):
        raise ValueError(f"{where}: {system} is on no server; wanted an http address for these options")
    if timeout is not None and not system.startswith(PYTHON_PREFIX):
        raise ValueError(f"{where}: timeout: {timeout!r}; wanted server: {{timeout: {timeout!r}}}, for an address")
    options = None if server is None else options_of(server, f"{where}: server")
    name = level(fields.get("name", default_name(system)), where)
    return BlackBoxSpec(name, system, choices, _seconds(timeout, where), options)


def _seconds(timeout: Any, where: str) -> float:
    if timeout is None:
        return TIMEOUT
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise ValueError(f"{where}: timeout: {timeout!r}; wanted a number of seconds above 0")
    return float(timeout)


def _check(system: str, where: str) -> None:
    if system.startswith(PYTHON_PREFIX):
        if not has_module_and_name(system):
            raise ValueError(f"{where}: {system}; wanted python:package.module:name")
    elif not system.startswith(HTTP_PREFIXES):
        raise ValueError(f"{where}: {system!r}; wanted an http address or python:package.module:name")
    else:
        try:
            check_url(system)
        except ValueError:
            # The address is not repeated: what should not stand in it may be a password.
            raise ValueError(
                f"{where}: the address holds more than http://host:port/path; wanted the key in the environment "
                "(server: {api_key_env: NAME})"
            ) from None
