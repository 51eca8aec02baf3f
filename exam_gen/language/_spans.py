"""Short spans of a text that can be the key of a question: code, numbers, names and noun phrases, found by rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exam_gen.language._tagging import noun_phrases
from exam_gen.language._words import GENERIC, VERBS
from examcore import FUNCTION_WORDS

MAX_KEY_CHARACTERS = 40
"""Longer spans are clauses; few others in a corpus are like them."""

_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|al|Fig|Eq|Sec|No|Dr|Mr|Mrs|Ms|St|Inc|approx|resp)|\b[A-Z])\.$")
_BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`*]{0,2}[A-Z0-9])")
_CODE_LIKE = re.compile(r">>>|::=|[{}]|==|\+=|->|\\\\|\$\$|=\s|\.\.\.|http|!\[|\|")
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)|\[\d+\]")
_BOLD = re.compile(r"(?<!\w)\*\*(?=[^\s*])([^*`]+?)(?<=[^\s*])\*\*(?!\w)")
_LIST_MARK = re.compile(r"^(?:[-*•+]|\d+[.)])\s+")


@dataclass(frozen=True)
class KeySpan:
    """A candidate key: its text, its kind (`code:call`, `number:percent`, `name:2`, `phrase:2s` …) and its sentence."""

    text: str
    kind: str
    sentence: str
    start: int

    @property
    def end(self) -> int:
        """Where the span ends in its sentence."""
        return self.start + len(self.text)


def sentences(text: str) -> list[str]:
    """The sentences of a text that read as prose, white space collapsed; code, tables and headings are passed over."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        for block in _blocks(paragraph.split("\n")):
            plain = _BOLD.sub(r"\1", _MARKUP.sub(lambda match: match.group(1) or "", " ".join(block.split())))
            found.extend(one for one in _split(plain) if _is_prose(one))
    return found


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """The items of a list, each as one text; an indented definition joins its term after a colon."""
    block: list[str] = []
    depth = 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        item = _LIST_MARK.sub("", line.lstrip())
        if block and item != line.lstrip():
            yield " ".join(block)
            block = []
        if len(block) == 1 and indent > depth and block[0].rstrip()[-1:] not in {".", ":", ","}:
            block = [f"{block[0].rstrip()}:"]
        block.append(item)
        depth = indent
    yield " ".join(block)


def _split(paragraph: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for boundary in _BOUNDARY.finditer(paragraph):
        piece = paragraph[start : boundary.start()].strip()
        if _ABBREVIATION.search(piece):
            continue
        pieces.append(paragraph[start : boundary.end()].strip())
        start = boundary.end()
    pieces.append(paragraph[start:].strip())
    return [piece for piece in pieces if piece]


def _is_prose(sentence: str) -> bool:
    letters = sum(character.isalpha() or character == " " for character in sentence)
    return (
        50 <= len(sentence) <= 320
        and len(sentence.split()) >= 8
        and sentence.rstrip("\"')]")[-1:] == "."
        and (sentence[0].isupper() or sentence[0] in "\"'`(")
        and letters / len(sentence) >= 0.8
        and not _CODE_LIKE.search(sentence)
    )


def spans(sentence: str, *, phrases: bool = True) -> list[KeySpan]:
    """The candidate keys of a sentence, in order of position; where two overlap, the earlier rule's stands.

    Without `phrases` nothing is tagged, which is quick.
    """
    taken: list[KeySpan] = []
    for rule in (_code, _numbers, _names, *((_phrases,) if phrases else ())):
        for text, kind, start in rule(sentence):
            free = all(start + len(text) <= other.start or start >= other.end for other in taken)
            if free and (text.isdigit() or 1 < len(text) <= MAX_KEY_CHARACTERS):
                taken.append(KeySpan(text, kind, sentence, start))
    return sorted(taken, key=lambda span: span.start)


def key_span(sentence: str, key: str) -> KeySpan:
    """The span of a sentence that a key is; of kind `clause` (with its number of words) when no rule finds it.

    A key that is a found span with an article loses the article, so that other spans can stand beside it.
    """
    bare = re.sub(r"^(?:an?|the)\s+", "", key, flags=re.IGNORECASE)
    for span in spans(sentence):
        if span.text in {key, bare}:
            return span
    return KeySpan(key, f"clause:{len(key.split())}", sentence, max(sentence.find(key), 0))


_QUOTED = re.compile(r"(?:\"|``?|')((?:[^\s\"`']|(?<=,) ){1,36})(?:\"|``?|')(?!\w)")
_IDENTIFIER = re.compile(
    r"(?<![\w.\"`'/-])(?:[A-Za-z]\w*\.)*(?:__\w+__|[a-z]+_\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|[A-Za-z_]\w*(?=\(\)))(?:\(\))?(?![\w/-])"
)


def _code(sentence: str) -> list[tuple[str, str, int]]:
    found = []
    for match in _QUOTED.finditer(sentence):
        text = match.group(1)
        if re.search(r"[A-Za-z]", text) and text[-1] not in ".,;:":
            found.append((text, code_kind(text), match.start(1)))
    found += [(match.group(), code_kind(match.group()), match.start()) for match in _IDENTIFIER.finditer(sentence)]
    return found


def code_kind(text: str) -> str:
    """The kind of a code token: a call, an exception, a class name, an attribute, an option, a plain word…"""
    bare = text.rstrip("()")
    shapes = (
        ("exception", r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Iteration|Exit|Interrupt)"),
        ("special", r"(?:\w+\.)*__\w+__\(.*\)"),
        ("dunder", r"(?:\w+\.)*__\w+__"),
        ("call", r".*\(.*\)"),
        ("option", r"-.*"),
        ("dotted", r"\w+(?:\.\w+)+"),
        ("constant", r"[A-Z][A-Z0-9_]+"),
        ("camel", r"[A-Z]\w+"),
        ("snake", r"\w*_\w*"),
        ("word", r"[a-z]\w*"),
    )
    for kind, pattern in shapes:
        if re.fullmatch(pattern, text if kind in {"special", "call", "option", "dunder"} else bare):
            return f"code:{kind}"
    return "code:expression"


_UNITS = (
    "percent|million|billion|thousand|bytes?|bits?|KB|MB|GB|TB|kg|g|mg|km|cm|mm|m|seconds?|minutes?|hours?|days?|weeks?"
    "|months?|years?|characters?|points?|times|people|degrees?|dollars?"
)
_NUMBER = re.compile(
    r"(?<![\w.$€£\[,–-])([$€£]?\d[\d,]*(?:\.\d+)?)" + rf"(\\?%|\s?(?:{_UNITS})\b)?" + r"(?![\w-]|\.\d)"
)


_DATE = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\s"
    r"(?:\d{1,2}(?:,\s\d{4})?|\d{4})(?![\w-])"
)


