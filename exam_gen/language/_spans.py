"""Short spans of a text that can be the key of a question: code, numbers, names and noun phrases, found by rule."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from exam_gen.language._exam_language import FoundSpan
from exam_gen.language._known_languages import exam_language
from exam_gen.language._words import VERBS
from examcore import ENGLISH, FUNCTION_WORDS, function_words, language_named, sentence_starts, text_width

MAX_KEY_CHARACTERS = 40
"""Longer spans are clauses; few others in a corpus are like them."""
LEAST_WORDS = 8
"""Words of a sentence that reads as prose, where white space parts them."""

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


def sentences(text: str, code: str = ENGLISH) -> list[str]:
    """The sentences of a text that read as prose, white space collapsed; code, tables and headings are passed over."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        for block in _blocks(paragraph.split("\n")):
            plain = _BOLD.sub(r"\1", _MARKUP.sub(lambda match: match.group(1) or "", " ".join(block.split())))
            if code == ENGLISH:
                found.extend(one for one in _split(plain) if _is_prose(one))
            else:
                found.extend(one for one in _split_in(_joined(plain, code), code) if _is_prose_in(one, code))
    return found


_BROKEN = re.compile(r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]) (?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])")


def _joined(plain: str, code: str) -> str:
    """The text without the spaces that line ends left between characters of a script that has none."""
    return plain if language_named(code).spaced else _BROKEN.sub("", plain)


def _split_in(paragraph: str, code: str) -> list[str]:
    """The sentences of a paragraph in another language than English."""
    cuts = [0, *sentence_starts(paragraph, 0, code), len(paragraph)]
    return [paragraph[start:end].strip() for start, end in pairwise(cuts) if start < end]


_ENDS = frozenset(".。।۔։")
"""Full stops of the world's scripts; Thai has none."""


def _is_prose_in(sentence: str, code: str) -> bool:
    """Whether a sentence is one of prose, going by its length, its end and its letters, in any script."""
    language = language_named(code)
    letters = sum(one.isalpha() or one in " ー々" or unicodedata.category(one)[0] == "M" for one in sentence)
    ended = sentence.rstrip("\"')]»”“」』）")[-1:] in _ENDS
    return (
        50 <= text_width(sentence) <= 320
        and (not language.spaced or len(sentence.split()) >= LEAST_WORDS)
        and (ended or not (language.spaced or language.segmenter))
        and not sentence[0].islower()
        and sentence.count("(") == sentence.count(")")
        and letters / len(sentence) >= (0.8 if language.spaced else 0.7)
        and not _CODE_LIKE.search(sentence)
    )


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


def spans(sentence: str, code: str = ENGLISH, *, phrases: bool = True) -> list[KeySpan]:
    """The candidate keys of a sentence, in order of position; where two overlap, the earlier rule's stands.

    Without `phrases` nothing is tagged, which is quick.
    """
    taken: list[KeySpan] = []
    language = exam_language(code)
    for rule in (_code, _marked_off(code), _numbers(code), _names_of(code), *((language.phrases,) if phrases else ())):
        for text, kind, start in rule(sentence):
            free = all(start + len(text) <= other.start or start >= other.end for other in taken)
            if free and (text.isdigit() or (len(text) > 1 and text_width(text) <= MAX_KEY_CHARACTERS)):
                taken.append(KeySpan(text, kind, sentence, start))
    return sorted(taken, key=lambda span: span.start)


def key_span(sentence: str, key: str, code: str = ENGLISH) -> KeySpan:
    """The span of a sentence that a key is; of kind `clause` (with its number of words) when no rule finds it.

    A key that is a found span with an article loses the article, so that other spans can stand beside it.
    """
    language, (first, _, rest) = exam_language(code), key.partition(" ")
    bound = language.adjectives_follow_articles and " " in rest.strip()
    bare = rest.lstrip() if first.lower() in language.articles and rest.strip() and not bound else key
    for span in spans(sentence, code):
        if span.text in {key, bare}:
            return span
    return KeySpan(key, f"clause:{len(key.split())}", sentence, max(sentence.find(key), 0))


_QUOTED = re.compile(r"(?:\"|``?|')((?:[^\s\"`']|(?<=,) ){1,36})(?:\"|``?|')(?!\w)")
_IDENTIFIER = re.compile(
    r"(?<![\w.\"`'/-])(?:[A-Za-z]\w*\.)*(?:__\w+__|[a-z]+_\w+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|[A-Za-z_]\w*(?=\(\)))(?:\(\))?(?![\w/-])"
)


def _code(sentence: str) -> list[FoundSpan]:
    found = []
    for match in _QUOTED.finditer(sentence):
        text = match.group(1)
        if re.search(r"[A-Za-z]", text) and text[-1] not in ".,;:":
            found.append(FoundSpan(text, code_kind(text), match.start(1)))
    found += [
        FoundSpan(match.group(), code_kind(match.group()), match.start()) for match in _IDENTIFIER.finditer(sentence)
    ]
    return found


_IN_MARKS = re.compile(r"[„“«「『]\s?([A-Za-z\d_./-][A-Za-z\d_./-]*(?: [A-Za-z\d_./-]+)?)\s?[“”»」』]")
_CODE = re.compile(r"[\d_./-]|^[a-z]+$")
"""What tells code from the title of a section, in the same quotes."""


def _marked_off(code: str) -> Callable[[str], list[FoundSpan]]:
    """The finder of code in the quotes of other languages than English."""
    if code == ENGLISH:
        return lambda _sentence: []
    return lambda text: [
        FoundSpan(one[1], code_kind(one[1]), one.start(1)) for one in _IN_MARKS.finditer(text) if _CODE.search(one[1])
    ]


