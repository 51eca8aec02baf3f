"""From the text a model wrote to a stem, or the reason why it is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from exam_gen.language._known_languages import exam_language
from exam_gen.language._reply_language import foreign
from exam_gen.language._words import GENERIC
from examcore import ENGLISH, FUNCTION_WORDS, content_stems, function_words, language_named, normalized, text_width

_VAGUE = frozenset(
    "multiple several various different certain many specific additional other few number".split()  # noqa: SIM905
)
_SENTENCE = re.compile(r"[a-z]{3,}[\"'”’)]*[.…!][\"'”’)]*(?:\s|$)")
"""A title that holds the end of a sentence: the first words of a document that has none."""
LONGEST_TOPIC = 14
"""Words."""
LONGEST_KEY = 72
"""Characters."""
MOST_WORDS = 10
"""Words of a key: longer ones are clauses, beside which no wrong answer looks alike."""
_WORD = re.compile(r"[a-z0-9_]+")
_END = re.compile(r"[?？؟]|(?<=か)。")
"""The end of a question; a Japanese one may have a full stop."""


class DraftStem(NamedTuple):
    """A stem and its key as they were read from a reply, and why they cannot be used (None when they can)."""

    stem: str
    key: str
    reason: str | None


def read_question(raw: str, *, title: str, sentence: str, code: str = ENGLISH, source: str = "") -> DraftStem:
    """The stem and the key in a reply of the form `question, newline, Answer: words of the sentence`.

    The key is given as it stands in the sentence; where that is in another language, `source`, as it stands in the
    reply.
    """
    prompts = exam_language(code).prompts
    line = raw.strip().removeprefix(prompts.question)
    asked, _, answered = line.partition("\n" if code == ENGLISH or "\n" in line else prompts.answer)
    answer = answered.strip().split("\n")[0].removeprefix(prompts.answer)
    crossing = source not in {"", code}
    key = find_answer(answer, sentence, code) or (bare_answer(answer) if crossing else "")
    return read_stem(asked, key, title=title, sentence=sentence, code=code, source=source)


def read_stem(raw: str, key: str, *, title: str, sentence: str, code: str = ENGLISH, source: str = "") -> DraftStem:
    """The stem in a text, for a key of the sentence.

    A stem that names nothing of its document's title, or leans on it, is given it as its topic, so that it stands
    alone; a title that is a sentence of the text is none, and neither is one in another language.
    """
    language = exam_language(code)
    stem = " ".join(raw.split())
    end = _END.search(stem) if code != ENGLISH else re.search(r"\?", stem)
    stem = stem[: end.end()] if end else stem
    stem = f"{stem[:-1]}？" if stem.endswith("か。") else stem[:1].upper() + stem[1:]
    crossing = source not in {"", code}
    wrong = foreign(stem, code)
    reason = f"stem is in {wrong}" if wrong else _fault(stem, title, code) or unfit(key, sentence, code)
    if reason is None and leaks(stem, key, code):
        reason = "stem contains the key"
    said = f"{stem} {key}"
    if reason is None and not crossing and language.negation.search(sentence) and not language.negation.search(said):
        reason = "stem leaves out a negation"
    if reason is None and language.condition.search(sentence) and not language.conditional.search(said):
        reason = "stem leaves out a condition"
    topic = "" if _SENTENCE.search(title.strip()) or len(title.split()) > LONGEST_TOPIC or crossing else title
    if reason is None and language.dangling(stem, topic) is not None:
        reason = "stem does not name its subject"
    named = not topic or (names_subject(stem, topic, code) and language.dangling(stem, "") is None)
    return DraftStem(stem if reason is not None or named else with_topic(stem, topic), key, reason)


_QUOTES = "\"'`*“”„«»「」『』"


def bare_answer(answer: str) -> str:
    """An answer without outer quotes and full stops."""
    return answer.strip().strip(_QUOTES).rstrip(".,;:。、 ").strip(_QUOTES).strip()


def find_answer(answer: str, sentence: str, code: str = ENGLISH) -> str:
    """The words of the sentence that an answer copies, but for case, quotes and inflection; empty where none are."""
    bare = bare_answer(answer)
    if not language_named(code).spaced:
        return _copied(bare, sentence)
    words = re.findall(r"[^\s\"`*“”„«»]+", bare)
    article = len(words) > 1 and words[0].lower() in exam_language(code).articles
    return _found(words, sentence) or (_found(words[1:], sentence) if article else "")


def _copied(answer: str, sentence: str) -> str:
    """The characters of the sentence that an answer copies, spaces apart; a last particle may be too much."""
    for text in (answer, answer[:-1]):
        pattern = r"\s*".join(re.escape(one) for one in text if not one.isspace())
        if len(text) > 1 and (found := re.search(pattern, sentence, re.IGNORECASE)):
            return found.group()
    return ""


def _found(words: Sequence[str], sentence: str) -> str:
    if not words:
        return ""
    # A verb may stand in another form: "What does it do?" is answered by "coerce zeros" from "it coerces zeros".
    first = re.escape(words[0]) + r"(?:s|es|d|ed)?" if words[0].isalpha() else re.escape(words[0])
    pattern = r"[\s\"`*“”„«»]+".join([first, *(re.escape(word) for word in words[1:])])
    found = re.search(rf"(?<!\w){pattern}(?!\w)(?:\(\))?", sentence, re.IGNORECASE)
    return _balanced(found.group()) if found else ""


def _balanced(text: str) -> str:
    """The text without outer marks that have no partner in it."""
    for mark in '"`':
        if text.count(mark) % 2:
            text = text.strip(mark)
    for opening, closing in ("„“", "«»", "「」"):
        if text.count(opening) != text.count(closing):
            text = text.rpartition(opening)[2].partition(closing)[0].strip()
    return text.rstrip(".,;: ")


def unfit(key: str, sentence: str, code: str = ENGLISH) -> str | None:
    """Why the key cannot be one."""
    if not key:
        return "answer is not in the sentence"
    if text_width(key) > LONGEST_KEY or len(key.split()) > MOST_WORDS:
        return "answer is too long"
    if _says_little(key, code) or len(key) < 2:
        return "answer says little"
    if (
        key[0] in ",;)、。"
        or any(key.count(mark) % 2 for mark in '"`')
        or exam_language(code).open_end.search(key.lower())
    ):
        return "answer is cut off"
    if one_of_list(sentence, key, code):
        return "answer is one item of a list"
    if sentence.lower().count(key.lower()) > 1:
        return "answer stands twice in the sentence"
    return None


def _says_little(key: str, code: str) -> bool:
    if code != ENGLISH:
        return not content_stems(key, code)
    content = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    return not set(content) - _VAGUE or key.lower().rstrip("s") in GENERIC


_BEFORE_ITEM = re.compile(r"(?:,|\b(?:and|or|nor|e\.g\.|like|such as|including|especially|both|either))\s*[\"'`*(]*$")
_AFTER_ITEM = re.compile(r"[\"'`*)]*\s*(?:,\s*)?\(?(?:and|or|nor|as well as)\b")
_MORE_ITEMS = re.compile(r"[\"'`*)]*\s*,\s*[^,]{1,40}(?:,|\b(?:and|or)\b)")


def one_of_list(sentence: str, key: str, code: str = ENGLISH) -> bool:
    """Whether the key is one of several things the sentence names together, any of which would answer."""
    if code != ENGLISH:
        return _listed(sentence, key, code)
    start = sentence.lower().find(key.lower())
    before, after = sentence[: max(start, 0)], sentence[max(start, 0) + len(key) :]
    if re.search(r"\b(?:and|or)\b", key):
        return bool(re.match(r"[\"'`*)]*\s*,?\s*(?:and|or)\b", after))
    if re.search(r"\b(?:e\.g\.,?|such as|for example,?|including)\s[\"'`*(]*$", before):
        return True
    if re.search(r"\b(?:and|or|nor)\s+[\"'`*(]*$", before) or re.match(r"[\"'`*)]*\s*\(?(?:and|or)\b", after):
        # "and" or "or" beside the key may also join another clause.
        return not _CLAUSE_AFTER.match(after)
    return bool(_BEFORE_ITEM.search(before) and _AFTER_ITEM.match(after)) or bool(
        _BEFORE_ITEM.search(before) and _MORE_ITEMS.match(after)
    )


def _listed(sentence: str, key: str, code: str) -> bool:
    """The same by the words for "and", "or" and "such as" of a language: beside the key, or after a comma behind it."""
    language, start = exam_language(code), sentence.lower().find(key.lower())
    if start < 0:
        return False
    before, after = sentence[:start], sentence[start + len(key) :]
    mark = rf"[{_QUOTES}(（]*"
    open_edge, gap, edge = (r"(?<!\w)", r"\s+", r"(?!\w)") if language_named(code).spaced else ("", "", "")
    ahead = re.search(rf"(?:{open_edge}(?:{language.joins}|{language.lists})){gap}{mark}$", before, re.IGNORECASE)
    behind = re.match(rf"[{_QUOTES})）]*\s*(?:{language.joins}){edge}", after, re.IGNORECASE)
    more = re.match(rf"[{_QUOTES})）]*\s*,\s*[^,]{{1,40}}(?:,|{gap}(?:{language.joins}){edge})", after, re.IGNORECASE)
    return bool(ahead or behind or (more and re.search(rf",\s*{mark}$", before)))


_CLAUSE_AFTER = re.compile(
    r"[\"'`*)]*\s*\(?(?:and|or)\b\s*(?:\w+\s+){0,3}"
    r"(?:is|are|was|were|has|have|can|may|must|will|does|do|\w+(?:ed|es|ates|izes))\b"
)


def with_topic(stem: str, title: str) -> str:
    """The stem under its topic."""
    topic = title.strip().rstrip(".:")
    return f"{topic}{'' if topic.endswith('?') else '.'} {stem}"


def _fault(stem: str, title: str, code: str) -> str | None:
    language = exam_language(code)
    faults = {
        "stem is not a question": not stem.endswith(("?", "？", "؟")),
        "stem is too short or too long": not 22 <= text_width(stem) <= 260,
        "stem asks yes or no": language.yes_no.search(stem),
        "stem has no question word": not language.question_word.search(stem),
        "stem speaks in the first person": language.first_person.search(stem),
        "stem refers to the text": language.mentions_text.search(stem),
        "stem has more than one answer": language.open_ended.search(stem),
    }
    found = next((reason for reason, there in faults.items() if there), None)
    if found is None and code != ENGLISH and normalized(stem) in _examples(code):
        return "stem repeats an example of its prompt"
    if found is None and title.strip().endswith(("?", "？")):
        asked, titled = _stems(stem, code), _stems(title, code)
        if len(asked & titled) > 0.7 * len(asked):
            return "stem repeats the title"
        if not names_subject(stem, title, code):
            return "stem does not name its subject"
    return found


@cache
def _examples(code: str) -> frozenset[str]:
    """The questions that the prompts of a language show, which a small model may give back."""
    prompts = exam_language(code).prompts
    asked = [*(one[2] for one in prompts.question_examples), *(one[3] for one in prompts.gap_examples)]
    return frozenset(map(normalized, asked))


def leaks(stem: str, key: str, code: str = ENGLISH) -> bool:
    """Whether the stem holds the key, or more than half of its content words."""
    if code != ENGLISH:
        return _holds(stem, key, code)
    if re.search(rf"(?<!\w){re.escape(key.lower())}(?!\w)", stem.lower()):
        return True
    words = [word for word in _WORD.findall(key.lower()) if word not in FUNCTION_WORDS]
    seen = set(_WORD.findall(stem.lower()))
    shared = [word for word in words if word in seen or word.rstrip("s") in seen]
    return bool(words) and len(shared) * 2 > len(words)


def _holds(stem: str, key: str, code: str) -> bool:
    asked, wanted = f" {normalized(stem)} ", normalized(key)
    edge = r"(?<!\w){}(?!\w)" if language_named(code).spaced else "{}"
    if re.search(edge.format(re.escape(wanted)), asked):
        return True
    own = content_stems(key, code)
    return bool(own) and 2 * len(own & content_stems(stem, code)) > len(own)


_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_RUN = re.compile(r"[一-龯々]{2,}|[ァ-ヶー]{3,}|[^\W\d_一-龯々ぁ-んァ-ヶー]+")
"""Words of any script: runs of Chinese characters or katakana, or of other letters."""


def echoes(stem: str, key: str, code: str = ENGLISH) -> set[str]:
    """The beginnings of the key's words, or of the parts of its names, with which words of the stem begin, too.

    A part of a single name that has three letters counts where a longer word of the stem begins with it: `__mod__` and
    modulo.
    """
    short = {part for part in _parts(key, code) if text_width(part) == SHORT_PART and " " not in key}
    abbreviated = {part for part in short if any(word.startswith(part) for word in _parts(stem, code) - short)}
    return (_beginnings(key, code) & _beginnings(stem, code)) | abbreviated


SHORT_PART = 3
"""Letters of an abbreviation in a name (`str`, `mod`); with two of them too many words begin."""


def _parts(text: str, code: str) -> set[str]:
    found = (_PART if code == ENGLISH else _RUN).findall(text)
    return {word.lower() for word in found} - function_words(code)


def _beginnings(text: str, code: str) -> set[str]:
    return {word[:5] for word in _parts(text, code) if text_width(word) > SHORT_PART}


def _stems(text: str, code: str) -> set[str]:
    if code != ENGLISH:
        return content_stems(text, code)
    return {word[:5] for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS}


def names_subject(stem: str, title: str, code: str = ENGLISH) -> bool:
    """Whether a content word of the title stands in the stem."""
    words = _content(title, code)
    return not words or bool(words & _content(stem, code))


def _content(text: str, code: str) -> set[str]:
    if code != ENGLISH:
        return content_stems(text, code)
    return {word.rstrip("s") for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS and len(word) > 1}