def _numbers(sentence: str) -> list[tuple[str, str, int]]:
    found = [(match.group(), "number:date", match.start()) for match in _DATE.finditer(sentence)]
    for match in _NUMBER.finditer(sentence):
        number, unit = match.group(1).rstrip(","), (match.group(2) or "").strip(" \\")
        text = match.group().strip().rstrip(",")
        if not unit and (len(number) == 1 or re.match(r"0\d", number)):
            continue  # "1" and "2" are list marks, versions and footnotes more often than facts
        if not unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", number):
            unit = "year"
        form = "decimal" if "." in number else "integer"
        found.append((text, f"number:{unit.rstrip('s') or form}", match.start()))
    return found


_NAME = re.compile(
    r"(?<![\w\"'`.(-])(?:[A-Z][\w+-]*|[A-Z]{2,}\w*)(?:\s(?:(?:of|the|and|for|de)\s)?[A-Z][\w+-]*){0,3}(?![\w\"'`(])"
)


def _names(sentence: str) -> list[tuple[str, str, int]]:
    found = []
    for match in _NAME.finditer(sentence):
        text = match.group()
        if match.start() == 0 or text.lower() in FUNCTION_WORDS or text.split()[0].lower() in FUNCTION_WORDS:
            continue
        if re.search(r"[:.\"]\s*$", sentence[: match.start()]) or re.match(r"\s\d|[’']", sentence[match.end() :]):
            continue
        if text.endswith("ly") or text.lower() in VERBS or "+" in text:
            continue
        words = len(text.split())
        form = "acronym" if words == 1 and text.isupper() else str(words)
        if len(text) > 1:
            found.append((text, f"name:{form}", match.start()))
    return found


_MOST_WORDS = 4
"""Longer noun phrases are rarely the answer to one question."""


def _phrases(sentence: str) -> list[tuple[str, str, int]]:
    """Noun phrases of up to four plain words, without their articles; a single word must be a telling one."""
    found = []
    for run in noun_phrases(sentence):
        words = [token.text.lower() for token in run]
        text = sentence[run[0].start : run[-1].end]
        if len(words) > _MOST_WORDS or not re.fullmatch(r"[A-Za-z][A-Za-z -]*", text):
            continue
        if len(words) == 1 and (len(words[0]) < 5 or words[0] in GENERIC):
            continue
        if len(words) == 2 and (words[0] in GENERIC or words[1] in GENERIC):
            continue
        found.append((text, f"phrase:{len(words)}{'p' if run[-1].tag == 'NN2' else 's'}", run[0].start))
    return found
