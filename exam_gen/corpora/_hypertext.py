"""HTML to readable text, in one pass over the tags: unclosed and deeply nested pages cost no more than others."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

_BLOCK_NAMES = (
    "address article aside blockquote body dd details div dl figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr "
    "main ol p section summary table ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_ROWS = frozenset(["br", "dt", "dd", "li", "tbody", "tfoot", "thead", "tr"])
_SILENT = frozenset(["iframe", "nav", "noscript", "object", "script", "style", "svg", "template"])
_VOID = frozenset(["br", "hr", "img", "input", "link", "meta", "wbr", "col", "source"])


class Visible(NamedTuple):
    """The page's `<title>` (or first `<h1>`) and its visible text."""

    title: str
    text: str


def visible_text(source: str) -> Visible:
    """The text a reader sees: no script, style or navigation; blocks apart, list items with a dash, `pre` as it is."""
    reader = _Reader(_SILENT)
    reader.feed(source)
    reader.close()
    if not reader.text():
        # A navigation or template that is never closed would swallow the whole page.
        title = reader.title()
        reader = _Reader(frozenset(["script", "style"]))
        reader.feed(source)
        reader.close()
        return Visible(reader.title() or title, reader.text())
    return Visible(reader.title(), reader.text())


class _Reader(HTMLParser):
    """Collects runs of flowing text and of `pre` text in turn."""

    def __init__(self, silent: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._silent = silent
        self._hidden = 0
        self._verbatim = 0
        self._runs: list[tuple[bool, list[str]]] = [(False, [])]
        self._titles: dict[str, list[str]] = {"title": [], "h1": []}
        self._naming = ""
        self._named: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base class asks for it
        if self._naming == "title":
            self._naming = ""  # never closed: a title holds no tags
        if tag in self._titles and tag not in self._named:
            self._naming = tag
        if tag in self._silent:
            self._hidden += 1
        elif tag == "pre":
            self._verbatim += 1
            self._runs.append((True, []))
        elif not self._hidden:
            self._write(_opening(tag))

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as above
        if tag in _VOID:
            self._write(_opening(tag))

    def handle_endtag(self, tag: str) -> None:
        if tag == self._naming:
            self._named.add(tag)
            self._naming = ""
        if tag in self._silent:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "pre" and self._verbatim:
            self._verbatim -= 1
            self._runs.append((bool(self._verbatim), []))
        elif not self._hidden:
            self._write(" | " if tag in {"td", "th"} else "\n\n" if tag in _BLOCKS else "")

    def handle_data(self, data: str) -> None:
        if self._naming:
            self._titles[self._naming].append(data)
        if not self._hidden and self._naming != "title":
            self._runs[-1][1].append(data if self._runs[-1][0] else re.sub(r"\s+", " ", data))

    def title(self) -> str:
        """The first title, else the first main heading, on one line."""
        texts = (" ".join("".join(self._titles[name]).split()) for name in ("title", "h1"))
        return next((text for text in texts if text), "")

    def text(self) -> str:
        """The runs, each with a blank line around it."""
        runs = ("".join(parts).strip("\n") if verbatim else _squeezed("".join(parts)) for verbatim, parts in self._runs)
        return "\n\n".join(run for run in runs if run.strip())

    def _write(self, mark: str) -> None:
        if mark and not self._verbatim:
            self._runs[-1][1].append(mark)


def _opening(tag: str) -> str:
    if tag == "li":
        return "\n- "
    return "\n" if tag in _ROWS else "\n\n" if tag in _BLOCKS else ""


def _squeezed(text: str) -> str:
    """Single spaces, no cell mark at a row's end, no empty item, at most one blank line in a row."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip().removesuffix(" |") for line in text.split("\n"))
    kept = ("" if line in {"-", "|"} else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
