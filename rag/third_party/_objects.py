"""What is another's: things named `python:package.module:name`, and the addresses of services."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any
from urllib.parse import urlsplit

PYTHON_PREFIX = "python:"
HTTP_PREFIXES = ("http://", "https://")


def import_object(place: str) -> Any:
    """What `python:package.module:name` names; ImportError or AttributeError, or what the module raises."""
    module, _, name = place.removeprefix(PYTHON_PREFIX).partition(":")
    with stdout_to_stderr():
        return getattr(importlib.import_module(module), name)


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """While another's code works, what it prints goes to standard error: standard output holds our results alone."""
    with redirect_stdout(sys.stderr):
        yield


def has_module_and_name(place: str) -> bool:
    """Whether `python:package.module:name` has both its module and its name."""
    module, _, name = place.removeprefix(PYTHON_PREFIX).partition(":")
    return bool(module and name)


def default_name(place: str) -> str:
    """What a thing or service is called when nothing else is said: what is imported, or who answers."""
    return place.rpartition(":")[2] if place.startswith(PYTHON_PREFIX) else urlsplit(place).netloc


def positional_parameters(thing: Callable[..., Any]) -> int:
    """How many arguments it takes by position, at least those it needs; two where Python cannot tell."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 2
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
