"""Structured replies: the JSON object in a model's text, repaired where the damage is plain."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from exam_gen.drafting.parser import MAX_CHARACTERS, Parsed, Unparsable, normal, unwrap

_STEM = ("question", "stem", "question_text")
_CHOICES = ("choices", "options", "candidates", "answers")
_ANSWER = ("answer", "correct_answer", "correct", "key", "correct_choice", "answer_index")
_WRONG = ("distractors", "wrong_answers", "wrong", "incorrect_answers")


def parse_json(raw: str, *, choices: int = 4) -> Parsed | Unparsable:
    """A question out of a JSON reply, or why not. Never raises.

    Fields: `question`; `choices` (a list, or an object by label) with `answer` (index, label or text), or `answer`
    (text) with `distractors`. The right answer comes first when it was given apart from the wrong ones.
    """
    fields = json_object(raw)
    if fields is None:
        return Unparsable("malformed JSON" if raw.strip() else "empty reply")
    stem = _text(_first(fields, _STEM))
    if not stem:
        return Unparsable("no question")
    options, labels = _options(fields)
    answer = _first(fields, _ANSWER)
    if not options:
        options, labels, answer = [_text(answer), *_texts(_first(fields, _WRONG))], [], 0
    if len(options) < choices:
        return Unparsable("too few choices" if len(options) > 1 else "no choices")
    options, key = _cut(options, _key(answer, options, labels), choices)
    if not all(normal(option) for option in options):
        return Unparsable("empty choice")
    if len({normal(option) for option in options}) < choices:
        return Unparsable("duplicate choices")
    if key is None:
        return Unparsable("no answer" if answer in (None, "") else "answer names no choice")
    return Parsed(stem, tuple(options), key, _text(fields.get("explanation")))


def json_object(raw: str) -> dict[str, object] | None:
    """The first JSON object in a text; trailing commas, unquoted line breaks and a cut-off end are repaired."""
    text = re.sub(r"```(?:json)?", "", raw[:MAX_CHARACTERS])
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


def _first(fields: Mapping[str, object], names: Sequence[str]) -> object:
    lowered = {str(name).casefold().replace(" ", "_"): value for name, value in fields.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return unwrap(str(value))


def _texts(value: object) -> list[str]:
    return [_text(one) for one in value] if isinstance(value, list) else []


def _options(fields: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """The choices without their labels, and the labels (A, B… by default)."""
    value = _first(fields, _CHOICES)
    if isinstance(value, dict):
        return [_text(one) for one in value.values()], [str(label).strip(" ).:").casefold() for label in value]
    options = _texts(value)
    labelled = [re.match(r"[(\[]?([A-Za-z])[).:\]]\s+", option) for option in options]
    letters = [match.group(1).casefold() if match else "" for match in labelled]
    names = [chr(ord("a") + number) for number in range(len(options))]
    if letters == names:
        options = [option[match.end() :] for option, match in zip(options, labelled, strict=True) if match]
    return options, names


def _key(answer: object, options: Sequence[str], labels: Sequence[str]) -> int | None:
    if isinstance(answer, bool):
        return None
    texts = [normal(option) for option in options]
    said = normal(_text(answer))
    if not isinstance(answer, int) and said in texts:
        return texts.index(said)
    if isinstance(answer, int):
        return answer if 0 <= answer < len(options) else None
    label = re.match(r"[(\[]?([A-Za-z0-9]+)[).:\]]?(?:\s|$)", said)
    bare = label is not None and (label.end() == len(said) or said[label.end(1) : label.end(1) + 1] in ").:]")
    return labels.index(label.group(1)) if label and bare and label.group(1) in labels else None


def _cut(options: list[str], key: int | None, size: int) -> tuple[list[str], int | None]:
    """The first `size` options, the right one always among them."""
    if key is None or key < size:
        return options[:size], key
    return [*options[: size - 1], options[key]], size - 1
