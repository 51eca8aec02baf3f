"""A blind audit: survivors and drops of the filters in one random order, judged before it is known which is which.

The draw is a function of exam, dropped questions, size and seed. Choices are shuffled anew, because in an exam keys
are balanced and in a dropped question they stand where the writer put them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from exam_gen._assembly import shuffle_choices
from exam_gen.review._review_state import entries
from examcore import Dropped, Exam, IntervalEstimate, JsonRecord, Question, check_choices, read_log, shown_json, wilson

FAULTS: Mapping[str, str] = {
    "wrong key": "The passage makes another choice right, or none.",
    "several right": "A second choice is right as well.",
    "not self-contained": "Without the passage one cannot tell what is asked.",
    "not answerable": "The passage does not say.",
    "guessable": "The right choice shows without knowing the subject.",
    "garbled": "Not a question a person would ask: broken or pointless.",
}
"""What can be wrong with a question; one without any of them is sound."""


@dataclass(frozen=True)
class AuditItem:
    """A drawn question, its choices in the order in which they are judged; `reason` is None for a survivor."""

    question: Question
    reason: str | None


@dataclass(frozen=True)
class AuditSample:
    """The drawn items in the order of judging, numbered from 1; `of` counts survivors and drops that could be drawn.

    `incomplete` is the number of drops that hold no complete question and cannot be judged.
    """

    items: tuple[AuditItem, ...]
    size: int
    seed: int
    of: Mapping[str, int]
    incomplete: int

    @property
    def id(self) -> str:
        """Sixteen hex digits that change with what is drawn and its order; judgments name it."""
        seen = [[one.question.id, one.question.stem, list(one.question.choices), one.reason] for one in self.items]
        return hashlib.sha256(json.dumps([seen, self.size, self.seed]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Judgment:
    """One line of `audit.jsonl`: what a reader says of the item with this number; no fault means sound.

    `chosen` is the choice the reader took for right before seeing the key: -1 for none of them, None when not asked.
    """

    audit: str
    item: int
    faults: tuple[str, ...]
    time: str = ""
    chosen: int | None = None
    note: str = ""

    @property
    def fields(self) -> dict[str, object]:
        """The fields of a line."""
        names = ("time", "audit", "item", "chosen", "faults", "note")
        return {name: getattr(self, name) for name in names}


def draw_audit_sample(exam: Exam, dropped: Sequence[Dropped], size: int, seed: int) -> AuditSample:
    """Up to `size` survivors and as many drops, at random, mixed at random.

    Raises `ValueError` when `size` is not positive or no drop holds a complete question.
    """
    if size < 1:
        raise ValueError(f"audit: {size} of each; wanted at least 1")
    found = entries(exam, dropped)
    survivors = [one for one in found.values() if one.dropped is None]
    drops = [one for one in found.values() if one.dropped is not None and _is_complete(one.question)]
    if not drops:
        raise ValueError(f"audit: none of {len(dropped)} drops holds a complete question; wanted some to compare with")
    rng = np.random.default_rng(seed)
    chosen = [pool[at] for pool in (survivors, drops) for at in rng.permutation(len(pool))[:size]]
    items = []
    for at in rng.permutation(len(chosen)):
        entry = chosen[at]
        assert entry.question is not None
        reason = None if entry.dropped is None else entry.dropped.reason
        items.append(AuditItem(shuffle_choices(entry.question, seed), reason))
    of = {"survivors": len(survivors), "drops": len(drops)}
    return AuditSample(tuple(items), size, seed, of, len(dropped) - len(drops))


def audit_sheet(drawn: AuditSample, passages: Mapping[str, str] | None = None) -> list[dict[str, object]]:
    """The items as a judge may see them, for a judge without the page: no ids, no reasons.

    `passages` gives the text of a chunk for questions that carry no context.
    """
    return [
        {
            "audit": drawn.id,
            "item": number,
            "question": one.question.stem,
            "choices": list(one.question.choices),
            "answer": one.question.key,
            "passage": one.question.context or (passages or {}).get(one.question.chunk_id, ""),
        }
        for number, one in enumerate(drawn.items, start=1)
    ]


def missing_judgments(drawn: AuditSample) -> str:
    """Why fewer were drawn than asked for, empty where it is not so."""
    few = [f"{there} {name}" for name, there in drawn.of.items() if there < drawn.size]
    if not few:
        return ""
    short = drawn.of["drops"] < drawn.size and drawn.incomplete
    without = f"; {drawn.incomplete} more drops hold no complete question" if short else ""
    return f"{drawn.size} of each were asked for and there are only {' and '.join(few)} to judge{without}"


def read_judgments(path: str | Path, drawn: AuditSample) -> dict[int, Judgment]:
    """The judgments of this draw by item; of several on one item the last counts, those of other draws are passed over.

    Raises `ValueError` (file:line, found, wanted) for a line that is no judgment.
    """
    found = [judgment_of(record) for record in read_log(path).records]
    mine = {one.item: one for one in found if one.audit == drawn.id}
    for one in mine.values():
        check_judgment(one, drawn, str(path))
    return mine


def judgment_of(record: JsonRecord) -> Judgment:
    """The judgment of a line of `audit.jsonl`."""
    given = record.fields
    audit, item, faults = given.get("audit"), given.get("item"), given.get("faults")
    if not isinstance(audit, str):
        raise ValueError(f"{record.place}: audit is {shown_json(audit)}; wanted the id of a draw")
    if not isinstance(item, int) or isinstance(item, bool):
        raise ValueError(f"{record.place}: item is {shown_json(item)}; wanted its number in the draw")
    if not isinstance(faults, list) or not all(isinstance(one, str) and one in FAULTS for one in faults):
        named = ", ".join(map(str, faults)) if isinstance(faults, list) else shown_json(faults)
        raise ValueError(f"{record.place}: faults are {named}; wanted a list, empty or of {', '.join(FAULTS)}")
    chosen = given.get("chosen")
    if chosen is not None and (not isinstance(chosen, int) or isinstance(chosen, bool)):
        raise ValueError(f"{record.place}: chosen is {shown_json(chosen)}; wanted the index of a choice, -1 or null")
    time, note = str(given.get("time") or ""), str(given.get("note") or "")
    return Judgment(audit, item, tuple(dict.fromkeys(faults)), time, chosen, note)


def check_judgment(judgment: Judgment, drawn: AuditSample, place: str) -> None:
    """Refuse a judgment on an item or a choice that the draw does not have."""
    where = f"{place}: item {judgment.item}"
    if not 1 <= judgment.item <= len(drawn.items):
        raise ValueError(f"{where}; wanted 1 to {len(drawn.items)}")
    choices = len(drawn.items[judgment.item - 1].question.choices)
    if judgment.chosen is not None and not -1 <= judgment.chosen < choices:
        raise ValueError(f"{where}: chosen is {judgment.chosen}; wanted -1 (none) to {choices - 1}")


class AuditPart(NamedTuple):
    """The survivors or the drops of a draw: how many there are, were drawn and judged, and what the judgments say.

    `share` is the share without a fault, NaN where none was judged; `chose_key` of the `asked`, who chose before the
    key was shown.
    """

    of: int
    drawn: int
    judged: int
    sound: int
    share: IntervalEstimate
    faults: Mapping[str, int]
    asked: int
    chose_key: int

    def record(self) -> dict[str, object]:
        """The part as JSON types, its share as `estimate, low, high`."""
        fields = {**self._asdict(), **self.share.as_dict()}
        order = ("of", "drawn", "judged", "sound", "estimate", "low", "high", "faults", "asked", "chose_key")
        return {name: fields[name] for name in order}

    def lines(self, name: str) -> list[str]:
        """The part for a reader."""
        if not self.judged:
            return [f"{name}: none judged"]
        faults = ", ".join(f"{count} {fault}" for fault, count in self.faults.items()) or "none"
        lines = [f"{name}: {_interval(self.share)} sound ({self.sound} of {self.judged}); faults: {faults}"]
        if self.asked:
            lines.append(f"{name}: the reader chose the key in {self.chose_key} of {self.asked}")
        return lines


@dataclass(frozen=True)
class AuditResult:
    """What the judgments say: the share sound among survivors and among drops, their difference, and all unfiltered.

    Shares have Wilson intervals, the difference Newcombe's hybrid one, and the share among all (survivors and drops in
    their true proportion) one built likewise; NaN where nothing was judged.
    """

    draw: AuditSample
    level: float
    judged: int
    parts: Mapping[str, AuditPart]

    @property
    def difference(self) -> IntervalEstimate:
        """The share sound among survivors minus that among drops."""
        return combined([one.share for one in self.parts.values()], (1.0, -1.0))

    @property
    def unfiltered(self) -> IntervalEstimate:
        """The share sound of all that was written."""
        total = sum(self.draw.of.values())
        shares = [one.share for one in self.parts.values()]
        return combined(shares, [count / total for count in self.draw.of.values()])

    def record(self) -> dict[str, object]:
        """The result as JSON types."""
        return {
            "audit": self.draw.id,
            "size": self.draw.size,
            "seed": self.draw.seed,
            "level": self.level,
            "drawn": len(self.draw.items),
            "judged": self.judged,
            "incomplete_drops": self.draw.incomplete,
            **{name: one.record() for name, one in self.parts.items()},
            "difference": self.difference.as_dict(),
            "unfiltered": self.unfiltered.as_dict(),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        draw = self.draw
        lines = [f"{self.judged} of {len(draw.items)} judged (audit {draw.id}, seed {draw.seed})"]
        lines += [line for name, one in self.parts.items() for line in one.lines(name)]
        lines.append(f"survivors minus drops: {_interval(self.difference, sign='+')}")
        lines.append(f"all that was written, unfiltered: {_interval(self.unfiltered)}")
        if draw.incomplete:
            lines.append(f"{draw.incomplete} drops hold no complete question and are in neither number")
        return lines


def audit_result(drawn: AuditSample, judgments: Mapping[int, Judgment], level: float = 0.95) -> AuditResult:
    """The result of a draw's judgments, by the number of the item."""
    return AuditResult(drawn, level, len(judgments), {name: _part(drawn, name, judgments, level) for name in drawn.of})


