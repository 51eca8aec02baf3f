"""Options declared once, as the fields of a record: a command that takes the record has one option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from irt._item_covariates import ItemTable
from irt.commands._item_tables import read_columns


def with_records(function: Callable[..., None], **bound: object) -> Callable[..., None]:
    """The function with its `bound` arguments filled in, and behind its own parameters one per field of each record.

    A field becomes the option `--its-name`, or that of a typer annotation. Its metadata may have `help`, `metavar`,
    another `flag`, and the `heading` that help shows it under; where they say `"option": False`, or where the function
    has a parameter of that name, the field keeps its default. Sequences are comma-separated lists.
    """
    own = inspect.signature(function).parameters
    hints = get_type_hints(function, include_extras=True)
    records = {name: hints[name] for name in own if is_dataclass(hints[name])}
    plain = [one for name, one in own.items() if name not in records and name not in bound]
    parameters = [_parameter(one.name, hints[one.name], one.default) for one in plain]
    parameters += [each for name, record in records.items() for each in _options(record, own.keys() - {name})]

    def command(**values: Any) -> None:
        built = {name: record(**_taken(values, record, own.keys() - {name})) for name, record in records.items()}
        function(**values, **built, **bound)

    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def names(words: str) -> list[str]:
    """The names in a comma-separated list."""
    return [word.strip() for word in words.split(",") if word.strip()]


def pairs(words: str) -> list[tuple[str, ...]]:
    """The interactions in a list such as `llm:retriever,llm:icl`."""
    return [tuple(part.strip() for part in word.split(":")) for word in names(words)]


def numbers(words: str) -> list[float]:
    """The numbers in a comma-separated list."""
    try:
        return [float(word) for word in names(words)]
    except ValueError as error:
        raise typer.BadParameter(f"found '{words}'; wanted numbers separated by commas") from error


def item_table(words: str) -> ItemTable:
    """The columns of a file `item,...`."""
    try:
        return read_columns(Path(words))
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


PARSERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    Sequence[str]: (names, "NAME,..."),
    Sequence[Sequence[str]]: (pairs, "NAME:NAME,..."),
    Sequence[float]: (numbers, "NUMBER,..."),
    ItemTable: (item_table, "FILE.csv"),
}
"""How the words of an option that is no single value are read, and how help shows them."""


def _options(record: Any, own: Container[str]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    for field in _option_fields(record, own):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:
            hint = Annotated[hint, _option(field, hint)]
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        # A parser would read the default, too; without an option the record's own stands.
        default = None if default == () else default
        yield _parameter(field.name, hint, inspect.Parameter.empty if default is MISSING else default)


def _option(field: Field[Any], hint: Any) -> Any:
    name = field.name.replace("_", "-")
    twofold = field.default is True or bool in get_args(hint)
    flag = field.metadata.get("flag", f"--{name}/--no-{name}" if twofold else f"--{name}")
    parser, shown = next((PARSERS[each] for each in (hint, *get_args(hint)) if each in PARSERS), (None, None))
    metavar = field.metadata.get("metavar") or shown
    said = {name: field.metadata.get(name) for name in ("help", "heading")}
    return typer.Option(flag, help=said["help"], rich_help_panel=said["heading"], metavar=metavar, parser=parser)


def _option_fields(record: Any, own: Container[str]) -> list[Field[Any]]:
    return [field for field in fields(record) if field.metadata.get("option", True) and field.name not in own]


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _taken(values: dict[str, Any], record: Any, own: Container[str]) -> dict[str, Any]:
    """The values of a record's fields, taken out of `values`."""
    taken = {field.name: values.pop(field.name) for field in _option_fields(record, own)}
    return {name: value for name, value in taken.items() if value is not None}
