"""Does the passage support the key and none of the wrong answers? Judged by likelihoods, or by letters asked for.

The two are different measurements: likelihoods grade how sure a model is, letters say only what it answers. Which one
was taken stands in every question's metadata.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from exam_gen._prompts import (
    ANSWER_VERSION,
    LETTERS_VERSION,
    closed_letters_prompt,
    closed_prompt,
    judgment_prompt,
    open_letters_prompt,
    open_prompt,
    statement_prompt,
)
from exam_gen.drafting._corpus_distractors import DistractorOption
from exam_gen.language._exam_language import GAP
from exam_gen.language._known_languages import exam_language
from examcore import ENGLISH, CachedLanguageModel, Likelihoods, NoReply, Prompt

UNSUPPORTED = "key not supported by the passage"
DOUBTED = "key judged wrong or incomplete"
KNOWN = "key known without the passage"
AMBIGUOUS = "wrong answers as likely as the key"
UNFITTING = "wrong answers do not fit the statement"
GUESSED = "key guessed without the passage"
_MOST_RIVALS = 5
"""Wrong answers whose correctness is asked about, each by a request of its own."""
LETTERS_TOKENS = 24
"""Room for ten letters, commas and a polite word."""


@dataclass(frozen=True)
class Thresholds:
    """What a question must show, in nats.

    `support`: the least mean log-likelihood per token of the key given the passage. `margin`: the least lead of the key
    over a wrong answer with the passage, in the sum; in the mean per token half of it. `lift`: the least gain of the
    key's log-likelihood that the passage brings. `agreement`, from 0 to 1: the least agreement with the key of the
    answer a model gives in its own words when it reads the passage (see `readback`). `judgment`: the least lead of
    "Yes" over "No" where a model that reads the passage is asked whether the key is correct and complete. `rival`: the
    largest share of that lead that a wrong answer may reach when the same is asked of it. `fit`: the most that a
    completed statement, read without the passage, may lose in log-likelihood when a wrong answer stands in for the key.
    `guess`: the largest lead of the key over the most tempting wrong answer where a model sees all of them, but not the
    passage (0.7: the key seems twice as likely); None: that is not asked.
    Raises `ValueError` for numbers that nothing, or everything, could reach: log-likelihoods above 0, shares beyond 1.
    """

    support: float = -3.0
    margin: float = 1.5
    lift: float = 3.0
    agreement: float = 0.5
    judgment: float = 1.0
    rival: float = 0.6
    fit: float = 12.0
    guess: float | None = None

    def __post_init__(self) -> None:
        for name, (least, most, wanted) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and least <= value <= most):
                raise ValueError(f"thresholds: {name} is {value:g}; wanted {wanted}")


_RANGES = {
    "support": (-math.inf, 0.0, "0 or less"),
    "margin": (0.0, math.inf, "0 or more"),
    "lift": (-math.inf, math.inf, "a finite number"),
    "agreement": (0.0, 1.0, "0 to 1"),
    "judgment": (-math.inf, math.inf, "a finite number"),
    "rival": (0.0, 1.0, "0 to 1"),
    "fit": (0.0, math.inf, "0 or more"),
    "guess": (0.0, math.inf, "0 or more"),
}


@dataclass(frozen=True)
class VerificationResult:
    """The wrong answers that may be used, what was measured, and the reason when the question fails.

    `letters`: the candidates picked with the passage and without, the key being `A` and the wrong answers `B` onwards.
    """

    reason: str | None
    options: tuple[DistractorOption, ...] = ()
    support: float | None = None
    margin: float | None = None
    lift: float | None = None
    closed: float | None = None
    letters: tuple[str, str] | None = None
    judgment: float | None = None
    guess: float | None = None


class VerificationCase(NamedTuple):
    """A question to be judged: where it comes from, its stem, its key and the wrong answers to weigh.

    `judged`: whether the key's correctness is asked about, too; where the stem is the passage's own sentence it need
    not be. `loose`: whether other words might be right beside the key, as they may not with a number. `statement`: what
    the stem wants completed, with its gap; empty for a question. `language`: the code of stem and key.
    """

    title: str
    passage: str
    stem: str
    key: str
    wrong: tuple[str, ...]
    judged: bool = True
    loose: bool = True
    statement: str = ""
    language: str = ENGLISH

    def completed(self, answer: str) -> str:
        """The statement with an answer in its gap."""
        return self.statement.replace(GAP, answer)


class Verifier(Protocol):
    """Judges questions; `version` names how, `model` by whom."""

    version: str

    @property
    def model(self) -> CachedLanguageModel:
        """The model that is asked."""

    def keys(self, cases: Sequence[VerificationCase]) -> list[VerificationResult]:
        """Whether the passage makes each key right, before there are wrong answers: one result per case."""

    def verdicts(
        self, cases: Sequence[VerificationCase], keys: Sequence[VerificationResult]
    ) -> list[VerificationResult]:
        """One verdict per case, given what is known of its key."""


class LikelihoodVerifier:
    """Asks with the passage and, of those it supports, without; judged by the log-likelihoods of all candidates."""

    version = ANSWER_VERSION

    def __init__(self, model: CachedLanguageModel, limits: Thresholds) -> None:
        self.model, self._limits = model, limits

    def keys(self, cases: Sequence[VerificationCase]) -> list[VerificationResult]:
        """The judgment of each key that is to be judged; a request without reply gives the reason `no reply: ...`."""
        doubtful = [case for case in cases if case.judged]
        judged = self._ask(doubtful, [_judging(case, case.key) for case in doubtful])
        return [self._of_key(judged[case]) if case in judged else VerificationResult(None) for case in cases]

    def _of_key(self, judged: Likelihoods | NoReply) -> VerificationResult:
        if isinstance(judged, NoReply):
            return VerificationResult(f"no reply: {judged.reason}")
        lead = _lead(judged)
        return VerificationResult(None if lead >= self._limits.judgment else DOUBTED, judgment=round(lead, 4))

    def verdicts(
        self, cases: Sequence[VerificationCase], keys: Sequence[VerificationResult]
    ) -> list[VerificationResult]:
        """One verdict per case; a request without reply gives the reason `no reply: ...`."""
        known = dict(zip(cases, keys, strict=True))
        choices = {case: tuple(f" {text}" for text in (case.key, *case.wrong)) for case in cases}
        trusted = [case for case in cases if known[case].reason is None]
        opened = self._ask(
            trusted, [(open_prompt(c.title, c.passage, c.stem, c.language), choices[c]) for c in trusted]
        )
        good = [case for case in trusted if self._supports(opened[case])]
        alone = self._ask(good, [(closed_prompt(case.stem, case.language), choices[case]) for case in good])
        found = known | {case: self._verdict(case, known[case], opened[case], alone.get(case)) for case in trusted}
        found |= self._fitting({case: one for case, one in found.items() if case.statement and one.reason is None})
        if self._limits.guess is not None:
            found |= self._guessed({case: one for case, one in found.items() if one.reason is None}, self._limits.guess)
        found |= self._cleared({case: one for case, one in found.items() if case.loose and one.reason is None})
        return [found[case] for case in cases]

    def _supports(self, opened: Likelihoods | NoReply) -> bool:
        return isinstance(opened, Likelihoods) and means(opened)[0] >= self._limits.support

    def _fitting(
        self, found: Mapping[VerificationCase, VerificationResult]
    ) -> dict[VerificationCase, VerificationResult]:
        """The verdicts without the wrong answers that make the statement an odd one: those can be ruled out unread."""
        texts = {case: (case.key, *(option.text for option in one.options)) for case, one in found.items()}
        asked = [
            (statement_prompt(case.title, case.language), tuple(map(case.completed, each)))
            for case, each in texts.items()
        ]
        verdicts = {}
        for case, completed in self._ask(list(texts), asked).items():
            if isinstance(completed, NoReply):
                verdicts[case] = VerificationResult(f"no reply: {completed.reason}")
                continue
            least = completed.sums[0] - self._limits.fit
            pairs = zip(found[case].options, completed.sums[1:], strict=True)
            options = tuple(option for option, total in pairs if total >= least)
            verdicts[case] = replace(found[case], options=options, reason=UNFITTING if len(options) < 3 else None)
        return verdicts

    def _guessed(
        self, found: Mapping[VerificationCase, VerificationResult], most: float
    ) -> dict[VerificationCase, VerificationResult]:
        """The verdicts with what tempts a model that sees all choices, but not the passage: leads of at most so much.

        It sees them in an order and in the same reversed, because models like some letters better than others.
        """
        choices = {case: (case.key, *(option.text for option in one.options)) for case, one in found.items()}
        orders = {case: _both_ways(len(each), case.stem) for case, each in choices.items()}
        asked = [_lettered(case, choices[case], order) for case, two in orders.items() for order in two]
        answers = iter(self.model.all_log_likelihoods(asked))
        read = {case: [next(answers) for _ in two] for case, two in orders.items()}
        return {case: _tempting(found[case], orders[case], each, most) for case, each in read.items()}

    def _cleared(
        self, found: Mapping[VerificationCase, VerificationResult]
    ) -> dict[VerificationCase, VerificationResult]:
        """The verdicts without the wrong answers that are judged nearly as correct as the key."""
        asked = {
            case: ([] if one.judgment is not None else [case.key]) + [o.text for o in one.options[:_MOST_RIVALS]]
            for case, one in found.items()
        }
        requests = [_judging(case, text) for case, texts in asked.items() for text in texts]
        answers = iter(self.model.all_log_likelihoods(requests))
        judged = {case: [next(answers) for _ in texts] for case, texts in asked.items()}
        return {case: self._without_rivals(found[case], each) for case, each in judged.items()}

    def _without_rivals(
        self, verdict: VerificationResult, judged: Sequence[Likelihoods | NoReply]
    ) -> VerificationResult:
        """One verdict, given the judgments of its wrong answers, and first that of its key where it is not known."""
        leads = [] if verdict.judgment is None else [verdict.judgment]
        for one in judged:
            if isinstance(one, NoReply):
                return VerificationResult(f"no reply: {one.reason}")
            leads.append(_lead(one))
        limit = leads[0] * self._limits.rival
        asked = verdict.options[:_MOST_RIVALS]
        options = tuple(o for o, lead in zip(asked, leads[1:], strict=True) if lead <= limit)
        reason = DOUBTED if leads[0] <= 0 else AMBIGUOUS if len(options) < 3 else None
        return replace(verdict, reason=reason, options=options, judgment=round(leads[0], 4))

    def _ask(
        self, cases: Sequence[VerificationCase], asked: Sequence[tuple[Prompt, tuple[str, ...]]]
    ) -> dict[VerificationCase, Likelihoods | NoReply]:
        return dict(zip(cases, self.model.all_log_likelihoods(asked), strict=True))

    def _verdict(
        self,
        case: VerificationCase,
        key: VerificationResult,
        opened: Likelihoods | NoReply,
        alone: Likelihoods | NoReply | None,
    ) -> VerificationResult:
        for one in (opened, alone):
            if isinstance(one, NoReply):
                return VerificationResult(f"no reply: {one.reason}")
        if not isinstance(opened, Likelihoods) or not isinstance(alone, Likelihoods):
            return replace(key, reason=UNSUPPORTED)
        return replace(judge(opened, alone, case.wrong, self._limits), judgment=key.judgment)


def _judging(case: VerificationCase, answer: str) -> tuple[Prompt, tuple[str, ...]]:
    said = exam_language(case.language).prompts
    prompt = judgment_prompt(case.title, case.passage, case.stem, answer, case.language)
    return prompt, (f" {said.yes}", f" {said.no}")


def _tempting(
    verdict: VerificationResult, orders: Sequence[Sequence[int]], read: Sequence[Likelihoods | NoReply], most: float
) -> VerificationResult:
    """One verdict, given the likelihoods of the letters of its choices in two orders."""
    means_of = [0.0] * (1 + len(verdict.options))
    for order, one in zip(orders, read, strict=True):
        if isinstance(one, NoReply):
            return VerificationResult(f"no reply: {one.reason}")
        for choice, total in zip(order, one.sums, strict=True):
            means_of[choice] += total / len(orders)
    key, *others = means_of
    tempts = [key - other <= most for other in others]
    options = tuple(replace(o, tempting=yes) for o, yes in zip(verdict.options, tempts, strict=True))
    guess = round(key - max(others), 4)
    return replace(verdict, options=options, guess=guess, reason=None if any(tempts) else GUESSED)


def _both_ways(count: int, name: str) -> tuple[list[int], list[int]]:
    """An order of so many choices, drawn by a name, and the same reversed."""
    order = random.Random(name).sample(range(count), count)
    return order, order[::-1]


def _lettered(case: VerificationCase, choices: Sequence[str], order: Sequence[int]) -> tuple[Prompt, tuple[str, ...]]:
    letters = tuple(f" {chr(ord('A') + place)}" for place in range(len(order)))
    return closed_letters_prompt(case.stem, [choices[at] for at in order]), letters


def _lead(found: Likelihoods) -> float:
    """By how much the first continuation leads the second, in nats."""
    return found.sums[0] - found.sums[1]


class LetterVerifier:
    """Shows all candidates with the passage and asks which are right; then, without it, for the best guess.

    The key must be picked with the passage and not without; a wrong answer picked beside it is left out. Nothing is
    measured of how likely the others are, so the balance of likelihoods over the exam is not held.
    """

    version = LETTERS_VERSION

    def __init__(self, model: CachedLanguageModel, seed: int) -> None:
        self.model, self._seed = model, seed

    def keys(self, cases: Sequence[VerificationCase]) -> list[VerificationResult]:
        """Nothing is asked about a key alone."""
        return [VerificationResult(None) for _ in cases]

    def verdicts(self, cases: Sequence[VerificationCase], _: Sequence[VerificationResult]) -> list[VerificationResult]:
        """One verdict per case; a request without reply gives the reason `no reply: ...`."""
        orders = [list(range(1 + len(case.wrong))) for case in cases]
        for case, order in zip(cases, orders, strict=True):
            random.Random(f"{self._seed}:{case.stem}").shuffle(order)
        shown = [[(case.key, *case.wrong)[at] for at in order] for case, order in zip(cases, orders, strict=True)]
        asked = [open_letters_prompt(c.title, c.passage, c.stem, s) for c, s in zip(cases, shown, strict=True)]
        opened = [self._picked(raw, order) for raw, order in zip(self._ask(asked), orders, strict=True)]
        good = [place for place, picked in enumerate(opened) if isinstance(picked, str) and "A" in picked]
        guesses = self._ask([closed_letters_prompt(cases[place].stem, shown[place]) for place in good])
        alone = {place: self._picked(raw, orders[place]) for place, raw in zip(good, guesses, strict=True)}
        return [self._verdict(case, opened[place], alone.get(place, "")) for place, case in enumerate(cases)]

    def _verdict(self, case: VerificationCase, opened: str | NoReply, alone: str | NoReply) -> VerificationResult:
        for one in (opened, alone):
            if isinstance(one, NoReply):
                return VerificationResult(f"no reply: {one.reason}")
        picked = (str(opened), str(alone))
        options = tuple(
            DistractorOption(text, 0.0) for at, text in enumerate(case.wrong, 1) if chr(65 + at) not in picked[0]
        )
        reason = AMBIGUOUS if len(options) < 3 else None
        reason = UNSUPPORTED if "A" not in picked[0] else KNOWN if "A" in picked[1] else reason
        return VerificationResult(reason, options, letters=picked)

    def _ask(self, prompts: Sequence[Prompt]) -> list[str | NoReply]:
        return self.model.replies(prompts, max_tokens=LETTERS_TOKENS, seed=self._seed)

    @staticmethod
    def _picked(raw: str | NoReply, order: Sequence[int]) -> str | NoReply:
        if isinstance(raw, NoReply):
            return raw
        found = read_letters(raw, len(order))
        if found is None:
            return NoReply("letters asked for, found none")
        return "".join(sorted(chr(65 + order[ord(letter) - 65]) for letter in found))


def read_letters(raw: str, count: int) -> str | None:
    """The letters a reply names, of the first `count`; empty for "none", None when it names none of them.

    Letters count in a list of their own, before a closing bracket, or after "is" and "are".
    """
    text = raw.strip().strip("*`.").strip()
    if re.match(r"none\b", text, re.IGNORECASE):
        return ""
    last = chr(64 + count)
    letter = rf"[*`(\[]*([A-{last}])[*`)\].]*"
    whole = re.fullmatch(rf"{letter}(?:(?:\s*[,;&/]\s*|\s+and\s+|\s*,\s*and\s+|\s+){letter})*", text)
    found = re.findall(rf"\b([A-{last}])\b", text) if whole else re.findall(rf"(?<!\w)([A-{last}])\)", text)
    if not found:
        found = re.findall(rf"\b(?:is|are|:)\s*\**\(?([A-{last}])\b", text)
    return "".join(dict.fromkeys(found)) or None


def judge(
    with_passage: Likelihoods, without: Likelihoods, wrong: Sequence[str], limits: Thresholds
) -> VerificationResult:
    """Judge the key (first continuation) and the wrong answers `wrong` (the other continuations, in order)."""
    closed = means(without)
    ahead = leads(with_passage)
    options = tuple(
        DistractorOption(text, round(likelihood, 4))
        for text, lead, likelihood in zip(wrong, ahead, closed[1:], strict=True)
        if lead >= limits.margin
    )
    lift = with_passage.sums[0] - without.sums[0]
    reason = KNOWN if lift < limits.lift else AMBIGUOUS if len(options) < 3 else None
    margin = sorted(ahead)[-3] if len(ahead) >= 3 else 0.0
    return VerificationResult(
        reason, options, round(means(with_passage)[0], 4), round(margin, 4), round(lift, 4), round(closed[0], 4)
    )


def leads(likelihoods: Likelihoods) -> list[float]:
    """By how much the first continuation leads each other one, in nats: the sum, or twice the mean if that is less."""
    sums, each = likelihoods.sums, means(likelihoods)
    return [min(sums[0] - s, 2 * (each[0] - m)) for s, m in zip(sums[1:], each[1:], strict=True)]


def means(likelihoods: Likelihoods) -> list[float]:
    """Mean log-likelihood per token of each continuation, in nats."""
    return [total / count for total, count in zip(likelihoods.sums, likelihoods.tokens, strict=True)]
