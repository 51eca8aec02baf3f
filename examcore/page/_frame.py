"""The frame that every page has, with its style and script in one file, and the cells of a heat table."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup


def page_template(package: str, name: str) -> Template:
    """A template of a package, which may extend `frame.html` and use `blocks.html`; it escapes all that it is given."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ""), PackageLoader("examcore.page", "")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def page_frame(title: str, subtitle: str, contents: Sequence[tuple[str, str]]) -> dict[str, object]:
    """What the frame of every page names: its heads, contents, style and script."""
    script, style = _own_file("page.js"), _own_file("style.css")
    return {
        "title": title,
        "subtitle": subtitle,
        "contents": contents,
        "version": installed_version(),
        "style": Markup(style),
        "script": Markup(script),
        "script_hash": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _own_file(name: str) -> str:
    return files("examcore.page").joinpath(name).read_text(encoding="utf-8").strip()


def installed_version() -> str:
    """The version of the package, for the foot of a page."""
    try:
        return version("ragexam")
    except PackageNotFoundError:
        return "(not installed)"


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map; `share` is the accuracy in percent, None where nobody answered."""

    share: int | None
    text: str
    range: str


@dataclass(frozen=True)
class HeatRow:
    """One row of a heat map."""

    name: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True)
class HeatTable:
    """Accuracy by two facets."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[HeatRow, ...]
