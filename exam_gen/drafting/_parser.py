"""Model text to questions: the free-text format of the auto-rag-eval paper and its many variations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from examcore import MAX_REPLY_CHARACTERS, normalized, unwrapped

_MOST_STARTS = 100
"""Lines that may open the choices; more of them are a model that repeats itself."""


class ParsedQuestion(NamedTuple):
    """A question as the model gave it, choices in its order; `choices[key]` is what it calls right."""

    stem: str
    choices: tuple[str, ...]
    key: int


class UnparsableReply(NamedTuple):
    """Why a text is no question: `no choices`, `several answers` and the like."""

    kind: str


_MARK = r"[\s>#*_`\-•]*"
_QUESTION = re.compile(
    rf"{_MARK}(?:multiple[- ]choice\s+)?(?:question|problem|q)\s*(?:no\.?\s*)?\d*\s*[*_]*[:.)][*_]*[ \t]*", re.I
)
_QUESTION_HEADING = re.compile(rf"{_MARK}(?:multiple[- ]choice\s+)?question\s*\d*[\s*_#]*$", re.I)
_NAMED = r"(?:(?:option|choice|candidate|answer)\s+)?"
_LABELS = {
    "upper": re.compile(
        rf"{_MARK}{_NAMED}[(\[]?([A-F])\s*[*_]*[).:\]][*_]*(?:\s+|$)|{_MARK}[(\[]([A-F])[)\]][*_]*\s*", re.I
    ),
    "digit": re.compile(rf"{_MARK}{_NAMED}[(\[]?([1-6])\s*[*_]*[).:\]][*_]*(?:\s+|$)", re.I),
}
_INLINE = {
    "upper": re.compile(r"(?<=\s)(?=[*_]*[(\[]?[B-F][).\]][*_]*\s)"),
    "lower": re.compile(r"(?<=\s)(?=[*_]*[(\[]?[b-f][).\]][*_]*\s)"),
    "digit": re.compile(r"(?<=\s)(?=[*_]*[(\[]?[2-6][).\]][*_]*\s)"),
}
_ANSWER = re.compile(
    r"(?:\b(?:the\s+)?(?:correct|right|best|true)\s+(?:answer|choice|option|candidate|response)(?:\s*key)?|\banswer(?:\s*key)?)"
    r"(?:\s*\([^)\n]{0,20}\))?[\s*_]*(?::|=|\bis\b|\bwould be\b)[\s*:]*",
    re.I,
)
_ANSWER_START = re.compile(rf"{_MARK}{_ANSWER.pattern}", re.I)
_IS_RIGHT = re.compile(r"(?<![\w'])\(?([A-F])[).]?\s+is\s+(?:the\s+)?(?:correct|right|best)\b")
_LISTED = re.compile(r"\s*(?:[-*•]|\d+[.)])\s")
_EXPLAINED = re.compile(
    rf"{_MARK}(?:explanations?|rationale|reasoning|reasons?|justification|note|feedback|solution|why)\b[^:\n]{{0,40}}:",
    re.I,
)
_TRAILER = re.compile(
    r"(?<=[\s.;,)*])(?=[*_(\[]{0,4}(?:(?:the\s+)?(?:correct|right)\s+(?:answer|choice|option)\b|answer\s*(?:key)?\s*[*_]*:"
    r"|explanations?\s*[*_]*:|rationale\s*[*_]*:))",
    re.I,
)
_HEADER = re.compile(
    rf"{_MARK}(?:(?:possible|candidate|answer|multiple)\s+)*(?:choices|options|candidates|answers)[\s*_]*:?[\s*_]*$",
    re.I,
)
_FLAG = re.compile(
    r"(?:[(\[]\s*(?:the\s+)?(?:correct|right)(?:\s+(?:answer|choice|option))?\s*[)\]]|[✓✔✅]|<-+\s*correct)\s*$", re.I
)
_LETTER = re.compile(
    r"[\s*_\"'`(\[]*(?:(?:option|choice|candidate|answer|letter)\s+)?[\"'`(\[*_]*([A-Fa-f1-6])(?![\w'’])[\"'`\])*_]*\s*(.*)",
    re.I | re.S,
)
_SEVERAL = re.compile(r"(?:,|;|/|&|\+|\band\b|\bor\b)\s*[(\[*_]*([A-F1-6])(?![\w'’])", re.I)


def parse(raw: str, *, choices: int = 4) -> ParsedQuestion | UnparsableReply:
    """A question with exactly `choices` choices and one right answer out of a model's free text, or why not.

    Understood: `Question:` (numbered, bold, a heading, or no label at all), choices labelled A-D, a-d or 1-4 with `)`,
    `.`, `:` or brackets, one per line or all on one, the answer by label (`Correct Answer: B`, `answer is (b)`), by the
    choice's text, or marked in the choice. Further choices and text are ignored. Never raises.
    """
    text = _clean(raw)
    if not text:
        return UnparsableReply("empty reply")
    found = _choice_lines(text, choices)
    if found is None:
        return UnparsableReply("no choices" if _stem(text.split("\n")) else "no question")
    stem = _stem(found.before)
    if not stem:
        return UnparsableReply("no question")
    if len(found.choices) < choices:
        return UnparsableReply("too few choices")
    flagged = [number for number, choice in enumerate(found.choices) if _FLAG.search(choice)]
    options = tuple(unwrapped(_FLAG.sub("", choice)) for choice in found.choices)
    if not all(normalized(choice) for choice in options):
        return UnparsableReply("empty choice")
    if len({normalized(choice) for choice in options}) < choices:
        return UnparsableReply("duplicate choices")
    preface = [line for line in found.before if _ANSWER_START.match(line)]
    key = _key(found.after + preface, options, flagged)
    return key if isinstance(key, UnparsableReply) else ParsedQuestion(stem, options, key)


class _Choices(NamedTuple):
    before: list[str]
    choices: list[str]
    after: list[str]


def _clean(raw: str) -> str:
    """The reply alone: what follows the last turn mark, with plain line ends."""
    text = raw[:MAX_REPLY_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    text = re.split(r"###\s*Assistant\s*:|<\|assistant\|>", text)[-1]
    return re.sub(r"</?(?:s|pad|eos)>|<\|[a-z_]{1,20}\|>", "", text).strip()


def _choice_lines(text: str, wanted: int) -> _Choices | None:
    """The first run of labels A, B, C… (or 1, 2, 3…): a complete one if any, capital letters before others."""
    runs = (_run(_lines(text, style), style, wanted) for style in ("upper", "lower", "digit"))
    attempts = [run for run in runs if run is not None]
    complete = [attempt for attempt in attempts if len(attempt.choices) >= wanted]
    return next(iter(complete or attempts), None)


def _lines(text: str, style: str) -> list[str]:
    """Lines, those split that hold several choices of a style, or an answer behind a choice."""
    split: list[str] = []
    inside = False
    for line in text.split("\n"):
        parts = _split_inline(line, style)
        inside = inside or any(_label(part, style) is not None for part in parts)
        split += [piece for part in parts for piece in (_without_trailer(part) if inside else [part])]
    return split


def _without_trailer(line: str) -> list[str]:
    """A choice's line, cut before an answer or explanation that follows on it."""
    if _ANSWER_START.match(line) or _EXPLAINED.match(line):
        return [line]
    return _TRAILER.split(line, maxsplit=1)


