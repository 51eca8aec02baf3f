"""The Python language reference that every Python carries, as documents."""

from __future__ import annotations

import re
from itertools import pairwise

from exam_gen.corpora._formats import UNDERLINE, tidy, underlined_title
from exam_gen.corpora._tables import first_line
from examcore import Document

WIDTH = 69
"""The reference's plain-text edition is wrapped at column 70, counting two spaces after a full stop in places."""

_GROUPS = {
    "statements": """assert assignment augassign break continue del global import nonlocal pass raise return yield async
        await else if for while try with compound function class exprlists debugger""",
    "expressions": """attribute-references binary bitwise booleans calls comparisons conversions in lambda lists
        operator-summary power shifting slicings subscriptions unary truth naming dynamic-features execmodel""",
    "data model": """attribute-access callable-types context-managers customization exceptions numeric-types objects
        sequence-types specialattrs specialnames types id-classes""",
    "built-in types": """bltin-code-objects bltin-ellipsis-object bltin-null-object bltin-type-objects dict
        string-methods typesfunctions typesmapping typesmethods typesmodules typesseq typesseq-mutable""",
    "literals and names": """atom-identifiers atom-literals floating formatstrings identifiers imaginary integers
        numbers strings""",
}
_TOPICS = {key: group for group, keys in _GROUPS.items() for key in keys.split()}


def python_manual() -> list[Document]:
    """The topics of `pydoc_data`, sorted by key: about 80 documents, the id of each its topic key.

    Hard-wrapped paragraphs are joined and heading underlines and emphasis stars removed; code keeps its lines.
    """
    from pydoc_data.topics import topics

    return [_document(key, topics[key]) for key in sorted(topics)]


def _document(key: str, raw: str) -> Document:
    raw = tidy(raw)
    title = plain(underlined_title(raw) or first_line(raw))
    return Document(
        id=key, title=title, text=readable(raw), source=f"python-docs:{key}", topic=_TOPICS.get(key, "other")
    )


def readable(raw: str) -> str:
    """A wrapped plain-text page with its paragraphs joined and its markup removed."""
    blocks = re.split(r"\n(?:[^\S\n]*\n)+", tidy(raw))
    return tidy("\n\n".join(block for block in map(_block, blocks) if block.strip()))


def _block(block: str) -> str:
    lines = [line.rstrip() for line in block.split("\n")]
    if all(UNDERLINE.fullmatch(line.strip()) for line in lines):
        return ""
    if len(lines) == 2 and UNDERLINE.fullmatch(lines[1]):
        return plain(lines[0])
    if all(line.lstrip().startswith(("+", "|")) for line in lines):
        return "\n".join(lines)
    if _is_wrapped(lines):
        return _joined(lines)
    if _indent(lines[0]) < _indent(lines[1] if len(lines) > 1 else "") and _is_wrapped(lines[1:]):
        # A term above its definition.
        return f"{plain(lines[0])}\n{_joined(lines[1:])}"
    return "\n".join(lines if _indent(lines[0]) else map(plain, lines))


def _joined(lines: list[str]) -> str:
    text = " ".join(line.strip() for line in lines)
    # Lines also break after a word's hyphen.
    for line, below in pairwise(lines):
        if re.search(r"\w-$", line):
            text = text.replace(f"{line.strip()} {below.strip()}", line.strip() + below.strip(), 1)
    return lines[0][: _indent(lines[0])] + plain(text)


def _is_wrapped(lines: list[str]) -> bool:
    """Whether each line break was forced: the next line's first word would have passed the margin."""
    if len(lines) < 2:
        return False
    indents = {_indent(line) for line in lines[1:]}
    hanging = re.match(r"\s*(?:[*\-+]|\d+\.|\[\d+\])\s+", lines[0])
    first = hanging.end() if hanging else _indent(lines[0])
    return indents == {first} and all(len(line) + 1 + len(below.split()[0]) > WIDTH for line, below in pairwise(lines))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def plain(text: str) -> str:
    """Prose without emphasis stars; `*args`, `**kwargs` and `a*b*c` keep theirs."""
    text = re.sub(r"(?<![\w*\"(])\*\*(\w[^*\"]*?[\w:.])\*\*(?![\w*])", r"\1", text)
    return re.sub(r"(?<![\w*\"])\*(\w(?:[^*\"]*\w)?)\*(?![\w*\"])", r"\1", text)
