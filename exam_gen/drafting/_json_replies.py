"""Structured replies: the JSON object in a model's text, repaired where the damage is plain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply
from examcore import normalized, repaired_json_object, unwrapped

_STEM = ("question", "stem", "question_text")
_CHOICES = ("choices", "options", "candidates", "answers")
_ANSWER = ("answer", "correct_answer", "correct", "key", "correct_choice", "answer_index")
_WRONG = ("distractors", "wrong_answers", "wrong", "incorrect_answers")


def parse_json(raw: str, *, choices: int = 4) -> ParsedQuestion | UnparsableReply:
    """A question out of a JSON reply, or why not. Never raises.

    Fields: `question`; `choices` (a list, or an object by label) with `answer` (index, label or text), or `answer`
    (text) with `distractors`. The right answer comes first when it was given apart from the wrong ones.
    """
    fields = repaired_json_object(raw)
    if fields is None:
        return UnparsableReply("malformed JSON" if raw.strip() else "empty reply")
    stem = _text(_first(fields, _STEM))
    if not stem:
        return UnparsableReply("no question")
    options, labels = _options(fields)
    answer = _first(fields, _ANSWER)
    if not options:
        options, labels, answer = [_text(answer), *_texts(_first(fields, _WRONG))], [], 0
    if len(options) < choices:
        return UnparsableReply("too few choices" if len(options) > 1 else "no choices")
    options, key = _cut(options, _key(answer, options, labels), choices)
    if not all(normalized(option) for option in options):
        return UnparsableReply("empty choice")
    if len({normalized(option) for option in options}) < choices:
        return UnparsableReply("duplicate choices")
    if key is None:
        return UnparsableReply("no answer" if answer in (None, "") else "answer names no choice")
    return ParsedQuestion(stem, tuple(options), key, _text(fields.get("explanation")))


def _first(fields: Mapping[str, object], names: Sequence[str]) -> object:
    lowered = {str(name).casefold().replace(" ", "_"): value for name, value in fields.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return unwrapped(str(value))


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
    texts = [normalized(option) for option in options]
    said = normalized(_text(answer))
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