def _split_inline(line: str, style: str) -> list[str]:
    """The choices of a line that holds them all ("… A) x B) y C) z"), in order; else the line."""
    first = {"upper": "A", "lower": "a", "digit": "1"}[style]
    opening = re.search(rf"(?:^|(?<=[\s?:]))(?=[*_]*[(\[]?{first}[).\]][*_]*\s)", line)
    if opening is None:
        return [line]
    parts = _INLINE[style].split(line[opening.start() :])
    labels = [_label(part, style) for part in parts]
    if len(parts) < 3 or labels != list(range(len(parts))):
        return [line]
    return [line[: opening.start()], *parts] if line[: opening.start()].strip() else parts


def _label(line: str, style: str) -> int | None:
    """The number from 0 of the choice a line opens with, in the given style."""
    match = _LABELS["digit" if style == "digit" else "upper"].match(line)
    if match is None:
        return None
    mark = match.group(1) or match.group(2)
    if (style == "lower") != mark.islower() and style != "digit":
        return None
    return int(mark) - 1 if style == "digit" else ord(mark.lower()) - ord("a")


def _run(lines: Sequence[str], style: str, wanted: int) -> _Choices | None:
    """The longest run of labels in order among those that start at the style's first label."""
    best: _Choices | None = None
    starts = (number for number, line in enumerate(lines) if _label(line, style) == 0)
    for start in islice(starts, _MOST_STARTS):
        attempt = _collect(lines, start, style, wanted)
        if best is None or len(attempt.choices) > len(best.choices):
            best = attempt
        if len(attempt.choices) >= wanted:
            break
    return best


def _collect(lines: Sequence[str], start: int, style: str, wanted: int) -> _Choices:
    choices: list[list[str]] = []
    position = start
    closed = False
    while position < len(lines):
        line = lines[position]
        label = _label(line, style)
        if label == len(choices) and len(choices) < wanted:
            choices.append([_LABELS["digit" if style == "digit" else "upper"].sub("", line, count=1)])
            closed = False
        elif label is not None or _ANSWER_START.match(line):
            break
        elif _EXPLAINED.match(line):
            # Each choice may be explained below it; the explanation after the last one ends the choices.
            if len(choices) >= wanted:
                break
            closed = True
        elif not line.strip():
            # A blank line ends a choice that has text; the next label may still follow.
            closed = closed or any(part.strip() for part in choices[-1])
        elif closed and len(choices) >= wanted:
            break
        elif not closed:
            choices[-1].append(line)
        position += 1
    return _Choices(list(lines[:start]), ["\n".join(one).strip() for one in choices], list(lines[position:]))


