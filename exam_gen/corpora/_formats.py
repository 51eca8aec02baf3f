"""Text formats: plain text, Markdown, reStructuredText, HTML and PDF become a title and readable text."""

from __future__ import annotations

import html
import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from exam_gen.corpora._hypertext import visible_text
from examcore import UnreadableError, decode, read_bytes

TEXT_SUFFIXES = {".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".pdf"}
"""File name endings that are read as one document each (also with `.gz` after them)."""

UNDERLINE = re.compile(r"([=\-~^\"'*+#`:._<>])\1{2,}\s*$")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
_LONGEST_HEADING = 1000
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
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if _has_surrogate(text) else text
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def _has_surrogate(text: str) -> bool:
    return re.search(r"[\ud800-\udfff]", text) is not None


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
        elif not fenced and line.strip() and re.fullmatch(r"(=|-){3,}\s*", following) and not _is_rule(line):
            return plain_inline(line.strip())
    return ""


def _is_rule(line: str) -> bool:
    return re.fullmatch(r"[\s\-=*_|:]+", line) is not None


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
        with _unheard("pypdf"):
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
def _unheard(library: str) -> Iterator[None]:
    """Without the lines a library logs about a file that we report ourselves."""
    logger = logging.getLogger(library)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