def labelled(drawn: AuditSample, judgments: Mapping[int, Judgment]) -> list[dict[str, object]]:
    """Every judged item with its label, by number: what may be shown once the judging is over."""
    rows = []
    for number, judgment in sorted(judgments.items()):
        one = drawn.items[number - 1]
        origin: dict[str, object] = {"question": one.question.id, "stem": one.question.stem, "reason": one.reason}
        rows.append({"item": number, **origin, "faults": list(judgment.faults), "note": judgment.note})
    return rows


def combined(shares: Sequence[IntervalEstimate], weights: Sequence[float]) -> IntervalEstimate:
    """A weighted sum of independent shares; its interval is put together from theirs.

    Squares of the distances add up, each taken on the side that moves the sum that way (Newcombe 1998, method 10, for
    the difference of two shares with Wilson intervals; Zou and Donner 2008 for any sum).
    """
    estimate = sum(weight * one.estimate for weight, one in zip(weights, shares, strict=True))
    below = above = 0.0
    for weight, one in zip(weights, shares, strict=True):
        down, up = weight * (one.estimate - one.low), weight * (one.high - one.estimate)
        below += (down if weight >= 0 else up) ** 2
        above += (up if weight >= 0 else down) ** 2
    return IntervalEstimate(estimate, estimate - math.sqrt(below), estimate + math.sqrt(above))


