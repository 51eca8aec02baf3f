"""The JSON object in a model's text, repaired where the damage is plain."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

MAX_REPLY_CHARACTERS = 50_000
"""What follows in a reply is not looked at: no question is that long, a runaway reply may be."""


def repaired_json_object(raw: str) -> dict[str, object] | None:
    """The first JSON object in a text; trailing commas, unquoted line breaks and a cut-off end are repaired."""
    text = re.sub(r"```(?:json)?", "", raw[:MAX_REPLY_CHARACTERS])
    start = text.find("{")
    if start < 0:
        return None
    text = text[start:]
    for candidate in (text, _without_commas(text), _closed(_without_commas(text))):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _without_commas(text: str) -> str:
    return re.sub(r",(?=\s*[}\]])", "", text)


def _closed(text: str) -> str:
    """A cut-off text with its open string, lists and objects closed; a member without a value is dropped."""
    open_marks: list[str] = []
    quoted = escaped = False
    for mark in text:
        if quoted:
            quoted = escaped or mark != '"'
            escaped = not escaped and mark == "\\"
        elif mark == '"':
            quoted = True
        elif mark in "{[":
            open_marks.append("}" if mark == "{" else "]")
        elif mark in "}]" and open_marks:
            open_marks.pop()
    text = text[:-1] if escaped else text
    text = (text + ('"' if quoted else "")).rstrip()
    text = re.sub(r"(?:,|[,{]\s*\"[^\"]*\"\s*:|:)$", lambda match: "{" if match.group().startswith("{") else "", text)
    text = re.sub(r"([,{])\s*\"[^\"]*\"$", lambda m: _keep_value(m, open_marks), text)
    return text.rstrip(",") + "".join(reversed(open_marks))


def _keep_value(match: re.Match[str], open_marks: Sequence[str]) -> str:
    """In a list the last string is a value and stays; in an object it is a name without a value."""
    if open_marks and open_marks[-1] == "]":
        return match.group()
    return "{" if match.group(1) == "{" else ""
