"""What a language adds to the writing of exams: the prompts in it, and the words by which rules read its texts.

A language has one module beside this one. Without a module the general prompts serve, which ask in English for a text
in that language, and the rules that hold in any language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from examcore import Language

GAP = "____"
"""What stands in a statement for the words that are left out."""
NEVER = re.compile(r"(?!)")
"""A pattern that no text has."""
ALWAYS = re.compile(r"")
"""A pattern that every text has."""


_A_GAP = re.compile(re.escape(GAP))
MOST_WORDS = 4
"""Longer noun phrases are rarely the answer to one question."""


class FoundSpan(NamedTuple):
    """A piece of a sentence that may be a key: its text, its kind and where it starts."""

    text: str
    kind: str
    start: int


@dataclass(frozen=True)
class WriterPrompts:
    """The prompts of writer and verifier in one language; `version` is stored with every question.

    Labels stand before the parts of a prompt, their colon included. Examples are about things that corpora seldom treat
    and hold no personal names, because a small model copies from them; those of two languages are translations of each
    other, so that a question in one can be asked for about a sentence in the other; `crossing` then says so. Of gaps
    the plainest example is the last: a small model gives back an odd one (in German four times in eight, then never).
    What `completion` and `about` take stands in braces.
    """

    version: str
    topic: str
    sentence: str
    question: str
    answer: str
    statement: str
    gap: str
    exam_question: str
    plain_words: str
    right_answer: str
    wrong_answers: str
    proposed_answer: str
    reply: str
    yes: str
    no: str
    question_system: str
    crossing: str
    gap_system: str
    wording_system: str
    wrong_system: str
    search_request: str
    open_request: str
    answerable_request: str
    judgment_request: str
    about: str
    closed_request: str
    completion: str
    question_examples: Sequence[tuple[str, str, str, str]] = ()
    gap_examples: Sequence[tuple[str, str, str, str]] = ()
    wording_examples: Sequence[tuple[str, str]] = ()
    wrong_examples: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class ExamLanguage:
    """A language as the writer and the rules know it; a pattern left out finds nothing wrong.

    Of stems: `question_word` and `yes_no` (how a question of that kind begins), `first_person`, `mentions_text`,
    `open_ended` (more than one answer), `asks` (what a title that is a question begins with), `references` (to a text),
    `unnamed` (how a stem begins that speaks of a thing it does not name), `dangling` (a thing in a stem under a title
    that neither introduces). Of sentences under a title: `leans` (on others). Of keys: `articles`, `open_end` (a word
    that more must follow), `joins` (words for "and" and "or", as alternatives of a pattern), `lists` (for "such as"),
    `negation`, `denial` (words of denial or decrease), `condition` (on which a sentence is true), `conditional` (what a
    question may keep it by). Of choices: `catch_all`, `marked` (says whether it is right),
    `evades` (speaks of the task). Of spans in a sentence: `units` and `months` (alternatives), `phrases` (noun
    phrases), `names_thing` (whether a piece of it names one), `nouns_are_capitalised`, `adjectives_follow_articles`
    (their endings do, so that a phrase cannot lose its article).
    """

    code: str
    prompts: WriterPrompts
    question_word: re.Pattern[str] = ALWAYS
    yes_no: re.Pattern[str] = NEVER
    first_person: re.Pattern[str] = NEVER
    mentions_text: re.Pattern[str] = _A_GAP
    open_ended: re.Pattern[str] = NEVER
    asks: re.Pattern[str] = NEVER
    references: Sequence[re.Pattern[str]] = ()
    unnamed: Sequence[re.Pattern[str]] = ()
    dangling: Callable[[str, str], str | None] = lambda _stem, _title: None
    leans: Callable[[str, str], bool] = lambda _sentence, _title: False
    articles: frozenset[str] = frozenset()
    open_end: re.Pattern[str] = NEVER
    joins: str = "&|/"
    lists: str = "(?!)"
    negation: re.Pattern[str] = NEVER
    condition: re.Pattern[str] = NEVER
    conditional: re.Pattern[str] = NEVER
    denial: re.Pattern[str] = NEVER
    catch_all: re.Pattern[str] = NEVER
    marked: re.Pattern[str] = NEVER
    evades: re.Pattern[str] = NEVER
    units: str = "%"
    months: str = "(?!)"
    phrases: Callable[[str], Sequence[FoundSpan]] = lambda _sentence: ()
    names_thing: Callable[[str, str], bool] = lambda _sentence, text: len(text.split()) <= MOST_WORDS
    nouns_are_capitalised: bool = False
    adjectives_follow_articles: bool = False


def leaning_on(starts: str, within: str) -> Callable[[str, str], bool]:
    """A test of sentences: one leans on others that begins with some words or has others in it (alternatives)."""
    found = re.compile(rf"^\W*(?:{starts})(?!\w)|(?<!\w)(?:{within})(?!\w)", re.IGNORECASE)
    return lambda sentence, _title: found.search(sentence) is not None


def phrases_after(
    singular: str, plural: str, linking: str, empty: frozenset[str]
) -> Callable[[str], Sequence[FoundSpan]]:
    """A finder of noun phrases in a language whose nouns follow their articles and come before what tells them apart.

    A phrase is the word after a determiner (alternatives, one ends in white space or an apostrophe), with one more word
    after `linking`. Words of `empty` say nothing, or are adjectives, which a noun follows.
    """
    noun = r"[^\W\d_][\w-]{3,}"
    pattern = re.compile(
        rf"(?<!\w)(?:(?P<plural>{plural})|(?:{singular}))(?P<text>{noun}(?P<more>(?:{linking}){noun})?)(?!\w)",
        re.IGNORECASE,
    )

    def find(sentence: str) -> list[FoundSpan]:
        return [
            FoundSpan(
                one["text"], f"phrase:{3 if one['more'] else 1}{'p' if one['plural'] else 's'}", one.start("text")
            )
            for one in pattern.finditer(sentence)
            if re.split(r"\W", one["text"].lower())[0] not in empty
        ]

    return find


def names_by(open_words: str) -> Callable[[str, str], bool]:
    """A test of pieces of a sentence: a thing is named in few words, none of which (alternatives) makes a clause."""
    clause = re.compile(rf"(?<!\w)(?:{open_words})(?!\w)", re.IGNORECASE)
    return lambda _sentence, text: len(text.split()) <= MOST_WORDS + 1 and not clause.search(text)


def general_language(language: Language, english: ExamLanguage) -> ExamLanguage:
    """What is known of a language without a module: prompts that ask in English for a text in it, and no words."""
    return ExamLanguage(language.code, _general_prompts(english.prompts, language.name))


def _general_prompts(english: WriterPrompts, name: str) -> WriterPrompts:
    inside: Mapping[str, str] = {
        "question_system": f"Write the question in {name} on one line and, on the next, '{english.answer}' with the "
        f"answer in {name}.",
        "gap_system": f"Write one question in {name}, on one line.",
        "wording_system": f"Write in {name}, on one line.",
        "wrong_system": f"Write four wrong answers in {name} on one line, with semicolons between them.",
        "search_request": f"Write it in {name}.",
        "open_request": f"Answer in {name}.",
        "closed_request": f"Answer in {name}.",
    }
    told = {part: f"{getattr(english, part)} {more}" for part, more in inside.items()}
    about = english.about.replace("one sentence", f"one sentence in {name}")
    empty: Mapping[str, Sequence[tuple[str, ...]]] = dict.fromkeys(
        ("question_examples", "gap_examples", "wording_examples", "wrong_examples"), ()
    )
    return replace(english, version="any-1", about=about, **told, **empty)  # type: ignore[arg-type]