def _part(drawn: AuditSample, name: str, judgments: Mapping[int, Judgment], level: float) -> AuditPart:
    items = {at: one for at, one in enumerate(drawn.items, start=1) if (one.reason is None) == (name == "survivors")}
    judged = {at: judgments[at] for at in items if at in judgments}
    asked = {at: one.chosen for at, one in judged.items() if one.chosen is not None}
    sound = sum(not one.faults for one in judged.values())
    share = IntervalEstimate(math.nan, math.nan, math.nan)
    if judged:
        share = IntervalEstimate(sound / len(judged), *wilson(sound / len(judged), len(judged), level))
    faults = dict(Counter(fault for one in judged.values() for fault in one.faults).most_common())
    chose_key = sum(chosen == items[at].question.key for at, chosen in asked.items())
    return AuditPart(drawn.of[name], len(items), len(judged), sound, share, faults, len(asked), chose_key)


def _interval(share: IntervalEstimate, sign: str = "") -> str:
    if math.isnan(share.estimate):
        return "not judged"
    return f"{share.estimate:{sign}.3f} [{share.low:{sign}.3f}, {share.high:{sign}.3f}]"


def _is_complete(question: Question | None) -> bool:
    if question is None or not question.stem.strip():
        return False
    try:
        check_choices(question.choices, question.id)
    except ValueError:
        return False
    return True
