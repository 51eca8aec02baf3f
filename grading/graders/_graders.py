"""Graders of how well a passage answers a question, and grading with one: the file of grades, a summary of replies.

The model extracts an answer, which is verified, or rates, or judges without questions.

Every grader gives each pair a grade, or NaN with a reply that cannot be parsed. Replies are parsed by
`grading.graders._reply_parsing`, answers are compared with keys by `grading.graders._verification`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from examcore import IntervalEstimate, NoReply, Prompt, ReportProgress, unreported, write_lines
from examcore.console import interval_text
from grading._printing import counted_notes, noted
from grading._records import SAMPLING, BankQuestion, Grade, Kind, Sampling
from grading.formats._passages import Paired, PassageQuestion, keyed
from grading.graders._assessor import TOGETHER, AssessorReply, CachedAssessor, PassagePrompt
from grading.graders._prompts import (
    NUGGET_VERSION,
    QA_VERSION,
    RATING_VERSION,
    VERIFY_VERSION,
    Verify,
    nugget_prompt,
    qa_prompt,
    rating_prompt,
    verify_prompt,
)
from grading.graders._relevance_judges import (
    EXAMPLES,
    JUDGE_PROMPTS_VERSION,
    OWN_JUDGES,
    RELEVANCE_JUDGES,
    RELEVANCE_VERSION,
    WORD_TOKENS,
    RelevanceJudge,
    Scale,
)
from grading.graders._reply_parsing import (
    UNPARSED,
    Parsed,
    cleaned,
    parse_answer,
    parse_rating,
    parse_yes_no,
)
from grading.graders._verification import is_correct, polarity

NO_REPLY = "no reply"
MATCH, NO_MATCH, VERIFIED = "match", "no match", "verified"
RATING_TOKENS = 16
"""Tokens of a rating, with room for a short remark."""
ANSWER_TOKENS = 48
"""Tokens of an extracted answer."""
RELEVANCE = "relevance"
"""The question id of judgements without a question of the bank."""


KEYED = ("qa", "reader")
"""Graders that compare answers with a key."""
UNPARSED_SHOWN = 5
"""Unparsed replies that the summary shows."""
REPLY_SHOWN = 200
"""Characters of each that are shown."""


_RATED_BY: Mapping[Kind, Callable[[str, str], Prompt]] = {"question": rating_prompt, "nugget": nugget_prompt}


class GraderResult(NamedTuple):
    """A grade, the rule that gave it, and how many characters of the passage were not read."""

    grade: Grade
    rule: str
    cut: int = 0


@dataclass(frozen=True)
class Grader:
    """What grades pairs in order: `grade` gives the grade of each pair, `gradable` the pairs that it can grade.

    `name` is that of the grader on the command line, `settings` what determines the grades besides the model, such as
    prompt versions; both are stored with the grades. `notes` are what a reader of the grades must know.
    """

    name: str
    settings: Mapping[str, object]
    grade: Callable[[Sequence[PassageQuestion]], Iterator[GraderResult]]
    gradable: Callable[[Sequence[PassageQuestion]], list[PassageQuestion]] = list
    notes: Sequence[str] = ()


def self_rating(asking: CachedAssessor, nuggets: bool = False) -> Grader:
    """The model rates from 0 to 5 how well the passage answers a question, or states a nugget (EXAM++, section 4.2.2).

    `nuggets` says that there are some, so that the settings name their prompt.
    """

    def asked(pair: PassageQuestion) -> PassagePrompt:
        return _asked(pair, _RATED_BY[pair.question.kind], RATING_TOKENS)

    settings = {"prompt": RATING_VERSION, **({"nugget_prompt": NUGGET_VERSION} if nuggets else {})}
    return _replying(asking, "rating", settings, asked, parse_rating)


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

    settings = {"prompt": RELEVANCE_VERSION, "scale": scale, "shots": shots}
    judge = OWN_JUDGES[scale]._replace(examples=EXAMPLES[:shots])
    return _without_questions(asking, RELEVANCE, settings, judge, queries)


def published_judge(asking: CachedAssessor, name: str, queries: Mapping[str, str] | None = None) -> Grader:
    """A judge of relevance under its name in `RELEVANCE_JUDGES`; `queries` as for `direct_relevance`."""
    judge = RELEVANCE_JUDGES[name]
    settings = {"prompt": JUDGE_PROMPTS_VERSION, "source": judge.source, "scale": f"0-{judge.highest}"}
    return _without_questions(asking, name, settings, judge, queries)


def _without_questions(
    asking: CachedAssessor,
    name: str,
    settings: Mapping[str, object],
    judge: RelevanceJudge,
    queries: Mapping[str, str] | None,
) -> Grader:
    """A grader that is shown a query and a passage, each pair once."""
    texts = queries or {}

    def asked(pair: PassageQuestion) -> PassagePrompt:
        one = pair.passage
        prompt = judge.prompt(texts.get(one.query, one.query), one.text)
        return PassagePrompt(one.id, prompt, one.text, judge.max_tokens)

    def once(pairs: Sequence[PassageQuestion]) -> list[PassageQuestion]:
        passages = {(one.passage.query, one.passage.id): one.passage for one in pairs}
        return [PassageQuestion(BankQuestion(RELEVANCE, one.query, ""), one) for one in passages.values()]

    return _replying(asking, name, settings, asked, judge.parse, once)


def _replying(
    asking: CachedAssessor,
    name: str,
    settings: Mapping[str, object],
    asked: Callable[[PassageQuestion], PassagePrompt],
    parse: Callable[[str], Parsed],
    gradable: Callable[[Sequence[PassageQuestion]], list[PassageQuestion]] = list,
) -> Grader:
    """A grader by the model's reply to one prompt for each pair."""

    def grade(pairs: Sequence[PassageQuestion]) -> Iterator[GraderResult]:
        for one, reply in zip(pairs, asking.replies(map(asked, pairs)), strict=True):
            yield _graded(one, reply, parse)

    return Grader(name, settings, grade, gradable)