def _stem(before: Sequence[str]) -> str:
    """The question in the lines before the choices: after its label, else the last paragraph."""
    lines = [line for line in before if not _HEADER.match(line) and not _ANSWER_START.match(line)]
    for number in range(len(lines) - 1, -1, -1):
        if match := _QUESTION.match(lines[number]):
            return _joined([lines[number][match.end() :], *lines[number + 1 :]])
        if _QUESTION_HEADING.match(lines[number]):
            return _joined(lines[number + 1 :])
    paragraphs = [part for part in re.split(r"\n\s*\n", "\n".join(lines)) if part.strip(" \n*_#>-")]
    if not paragraphs:
        return ""
    # Without a label an introduction ("Here is a question based on the documentation:") is left out.
    asking = [part for part in paragraphs if "?" in part] or paragraphs
    return _joined(
        re.sub(
            r"\A[^?\n]{0,200}(?:documentation|text|passage|question)\s*:\s+(?=\S)", "", asking[-1], flags=re.I
        ).split("\n")
    )


def _joined(lines: Sequence[str]) -> str:
    """Lines as one text: wrapped lines joined, list lines and code kept; enclosing marks removed."""
    text = "\n".join(lines).strip()
    if "```" not in text:
        text = " ".join(
            ("\n" if _LISTED.match(line) else "") + line.strip() for line in text.split("\n") if line.strip()
        )
        text = text.replace(" \n", "\n")
    return unwrapped(text) if "\n" not in text else text.strip("* \n")


def _key(after: Sequence[str], choices: Sequence[str], flagged: Sequence[int]) -> int | UnparsableReply:
    stated = _statements(after)
    verdicts = [_named(statement, choices) for statement in stated]
    keys = {verdict for verdict in verdicts if isinstance(verdict, int)}
    if UnparsableReply("several answers") in verdicts:
        return UnparsableReply("several answers")
    if not stated:
        keys = {ord(match.group(1)) - ord("A") for match in _IS_RIGHT.finditer("\n".join(after))} or set(flagged)
        keys = {key for key in keys if key < len(choices)}
    if len(keys) > 1:
        return UnparsableReply("contradictory answers")
    if keys:
        return keys.pop()
    return UnparsableReply("answer names no choice" if stated else "no answer")


def _statements(after: Sequence[str]) -> list[str]:
    """What follows each answer mark that opens a line; without one, the first answer mark anywhere."""
    found = []
    for number, line in enumerate(after):
        if match := _ANSWER_START.match(line):
            rest = line[match.end() :].strip(" \t*")
            below = next((one.strip() for one in after[number + 1 :] if one.strip()), "")
            found.append(rest or below)
    if found:
        return found
    for line in after:
        if match := _ANSWER.search(line):
            return [line[match.end() :]]
    return []


def _named(statement: str, choices: Sequence[str]) -> int | UnparsableReply | None:
    """The choice a statement names by its label or its text; None when it names none."""
    letter = _LETTER.match(statement)
    by_text = _by_text(statement, choices)
    if letter is None:
        return by_text
    mark, rest = letter.group(1), letter.group(2)
    index = int(mark) - 1 if mark.isdigit() else ord(mark.lower()) - ord("a")
    said = normalized(unwrapped(statement.split("\n")[0]))
    if index >= len(choices) or (len(said) > 2 and said in map(normalized, choices)):
        return by_text
    if _SEVERAL.match(rest) and not _begins(choices[index], rest):
        return UnparsableReply("several answers")
    # "A bucket" may be the label A or an article; "2" may be a label or the choice "2": then the text decides.
    glued = re.match(r"[\s*_\"'`(\[]*[A-Fa-f1-6]\s+[\w\"'`$(]", statement) is not None
    if mark.isdigit() and by_text is not None and not re.match(r"[\s(\[*_]*\d\s*[).\]:]", statement):
        return by_text
    if glued and not _begins(choices[index], rest):
        explained = re.match(r"(?:because|since|as|is|\(|-|–|—)", rest)
        return by_text if by_text is not None or not explained or mark in "Aa" else index
    return index


def _begins(choice: str, rest: str) -> bool:
    left, right = normalized(choice), normalized(rest)
    return bool(right) and (right.startswith(left) or left.startswith(right))


def _by_text(statement: str, choices: Sequence[str]) -> int | None:
    """The one choice whose text the statement is or starts with, or that starts with the statement."""
    said = normalized(unwrapped(statement.split("\n")[0]))
    texts = [normalized(choice) for choice in choices]
    if said in texts:
        return texts.index(said)
    opened = [number for number, text in enumerate(texts) if re.match(re.escape(text) + r"(?!\w)", said)]
    if opened:
        return max(opened, key=lambda number: len(texts[number]))
    begun = [number for number, text in enumerate(texts) if len(said) >= 8 and text.startswith(said)]
    return begun[0] if len(begun) == 1 else None
