"""Text formats: plain text, Markdown, reStructuredText, HTML and PDF become a title and readable text.

HTML is read in one pass over the tags: unclosed and deeply nested pages cost no more than others.
"""

from __future__ import annotations

import html
import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from examcore import UnreadableError, decode, read_bytes

TEXT_SUFFIXES = {".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".pdf"}
"""File name endings that are read as one document each (also with `.gz` after them)."""

UNDERLINE = re.compile(r"([=\-~^\"'*+#`:._<>])\1{2,}\s*$")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
_LONGEST_HEADING = 1000
"""Characters of a line that are searched for a heading; no heading is longer."""
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)---[ \t]*(?:\n|\Z)", re.S)


class Page(NamedTuple):
    """A title (empty when the text has none) and the readable text."""

    title: str
    text: str


def suffix(path: Path) -> str:
    """The file name's ending in lower case, without `.gz`."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def read_page(path: Path) -> Page:
    """Title and text of one file of a known text format.

    The text has `\\n` line ends and neither leading nor trailing blank lines.

    Raises `UnreadableError` for bytes that are no text of the format.
    """
    ending = suffix(path)
    data = read_bytes(path)
    if ending == ".pdf":
        return _pdf(data, path)
    text = tidy(decode(data, path))
    if ending in {".html", ".htm"}:
        return Page(*map(tidy, visible_text(text)))
    if ending in {".md", ".markdown"}:
        return _from_markdown(text)
    return Page(underlined_title(text) if ending == ".rst" else "", text)


def tidy(text: str) -> str:
    """`\\n` line ends, no NUL or lone surrogate (neither survives a UTF-8 file), no blank lines around."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if re.search(r"[\ud800-\udfff]", text):
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _from_markdown(text: str) -> Page:
    """Markdown stays as written, without front matter; its title is the first heading outside code."""
    front = _FRONT_MATTER.match(text)
    named = re.search(r"^title:\s*[\"']?(.+?)[\"']?\s*$", front.group(1), re.M) if front else None
    text = tidy(text[front.end() :]) if front else text
    return Page(named.group(1) if named else markdown_title(text), text)


def markdown_title(text: str) -> str:
    """The first `#` or underlined heading, or nothing."""
    fenced = False
    # No heading is longer: a line of megabytes stays cheap.
    lines = [line[:_LONGEST_HEADING] for line in text.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(line)):
            return plain_inline(match.group(1))
        elif not fenced and re.search(r"[^\s\-=*_|:]", line) and re.fullmatch(r"(=|-){3,}\s*", following):
            return plain_inline(line.strip())
    return ""


def plain_inline(text: str) -> str:
    """A heading without Markdown emphasis, code marks, links and anchors."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<a\b[^>]*>|</a>", "", text)
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", text).strip()


def underlined_title(text: str) -> str:
    """The first line with a line of punctuation of at least its length below it (or nothing)."""
    lines = [line[:_LONGEST_HEADING] for line in text.split("\n")]
    for line, following in pairwise(lines):
        content = line.strip()
        if content and not UNDERLINE.fullmatch(content) and UNDERLINE.fullmatch(following.strip()):
            return content
    return ""


def _pdf(data: bytes, path: Path) -> Page:
    """The text layer of a PDF, hyphenated line ends joined; pages are separated by a blank line."""
    from pypdf import PdfReader

    try:
        with _silenced("pypdf"):
            reader = PdfReader(io.BytesIO(data))
            pages = [page.extract_text() for page in reader.pages]
            title = str((reader.metadata.title if reader.metadata else "") or "")
    except Exception as error:  # damaged files make the reader fail in any way
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"{path}: cannot read the PDF ({reason}); wanted a readable, unlocked PDF"
        raise UnreadableError(message, "unreadable PDF") from None
    text = tidy("\n\n".join(page.strip() for page in pages if page.strip()))
    return Page(html.unescape(title).strip(), re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text))


@contextmanager
def _silenced(library: str) -> Iterator[None]:
    """Silence what a library logs about a file that we report ourselves."""
    logger = logging.getLogger(library)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


_BLOCK_NAMES = (
    "address article aside blockquote body dd details div dl figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr "
    "main ol p section summary table ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_ROWS = frozenset(["br", "dt", "dd", "li", "tbody", "tfoot", "thead", "tr"])
_SILENT = frozenset(["iframe", "nav", "noscript", "object", "script", "style", "svg", "template"])
_VOID = frozenset(["br", "hr", "img", "input", "link", "meta", "wbr", "col", "source"])


def visible_text(source: str) -> Page:
    """The text a reader sees: no script, style or navigation; blocks apart, list items with a dash, `pre` as it is."""
    title = text = ""
    # A navigation or template that is never closed would swallow the whole page.
    for silent in (_SILENT, frozenset(["script", "style"])):
        if not text:
            reader = _Reader(silent)
            reader.feed(source)
            reader.close()
            title, text = reader.title() or title, reader.text()
    return Page(title, text)


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
    return "\n- " if tag == "li" else "\n" if tag in _ROWS else "\n\n" if tag in _BLOCKS else ""


def _squeezed(text: str) -> str:
    lines = (re.sub(r"[^\S\n]+", " ", line).strip().removesuffix(" |") for line in text.split("\n"))
    kept = ("" if line in {"-", "|"} else line for line in lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