class GradingOutcome(NamedTuple):
    """The grades of a run in the order of the pairs, the pairs that got no reply, and how many have no key."""

    graded: tuple[GraderResult, ...]
    lost: tuple[GraderResult, ...]
    without_key: int

    def summary(self, sampling: Sampling = SAMPLING) -> dict[str, Any]:
        """Counts of grades and rules, the unparsed share (interval over queries), and examples of unparsed replies."""
        unparsed = [one.grade for one in self.graded if math.isnan(one.grade.grade)]
        counts = Counter(one.grade.grade for one in self.graded if not math.isnan(one.grade.grade))
        return {
            "n": len(self.graded),
            "grades": {f"{grade:g}": counts[grade] for grade in sorted(counts)},
            "rules": dict(Counter(one.rule for one in self.graded).most_common()),
            "unparsed": len(unparsed),
            "unparsed_share": unparsed_share(self.graded, sampling),
            "unparsed_examples": [
                {"query": one.query, "passage": one.passage, "question": one.question, "reply": one.reply[:REPLY_SHOWN]}
                for one in unparsed[:UNPARSED_SHOWN]
            ],
            "no_reply": len(self.lost),
            "no_reply_reasons": dict(Counter(one.grade.reply for one in self.lost).most_common(3)),
            "without_key": self.without_key,
            "cut_passages": sum(one.cut > 0 for one in self.graded),
        }


@dataclass(frozen=True)
class GradingResult:
    """What a run graded: by which grader and model, what was left out, and what it cost; `out` are the grades."""

    grader: Grader
    model: str
    outcome: GradingOutcome
    sampling: Sampling
    beyond_limit: int
    paired: Paired
    usage: Mapping[str, Any]
    out: Path

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """Counts of grades and replies, the unparsed share resampled once."""
        return self.outcome.summary(self.sampling)

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "grader": self.grader.name,
            "model": self.model,
            "settings": self.grader.settings,
            **self.summary,
            "beyond_limit": self.beyond_limit,
            "left_out": {
                "queries_without_questions": self.paired.without_questions,
                "queries_without_passages": self.paired.without_passages,
                "passages": self.paired.passages_left_out,
            },
            "usage": self.usage,
            "out": self.out,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        outcome, paired, told = self.outcome, self.paired, self.summary
        lines = [f"{self.out}: {len(outcome.graded)} grades by {self.grader.name} with {self.model}"]
        lines += [f"  grade {grade}: {count}" for grade, count in told["grades"].items()]
        lines.append(f"unparsed: {told['unparsed']}, a share of {interval_text(told['unparsed_share'])}")
        lines += [
            f"  {one['query']} {one['passage']} {one['question']}: {one['reply']!r}"
            for one in told["unparsed_examples"]
        ]
        said = {
            "pairs are beyond --limit": self.beyond_limit,
            "pairs have a question without a key": outcome.without_key,
            "passages were longer than the model reads and cut": told["cut_passages"],
            "passages are of queries without questions": paired.passages_left_out,
            "queries of passages have no question": len(paired.without_questions),
            "queries of the bank have no passage": len(paired.without_passages),
        }
        return [*lines, *counted_notes(said), *noted(self.grader.notes)]


