"""Graders of how well a passage answers a question: extract and verify, rate, or judge without questions.

Every grader gives each pair a grade, or NaN with a reply that cannot be parsed. Replies are parsed by
`grading.graders._reply_parsing`, answers are compared with keys by `grading.graders._verification`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from examcore import NoReply, Prompt
from grading._records import BankQuestion, Grade
from grading.formats._passages import PassageQuestion, keyed
from grading.graders._assessor import TOGETHER, AssessorReply, CachedAssessor, PassagePrompt
from grading.graders._prompts import (
    EXAMPLES,
    QA_VERSION,
    RATING_VERSION,
    RELEVANCE_VERSION,
    VERIFY_VERSION,
    Scale,
    Verify,
    qa_prompt,
    rating_prompt,
    relevance_prompt,
    verify_prompt,
)
from grading.graders._reply_parsing import (
    UNPARSED,
    Parsed,
    cleaned,
    parse_answer,
    parse_level,
    parse_rating,
    parse_yes_no,
)
from grading.graders._verification import is_correct, polarity

NO_REPLY = "no reply"
MATCH, NO_MATCH, VERIFIED = "match", "no match", "verified"
FEW = 8
"""Tokens of a reply that is one word or number."""
RATING_TOKENS = 16
"""Tokens of a rating, with room for a short remark."""
ANSWER_TOKENS = 48
"""Tokens of an extracted answer."""
RELEVANCE = "relevance"
"""The question id of judgements without a question of the bank."""


class GraderResult(NamedTuple):
    """A grade, the rule that gave it, and how many characters of the passage were not read."""

    grade: Grade
    rule: str
    cut: int = 0


@dataclass(frozen=True)
class Grader:
    """What grades pairs in order: `grade` gives the grade of each pair, `gradable` the pairs that it can grade.

    `name` is that of the grader on the command line, `settings` what determines the grades besides the model, such as
    prompt versions; both are stored with the grades.
    """

    name: str
    settings: Mapping[str, object]
    grade: Callable[[Sequence[PassageQuestion]], Iterator[GraderResult]]
    gradable: Callable[[Sequence[PassageQuestion]], list[PassageQuestion]] = list


def self_rating(asking: CachedAssessor) -> Grader:
    """The model rates from 0 to 5 how well the passage answers (EXAM++, section 4.2.2)."""

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        asked = (_asked(one, rating_prompt, RATING_TOKENS) for one in pairs)
        for one, reply in zip(pairs, asking.replies(asked), strict=True):
            yield _graded(one, reply, parse_rating)

    return Grader("rating", {"prompt": RATING_VERSION}, grade)


def qa_grader(asking: CachedAssessor, verify: Verify = "words") -> Grader:
    """The model extracts an answer, which is compared with the key: 0 or 1 (EXAM++, section 4.2.1).

    With `verify="model"` the model is asked about the answers that the word rule rejects. Questions without a key are
    left out.
    """

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        replies = asking.replies(_asked(one, qa_prompt, ANSWER_TOKENS) for one in pairs)
        answered = (graded_answer(one, reply) for one, reply in zip(pairs, replies, strict=True))
        while group := list(islice(answered, TOGETHER)):
            yield from _verified(group, pairs, asking) if verify == "model" else group

    asked = {"verify_prompt": VERIFY_VERSION} if verify == "model" else {}
    return Grader("qa", {"prompt": QA_VERSION, "verify": verify, **asked}, grade, keyed)


def direct_relevance(
    asking: CachedAssessor, scale: Scale = "yes-no", shots: int = 0, queries: Mapping[str, str] | None = None
) -> Grader:
    """The baseline without questions: whether the passage is relevant for the query (no or yes: 0 or 1; or 0 to 2).

    `queries` maps a query's id to its text, which is otherwise the id; `shots` is the number of solved examples. Each
    passage is graded once per query.
    """
    texts = queries or {}

    def asked(pair: PassageQuestion) -> PassagePrompt:
        one = pair.passage
        prompt = relevance_prompt(texts.get(one.query, one.query), one.text, scale, EXAMPLES[:shots])
        return PassagePrompt(one.id, prompt, one.text, FEW)

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        parse = parse_yes_no if scale == "yes-no" else parse_level
        for one, reply in zip(pairs, asking.replies(map(asked, pairs)), strict=True):
            question = BankQuestion(RELEVANCE, one.passage.query, "")
            yield _graded(PassageQuestion(question, one.passage), reply, parse)

    def once(pairs: Sequence[PassageQuestion]) -> list[PassageQuestion]:
        return list({(one.passage.query, one.passage.id): one for one in pairs}.values())

    return Grader(RELEVANCE, {"prompt": RELEVANCE_VERSION, "scale": scale, "shots": shots}, grade, once)


def graded_answer(pair: PassageQuestion, reply: AssessorReply) -> GraderResult:
    """The grade of an extracted answer by the word rule; a match with the key takes precedence over every other rule.

    So a key "no" or "C" can be answered, although "no" and a bare letter otherwise mean that there is no answer.
    """
    if isinstance(reply.text, NoReply):
        return _graded(pair, reply, parse_answer)
    answer, parsed = cleaned(reply.text), parse_answer(reply.text)
    has_truth_key = any(polarity(one.text, alone=True) is not None for one in pair.question.answers)
    may_match = parsed.rule == "answer" or has_truth_key or _is_literal(answer, pair.question)
    if may_match and is_correct(answer, pair.question):
        return _result(pair, reply, Parsed(1.0, MATCH), answer)
    if parsed.rule == "answer":
        return _result(pair, reply, Parsed(0.0, NO_MATCH), answer)
    return _result(pair, reply, parsed)


def _verified(
    found: list[GraderResult], pairs: Sequence[PassageQuestion], asking: CachedAssessor
) -> list[GraderResult]:
    """The grades after the model has judged the answers that the word rule rejects."""
    questions = {(one.question.query, one.question.id): one.question for one in pairs}
    rejected = [place for place, one in enumerate(found) if one.rule == NO_MATCH]
    grades = [found[place].grade for place in rejected]
    prompts = [verify_prompt(questions[(one.query, one.question)], one.answer) for one in grades]
    asked = [PassagePrompt(one.question, prompt, "", FEW) for one, prompt in zip(grades, prompts, strict=True)]
    for place, reply in zip(rejected, asking.replies(asked), strict=True):
        found[place] = _second(found[place], reply)
    return found


def _is_literal(answer: str, question: BankQuestion) -> bool:
    plain = answer.strip(" .()[]").casefold()
    return any(plain == one.text.strip(" .()[]").casefold() for one in question.answers)


def _second(first: GraderResult, reply: AssessorReply) -> GraderResult:
    """The grade after the model was asked about an answer that the word rule rejects."""
    if isinstance(reply.text, NoReply):
        return first._replace(grade=replace(first.grade, grade=math.nan, reply=reply.text.reason), rule=NO_REPLY)
    parsed = parse_yes_no(reply.text)
    if parsed.rule == UNPARSED.rule:
        grade = replace(first.grade, grade=parsed.grade, reply=reply.text)
        return first._replace(grade=grade, rule="unparsed verification")
    rule = VERIFIED if parsed.rule == "yes" else NO_MATCH
    return first._replace(grade=replace(first.grade, grade=parsed.grade), rule=rule)


def _asked(pair: PassageQuestion, prompt: Callable[[str, str], Prompt], max_tokens: int) -> PassagePrompt:
    question, passage = pair.question, pair.passage
    return PassagePrompt(question.id, prompt(question.question, passage.text), passage.text, max_tokens)


def _graded(pair: PassageQuestion, reply: AssessorReply, parse: Callable[[str], Parsed]) -> GraderResult:
    parsed = Parsed(math.nan, NO_REPLY) if isinstance(reply.text, NoReply) else parse(reply.text)
    return _result(pair, reply, parsed)


def _result(pair: PassageQuestion, reply: AssessorReply, parsed: Parsed, answer: str = "") -> GraderResult:
    text = reply.text.reason if isinstance(reply.text, NoReply) else reply.text
    grade = Grade(pair.passage.query, pair.passage.id, pair.question.id, parsed.grade, answer, text)
    return GraderResult(grade, parsed.rule, reply.cut)
