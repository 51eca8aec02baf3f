"""All rules by name, in the order in which they are applied, with their usual settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from exam_gen.language import _similarity as similarity
from exam_gen.rules import _answer_cues as cues
from exam_gen.rules import _checks as checks
from exam_gen.rules import _passage_evidence as evidence
from exam_gen.rules import _standalone as standalone
from exam_gen.rules._duplicates import FLOOR, earlier_stems, new_stems, same_key
from exam_gen.rules._rule import (
    Check,
    Finding,
    Limit,
    Rule,
    RuleJudge,
    RuleMeasure,
    RuleTools,
    apply_rules,
    each,
    measured,
    value_of,
)
from examcore import Question, text_width

Need = Literal["nothing", "encoder", "model"]
Reads = Literal["any language", "known languages", "English"]


@dataclass(frozen=True)
class RuleKind:
    """An available rule: what it drops, its judgement at a limit, the default limit, whether it is on by default.

    `limit` is None for a rule without one. `needs`: what `RuleTools` must hold. `alone`: whether it judges one question
    without the others. `reads`: the texts it was written for: any, those of a language with a module, or English.
    """

    what: str
    make: Callable[[Limit], RuleJudge]
    limit: float | None = None
    on: bool = True
    needs: Need = "nothing"
    alone: bool = True
    shares: bool = True
    reads: Reads = "any language"


def _check(
    what: str, check: Callable[[Question], Finding], *, on: bool = True, reads: Reads = "any language"
) -> RuleKind:
    return RuleKind(what, lambda _: each(check), on=on, reads=reads)


def _number(
    what: str,
    number: Callable[[Question], float],
    limit: float,
    worse: Literal["more", "less"] = "more",
    *,
    on: bool = True,
    reads: Reads = "any language",
) -> RuleKind:
    return RuleKind(what, lambda bound: measured(value_of(number), bound, worse), limit, on, reads=reads)


def _likelihood(
    what: str, number: Callable[[evidence.EvidenceLikelihoods], float], limit: float, worse: Literal["more", "less"]
) -> RuleKind:
    judge = evidence.evidence(number)
    return RuleKind(what, lambda bound: measured(judge, bound, worse), limit, on=False, needs="model")


def _similarity(
    what: str, part: Literal["extra", "intra"], limit: float, *, on: bool = False, needs: Need = "nothing"
) -> RuleKind:
    """A rule on a similarity of choices: by their words or, where it needs an encoder, by their meanings."""

    def measure(questions: Sequence[Question], tools: RuleTools) -> RuleMeasure:
        if needs == "nothing":
            return RuleMeasure(getattr(similarity.word_similarities(questions), part))
        if tools.embed is None:
            raise ValueError("rules: no encoder is given; wanted one for the rules that compare meanings")
        return RuleMeasure(getattr(similarity.embedding_similarities(questions, tools.embed), part))

    return RuleKind(what, lambda bound: measured(measure, bound), limit, on, needs, alone=False)


def _floor(limit: Limit) -> float:
    return FLOOR if limit.value is None else min(max(limit.value, 0.0), 1.0)


def _odd_one_out(limit: Limit) -> RuleJudge:
    def measure(questions: Sequence[Question], _: RuleTools) -> RuleMeasure:
        found = [cues.odd_forms(question) for question in questions]
        notes = [f" ({', '.join(one)})" if one else "" for one in found]
        return RuleMeasure(np.array([len(one) for one in found], dtype=np.float64), notes)

    return measured(measure, limit)


WORDS = "blocked-words"
RULE_KINDS: Mapping[str, RuleKind] = {
    "without-catch-all": RuleKind(
        "rewrites: wrong choices like 'none of the above' are taken out while so many choices remain",
        lambda limit: each(lambda one: checks.without_catch_all(one, int(limit.value or 0))),
        3,
        on=False,
        shares=False,
    ),
    "standing-alone": _check(
        "rewrites: a stem that leans on its document gets the title",
        standalone.standing_alone,
        on=False,
        reads="English",
    ),
    "reformulated": RuleKind(
        "rewrites: a stem that leans on its document is worded anew by a model, after the ten guidelines",
        lambda _: standalone.reformulated,
        on=False,
        needs="model",
        reads="English",
    ),
    "neutral-article": _check(
        "rewrites: 'a' or 'an' before the gap becomes 'a(n)' where it tells choices apart",
        cues.neutral_article,
        reads="English",
    ),
    "stem-short": _number("too few characters in the stem", lambda one: text_width(one.stem.strip()), 20, "less"),
    "stem-long": _number("too many characters in the stem", lambda one: text_width(one.stem.strip()), 1000),
    "no-question": _check("no question mark ends the stem", checks.no_question),
    "few-choices": _number("too few choices", lambda one: len(one.choices), 2, "less"),
    "empty-choice": _check("a choice without text", checks.empty_choice),
    "duplicate-choices": _check(
        "choices that differ in case, spacing or outer punctuation only", checks.duplicate_choices
    ),
    "choice-long": _number(
        "too many characters in a choice", lambda one: max(map(text_width, one.choices), default=0), 500
    ),
    "marked-choice": _check(
        "a choice that carries a label, a verdict, an answer or explanation",
        checks.marked_choice,
        reads="known languages",
    ),
    "catch-all": _check(
        "'all of the above', 'both A and C', 'cannot be determined'", checks.catch_all, reads="known languages"
    ),
    "answer-leak": _check("the stem holds the key, or a long run of its words", checks.answer_leak),
    "quoted-leak": _number(
        "share of the key's words in a phrase of the passage that the stem quotes, beyond any distractor's",
        checks.quoted_leak,
        0.6,
    ),
    "self-contained": _check(
        "the stem points to a text or leans on an unnamed 'it' or 'this'",
        checks.self_contained,
        reads="known languages",
    ),
    "names-a-text": _check(
        "the source paper's rule: any word for a text", checks.names_a_text, on=False, reads="English"
    ),
    "length-cue": _number("times the key is longer or shorter than every distractor", cues.length_cue, 1.6),
    "odd-one-out": RuleKind(
        "ways in which only the key differs: case, number, code, grammar", _odd_one_out, 1, reads="known languages"
    ),
    "grammar-cue": _check("'a', 'an' or 'a(n)' before the gap fits the key only", cues.grammar_cue, reads="English"),
    "personal-data": _check("e-mail addresses, telephone and payment card numbers", checks.personal_data, on=False),
    WORDS: _check("the words given", checks.without_words(()), on=False),
    "near-duplicate": RuleKind(
        "similarity of the stem with an earlier one (Jaccard over words)",
        lambda limit: measured(earlier_stems(_floor(limit)), limit),
        0.79,
        alone=False,
    ),
    "repeated-fact": RuleKind(
        "the same among questions with the same key",
        lambda limit: measured(earlier_stems(_floor(limit), same_key), limit),
        0.65,
        alone=False,
    ),
    "intra-words": _similarity("Jaccard similarity of the key and a distractor", "intra", 0.7, on=True),
    "extra-words": _similarity("how much closer a distractor is to the passage than the key", "extra", 0.5),
    "intra-meaning": _similarity("cosine of the key and a distractor", "intra", 0.9, needs="encoder"),
    "extra-meaning": _similarity(
        "how much closer in meaning a distractor is to the passage than the key",
        "extra",
        0.3,
        needs="encoder",
    ),
    "unsupported-key": _likelihood(
        "log-likelihood per token of the key given the passage", evidence.support, -1.2, "less"
    ),
    "supported-distractor": _likelihood(
        "lead of the key over a distractor given the passage, nats", evidence.margin, 1.5, "less"
    ),
    "needless-passage": _likelihood("what the passage adds to the key, nats", evidence.lift, 3.0, "less"),
    "solved-blind": _likelihood(
        "lead of the key over the distractors without the passage, nats per token", evidence.blind_lead, 1.0, "more"
    ),
    "balanced-positions": RuleKind(
        "rewrites: choices are shuffled anew when one position scores beyond chance at this level",
        lambda limit: cues.balanced_positions(limit.value or 0.0),
        0.05,
        alone=False,
        shares=False,
    ),
}
"""Every rule, in the usual order; the setting of `blocked-words` is the words, without which it drops nothing."""


def rules_of(settings: Mapping[str, object] | None = None, *, only: Sequence[str] = ()) -> list[Rule]:
    """The rules that are on, in order: the usual ones, changed by the settings of rules by their names.

    A setting is `True` (the usual limit), `False` (off), a limit, or a share such as `"10%"`; words for
    `blocked-words`. `settings["order"]` lists names that come first, in that order. With `only`, these rules alone, at
    their usual limit unless another is set. Raises `ValueError` for unknown names and unusable settings.
    """
    given = dict(settings or {})
    order = _order(given.pop("order", ()))
    for name in (*given, *only):
        _known(name)
    if only:
        order = [name for name in order if name in only]
        given |= {name: True for name in only if given.get(name, False) is False}
    found = [_rule(name, given.get(name, RULE_KINDS[name].on)) for name in order]
    return [rule for rule in found if rule is not None]


def needs_of(rules: Sequence[Rule]) -> frozenset[Need]:
    """What the rules need to be given."""
    return frozenset(RULE_KINDS[rule.name].needs for rule in rules if rule.name in RULE_KINDS)


def arriving(settings: Mapping[str, object] | None = None) -> list[Check]:
    """Filters for questions that arrive one by one: the rules that judge one alone, with limits; near-duplicates last.

    Each gives the reason that drops a question, or None. They are new for each exam: the last remembers stems.
    """
    given = dict(settings or {})
    rules = [rule for rule in rules_of(given) if _judges_alone(rule.name) and not _by_share(given.get(rule.name))]
    near = given.get("near-duplicate", True)
    limit = 1.0 if near is False or _by_share(near) else _limit("near-duplicate", near).value

    def reason(question: Question) -> str | None:
        # Together, because what one rule rewrites another need not drop.
        return next((one.reason for one in apply_rules([question], rules).dropped), None)

    return [reason, new_stems(limit or 0.0)]


def objections(question: Question) -> list[str]:
    """What each usual rule that needs the question alone has against it."""
    found = [rule.reasons([question], RuleTools())[0] for rule in rules_of() if _judges_alone(rule.name)]
    return [one for one in found if isinstance(one, str)]


def _judges_alone(name: str) -> bool:
    return RULE_KINDS[name].alone and RULE_KINDS[name].needs == "nothing"


def _by_share(setting: object) -> bool:
    return isinstance(setting, str) and setting.strip().endswith("%")


def _order(wanted: object) -> list[str]:
    if not isinstance(wanted, list | tuple):
        raise ValueError(f"filters: order is {wanted!r}; wanted a list of rules")
    for name in wanted:
        _known(name)
    return [*dict.fromkeys(wanted), *(name for name in RULE_KINDS if name not in wanted)]


def _known(name: object) -> None:
    if name not in RULE_KINDS:
        raise ValueError(f"filters: unknown rule {name!r}; wanted one of {', '.join(RULE_KINDS)}")


def _rule(name: str, setting: object) -> Rule | None:
    if setting is False:
        return None
    if name == WORDS:
        if not isinstance(setting, list | tuple) or not all(isinstance(one, str) and one for one in setting):
            raise ValueError(f"filters: {name} is {setting!r}; wanted a list of words")
        return Rule(name, each(checks.without_words(setting)))
    kind = RULE_KINDS[name]
    if kind.limit is None and setting is not True:
        raise ValueError(f"filters: {name} is {setting!r}; wanted on or off, it has no limit")
    limit = _limit(name, setting)
    return Rule(name, kind.make(limit), "" if kind.limit is None else str(limit))


def _limit(name: str, setting: object) -> Limit:
    """The limit a setting means."""
    usual = RULE_KINDS[name].limit
    if setting is True:
        return Limit(usual or 0.0)
    if isinstance(setting, int | float) and setting == setting:
        return Limit(float(setting))
    if _by_share(setting) and RULE_KINDS[name].shares:
        try:
            return Limit(share=float(str(setting).strip().removesuffix("%")) / 100)
        except ValueError:
            pass
    share = " or a share such as 10%" if RULE_KINDS[name].shares else ""
    raise ValueError(f"filters: {name} is {setting!r}; wanted on, off, a number (usually {usual:g}){share}")
