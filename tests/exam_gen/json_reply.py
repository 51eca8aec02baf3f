"""A reply with one question as JSON, read."""

from __future__ import annotations

from exam_gen.drafting._json_questions import read_fields
from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply
from examcore import repaired_json_object


def parse_json(raw: str) -> ParsedQuestion | UnparsableReply:
    """The question in a reply, or why there is none."""
    fields = repaired_json_object(raw)
    return UnparsableReply("malformed JSON") if fields is None else read_fields(fields)
