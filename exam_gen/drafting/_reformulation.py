"""Rewriting a question that leans on its document or on earlier questions, by a language model.

The ten guidelines are those of Shaw, Solway, Gaizauskas and Greenwood (2008, section 2.2), by which people rewrote the
questions of series about a target; here the target is what a document or passage is about. `rules.standalone` mends
without a model what can be mended by putting the title in place of a word. What a model writes is held to the
guidelines before it is taken (`objection`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from exam_gen.language._outside_references import outside_reference
from examcore import FUNCTION_WORDS, CachedLanguageModel, NoReply, Prompt

VERSION = "reformulation-1"
MAX_TOKENS = 80
"""Room for a long question."""
POINTING = frozenset(["according", "based", "described", "discussed", "listed", "mentioned", "presented", "stated"])
"""Words that go with a phrase that points to a text."""


class Earlier(NamedTuple):
    """A question asked before, and its answer where it is known."""

    stem: str
    answer: str = ""


class Leaning(NamedTuple):
    """A question that does not stand alone: what it is about, and what was asked before it."""

    stem: str
    target: str
    earlier: tuple[Earlier, ...] = ()


class Guideline(NamedTuple):
    """One of the ten guidelines, with a question before and the forms that are right after it."""

    name: str
    says: str
    before: Leaning
    after: tuple[str, ...]


class Reformulated(NamedTuple):
    """The rewritten question, or None and the reason why there is none."""

    stem: str | None
    reason: str = ""


GUIDELINES = (
    Guideline(
        "readable",
        "The question is understood by itself and reads as a native speaker would ask it, small words included.",
        Leaning("How many people did it kill?", "1953 North Sea flood"),
        ("How many people did the 1953 North Sea flood kill?",),
    ),
    Guideline(
        "findable",
        "Names are given in full, because every word of a name helps to find the answer.",
        Leaning("When did she first win a Nobel Prize?", "Marie Curie"),
        ("When did Marie Curie first win a Nobel Prize?",),
    ),
    Guideline(
        "whole target",
        "Where the question holds a part of the target, the whole target takes its place.",
        Leaning("According to the text, when was the WHO founded?", "World Health Organization (WHO)"),
        ("When was the World Health Organization (WHO) founded?",),
    ),
    Guideline(
        "not rephrased",
        "Nothing is worded anew that can stay as it is, and the order of the words stays.",
        Leaning("Where does it rise?", "Rhine"),
        ("Where does the Rhine rise?",),
    ),
    Guideline(
        "earlier answers",
        "What points to an earlier question gets its answer, or, where that is not known, a description taken from it.",
        Leaning("Where was she born?", "Polonium", (Earlier("Which chemist discovered polonium?", "Marie Curie"),)),
        ("Where was Marie Curie born?", "Where was the chemist who discovered polonium born?"),
    ),
    Guideline(
        "brackets",
        "A target with brackets may be used whole, without the brackets, or as what the brackets hold.",
        Leaning("When was it opened?", "Great Western Railway (GWR)"),
        (
            "When was the Great Western Railway (GWR) opened?",
            "When was the Great Western Railway opened?",
            "When was the GWR opened?",
        ),
    ),
    Guideline(
        "own words",
        "No word is stemmed, and no other word for the same is used but one that target or earlier questions have.",
        Leaning("How high is it?", "Big Ben"),
        ("How high is Big Ben?",),
    ),
    Guideline(
        "it",
        "`It` stands for the answer of the question before, or for the target where that does not fit.",
        Leaning("How far away was it heard?", "1883 eruption of Krakatoa"),
        ("How far away was the 1883 eruption of Krakatoa heard?",),
    ),
    Guideline(
        "he and she",
        "`He` and `she` stand for the target where that is a person, else for the person who answered before.",
        Leaning("When was he born?", "Alan Turing"),
        ("When was Alan Turing born?",),
    ),
    Guideline(
        "his, her, their",
        "`His`, `her` and `their` become the same name with 's.",
        Leaning("Who was her mother?", "Ada Lovelace"),
        ("Who was Ada Lovelace's mother?",),
    ),
)
_SYSTEM = "You rewrite questions so that they can be asked alone, without a text and without earlier questions."


def reformulation_prompt(question: Leaning) -> Prompt:
    """Ask for the question as it stands alone, by the ten guidelines and an example of each."""
    rules = "\n".join(f"{number}. {one.says}" for number, one in enumerate(GUIDELINES, start=1))
    examples = "\n\n".join(f"{_shown(one.before)}\nRewritten: {one.after[0]}" for one in GUIDELINES)
    return Prompt(f"{rules}\n\n{examples}\n\n{_shown(question)}", system=_SYSTEM, reply="Rewritten:")


def reformulate(questions: Sequence[Leaning], model: CachedLanguageModel, *, seed: int = 0) -> list[Reformulated]:
    """Each question rewritten; what is none, or that a guideline has an `objection` to, is not taken: its reason."""
    prompts = [reformulation_prompt(one) for one in questions]
    replies = model.replies(prompts, max_tokens=MAX_TOKENS, stop=("\n",), seed=seed)
    return [
        Reformulated(None, f"no reply: {reply.reason}") if isinstance(reply, NoReply) else _taken(question, reply)
        for question, reply in zip(questions, replies, strict=True)
    ]


def objection(question: Leaning, stem: str) -> str | None:
    """What a guideline has against a rewritten question, or None.

    It must lean on nothing, hold the whole target (or what brackets in it hold, or what goes before them) or, in a
    series, words of an earlier question or answer; have no word of its own; and keep the question's words in their
    order, but for those that lean.
    """
    if leaning := outside_reference(stem):
        return f"still leans on {leaning!r}"
    written, target = _words(stem), question.target
    # The target whole, without its brackets, and what they hold.
    forms = [target, re.sub(r"\s*\([^)]*\)", "", target), *re.findall(r"\(([^)]+)\)", target)]
    if not question.earlier and not any(_in_order(_words(one), written) for one in forms):
        return f"does not name {question.target!r}"
    known = {*_words(question.stem), *_words(question.target)}
    known.update(word for one in question.earlier for word in (*_words(one.stem), *_words(one.answer)))
    own = next((word for word in written if word not in known | FUNCTION_WORDS), None)
    if own is not None:
        return f"has {own!r}, a word of its own"
    kept = [word for word in _words(_without_references(question.stem)) if word not in FUNCTION_WORDS | POINTING]
    if not _in_order(kept, written):
        return "does not keep the question's words in their order"
    return None


def read_reformulation(reply: str) -> Reformulated:
    """The question in a reply: its first line, up to the last question mark."""
    line = reply.strip().partition("\n")[0].removeprefix("Rewritten:").strip().strip('"“”')
    stem = " ".join(line[: line.rfind("?") + 1].split())
    return Reformulated(stem) if stem else Reformulated(None, "reply is no question")


def _taken(question: Leaning, reply: str) -> Reformulated:
    found = read_reformulation(reply)
    reason = None if found.stem is None else objection(question, found.stem)
    return found if reason is None else Reformulated(None, reason)


def _words(text: str) -> list[str]:
    """Words in lower case, without what an apostrophe hangs on ("Lovelace's")."""
    return re.findall(r"\w+", re.sub(r"['’]s\b|['’](?!\w)", "", text.lower()))


def _in_order(words: Iterable[str], text: Iterable[str]) -> bool:
    """Whether the words stand in the text in their order, others between them."""
    rest: Iterator[str] = iter(text)
    return all(word in rest for word in words)


def _without_references(stem: str) -> str:
    """The stem without the phrases that point to a text; a pronoun that leans stays."""
    while (leaning := outside_reference(stem)) and outside_reference(f"Bread, {leaning}."):
        stem = stem.replace(leaning, " ")
    return stem


def _shown(question: Leaning) -> str:
    earlier = "".join(f"Earlier question: {one.stem} {one.answer}".rstrip() + "\n" for one in question.earlier)
    return f"Target: {question.target}\n{earlier}Question: {question.stem}"