def grade_all(grader: Grader, pairs: Sequence[PassageQuestion], report: ReportProgress = unreported) -> GradingOutcome:
    """Grade all pairs that the grader can grade; raises `ValueError` if there are none."""
    wanted = grader.gradable(pairs)
    if not wanted:
        raise ValueError(f"grader {grader.name}: no question has a key; wanted answers in the bank, or --grader rating")
    found: list[GraderResult] = []
    report(0, len(wanted))
    for one in grader.grade(wanted):
        found.append(one)
        report(len(found), len(wanted))
    graded = tuple(one for one in found if one.rule != NO_REPLY)
    lost = tuple(one for one in found if one.rule == NO_REPLY)
    # Other graders need no key; they leave out pairs only to grade each passage once.
    without_key = len(pairs) - len(wanted) if grader.name in KEYED else 0
    return GradingOutcome(graded, lost, without_key)


def write_grades(path: str | Path, graded: Sequence[GraderResult], grader: str, *, articles: bool = False) -> None:
    """Write `grades.jsonl`: `query, passage, question, grade, answer, reply, rule, grader`; a null grade is unparsed.

    With `articles` the graded texts are articles, and `system` names the system of each.
    """
    write_lines(
        path,
        (
            {
                **asdict(one.grade),
                **({"system": one.grade.passage} if articles else {}),
                "rule": one.rule,
                "grader": grader,
            }
            for one in graded
        ),
    )


def shown_replies(replies: Sequence[str]) -> list[str]:
    """The beginnings of the first replies."""
    return [one[:REPLY_SHOWN] for one in replies[:UNPARSED_SHOWN]]


def unparsed_share(graded: Sequence[GraderResult], sampling: Sampling = SAMPLING) -> IntervalEstimate:
    """The share of unparsed replies with its interval over queries; NaN without grades.

    The ends are NaN if all replies or none are unparsed, since resampling cannot tell how rare the other case is.
    """
    replies = Counter(one.grade.query for one in graded)
    unparsed = Counter(one.grade.query for one in graded if math.isnan(one.grade.grade))
    if not replies:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    if unparsed.total() in (0, replies.total()):
        return IntervalEstimate(unparsed.total() / replies.total(), math.nan, math.nan)
    bad, total = (np.array([counts[query] for query in replies], dtype=np.float64) for counts in (unparsed, replies))
    return sampling.of(lambda rows: float(bad[rows].sum() / total[rows].sum()), len(replies))


def graded_answer(pair: PassageQuestion, reply: AssessorReply[str]) -> GraderResult:
    """The grade of an extracted answer by the word rule; a match with the key takes precedence over every other rule.

    So a key "no" or "C" can be answered, although "no" and a bare letter otherwise mean that there is no answer.
    """
    if isinstance(reply.value, NoReply):
        return _graded(pair, reply, parse_answer)
    answer, parsed = cleaned(reply.value), parse_answer(reply.value)
    has_truth_key = any(polarity(one.text, alone=True) is not None for one in pair.question.answers)
    plain = answer.strip(" .()[]").casefold()
    is_literal = any(plain == one.text.strip(" .()[]").casefold() for one in pair.question.answers)
    may_match = parsed.rule == "answer" or has_truth_key or is_literal
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
    asked = [PassagePrompt(one.question, prompt, "", WORD_TOKENS) for one, prompt in zip(grades, prompts, strict=True)]
    for place, reply in zip(rejected, asking.replies(asked), strict=True):
        found[place] = _second(found[place], reply)
    return found


def _second(first: GraderResult, reply: AssessorReply[str]) -> GraderResult:
    """The grade after the model was asked about an answer that the word rule rejects."""
    if isinstance(reply.value, NoReply):
        return first._replace(grade=replace(first.grade, grade=math.nan, reply=reply.value.reason), rule=NO_REPLY)
    parsed = parse_yes_no(reply.value)
    if parsed.rule == UNPARSED.rule:
        grade = replace(first.grade, grade=parsed.grade, reply=reply.value)
        return first._replace(grade=grade, rule="unparsed verification")
    rule = VERIFIED if parsed.rule == "yes" else NO_MATCH
    return first._replace(grade=replace(first.grade, grade=parsed.grade), rule=rule)


def _asked(pair: PassageQuestion, prompt: Callable[[str, str], Prompt], max_tokens: int) -> PassagePrompt:
    question, passage = pair.question, pair.passage
    return PassagePrompt(question.id, prompt(question.question, passage.text), passage.text, max_tokens)


def _graded(pair: PassageQuestion, reply: AssessorReply[str], parse: Callable[[str], Parsed]) -> GraderResult:
    parsed = Parsed(math.nan, NO_REPLY) if isinstance(reply.value, NoReply) else parse(reply.value)
    return _result(pair, reply, parsed)


def _result(pair: PassageQuestion, reply: AssessorReply[str], parsed: Parsed, answer: str = "") -> GraderResult:
    text = reply.value.reason if isinstance(reply.value, NoReply) else reply.value
    grade = Grade(pair.passage.query, pair.passage.id, pair.question.id, parsed.grade, answer, text)
    return GraderResult(grade, parsed.rule, reply.cut)