def code_kind(text: str) -> str:
    """The kind of a code token: a call, an exception, a class name, an attribute, an option, a plain word…"""
    bare = text.rstrip("()")
    shapes = (
        ("exception", r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Iteration|Exit|Interrupt)"),
        ("special", r"(?:\w+\.)*__\w+__\(.*\)"),
        ("dunder", r"(?:\w+\.)*__\w+__"),
        ("call", r"[\w.]+\(.*\)"),
        ("option", r"--?[A-Za-z].*"),
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


@cache
def _numbers(code: str) -> Callable[[str], list[FoundSpan]]:
    """The finder of numbers with their units, and of dates, in a language."""
    language = exam_language(code)
    if language_named(code).spaced:
        decimal = r"\.\d+" if code == ENGLISH else r"[.,]\d+"
        number = re.compile(
            rf"(?<![\w.$€£\[,–-])([$€£]?\d[\d,]*(?:{decimal})?)(\\?%|\s?(?:{language.units})\b)?(?![\w-]|\.\d)"
        )
    else:
        number = re.compile(rf"(?<![A-Za-z\d_.,-])(\d[\d,]*(?:\.\d+)?)(\s?(?:{language.units}))?(?![A-Za-z\d_-]|\.\d)")
    date = _date(code)

    def find(sentence: str) -> list[FoundSpan]:
        found = [FoundSpan(match.group(), "number:date", match.start()) for match in date.finditer(sentence)]
        return found + [one for match in number.finditer(sentence) if (one := _number(match))]

    return find


def _date(code: str) -> re.Pattern[str]:
    months = exam_language(code).months
    if code == ENGLISH:
        return re.compile(rf"\b(?:{months})\s(?:\d{{1,2}}(?:,\s\d{{4}})?|\d{{4}})(?![\w-])")
    day = r"(?:\d{1,2}(?:er|\.)?\s(?:de\s)?)?"
    western = rf"(?<!\w){day}(?:{months})(?:\sde)?\s\d{{4}}(?![\w-])"
    return re.compile(rf"{western}|\d{{4}}年(?:\d{{1,2}}月)?(?:\d{{1,2}}日)?", re.IGNORECASE)


def _number(match: re.Match[str]) -> FoundSpan | None:
    """The number that was found; None for a list mark, a version or a footnote."""
    number, unit = match.group(1).rstrip(","), (match.group(2) or "").strip(" \\")
    text = match.group().strip().rstrip(",")
    if not unit and (len(number) == 1 or re.match(r"0\d", number)):
        return None
    if not unit and re.fullmatch(r"(?:1[5-9]|20)\d\d", number):
        unit = "year"
    form = "decimal" if "." in number else "integer"
    return FoundSpan(text, f"number:{unit.rstrip('s') or form}", match.start())


_NAME = re.compile(
    r"(?<![\w\"'`.(-])(?:[A-Z][\w+-]*|[A-Z]{2,}\w*)(?:\s(?:(?:of|the|and|for|de)\s)?[A-Z][\w+-]*){0,3}(?![\w\"'`(])"
)


def _names_of(code: str) -> Callable[[str], list[FoundSpan]]:
    """The finder of names in a language."""
    return _names if code == ENGLISH else lambda sentence: _names_in(sentence, code)


_CAPITALISED = re.compile(r"(?<![\w\"'`.(-])[^\W\d_a-zß-ÿ][\w+-]*(?:\s[^\W\d_a-zß-ÿ][\w+-]*){0,3}(?![\w\"'`(])")


def _names_in(sentence: str, code: str) -> list[FoundSpan]:
    """Words with a capital inside a sentence; where nouns have capitals, too, only those with two or with a digit."""
    empty, found = function_words(code), []
    if not language_named(code).spaced:
        return [FoundSpan(m.group(), _name_kind(m.group()), m.start()) for m in _LATIN.finditer(sentence)]
    for match in _CAPITALISED.finditer(sentence):
        text = match.group()
        plain = exam_language(code).nouns_are_capitalised and not re.search(r"\d|\w[A-Z]", text)
        if match.start() == 0 or plain or not text[0].isupper() or text.split()[0].lower() in empty:
            continue
        if re.search(r"[:.\"„«]\s*$", sentence[: match.start()]) or re.match(r"\s\d|[’']", sentence[match.end() :]):
            continue
        if len(text) > 1 and "+" not in text:
            found.append(FoundSpan(text, _name_kind(text), match.start()))
    return found


_LATIN = re.compile(
    r"(?<![A-Za-z\d_.\"'`(/-])[A-Za-z][A-Za-z\d+-]+(?:\s[A-Z][A-Za-z\d+-]+){0,3}(?![A-Za-z\d_.\"'`(/-])"
)


def _name_kind(text: str) -> str:
    words = len(text.split())
    return f"name:{'acronym' if words == 1 and text.isupper() else words}"


def _names(sentence: str) -> list[FoundSpan]:
    found = []
    for match in _NAME.finditer(sentence):
        text = match.group()
        if match.start() == 0 or text.lower() in FUNCTION_WORDS or text.split()[0].lower() in FUNCTION_WORDS:
            continue
        if re.search(r"[:.\"]\s*$", sentence[: match.start()]) or re.match(r"\s\d|[’']", sentence[match.end() :]):
            continue
        if text.endswith("ly") or text.lower() in VERBS or "+" in text:
            continue
        if len(text) > 1:
            found.append(FoundSpan(text, _name_kind(text), match.start()))
    return found
