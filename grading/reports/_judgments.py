"""Human judgements of sentences, from a file of JSON lines or a table.

A line either holds all that is judged of a sentence (`supported`, `nuggets`, `needs_citation`, `repeats`,
`claims_absence`), or one decision (`kind` with `value`, and the `document`, `nugget` or `answer` it is about), or the
`outcome` itself with its `nuggets`. Lines on one sentence add up; where they contradict one another, both are named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from examcore import json_kind, shown_json
from grading._file_rows import FileRow, read_rows
from grading.formats._file_faults import Fault
from grading.reports._judging_material import Ask, Decision, ReportMaterial

NAMES = {
    "run": ("run_id",),
    "topic": ("topic_id", "query", "qid", "query_id", "request_id"),
    "sentence": ("sentence_index", "sentence_id", "index"),
    "kind": ("type",),
    "value": ("label", "decision", "judgment", "judgement"),
    "document": ("document_id", "doc", "docid", "doc_id", "citation"),
    "nugget": ("nugget_id",),
    "answer": (),
    "supported": ("support",),
    "nuggets": ("nugget_ids", "answers"),
    "needs_citation": ("need_citation", "requires_citation"),
    "repeats": ("repeated",),
    "first": ("first_time",),
    "claims_absence": ("absence",),
    "outcome": (),
}
NOTES = frozenset({"text", "note", "notes", "comment", "why", "assessor", "annotator", "format"})
"""Fields that may stand in a line and say nothing to the scores."""
NO_REPORT = "judgements of no report"
YES = frozenset({"yes", "true", "1", "supported", "support", "need citation", "needs citation"})
NO = frozenset({"no", "false", "0", "not supported", "not_supported", "no support", "no need citations", "none"})
_OUTCOMES: dict[int, dict[str, object]] = {
    1: {"claims_absence": False, "supported": False},
    2: {"claims_absence": False, "supported": True, "nuggets": []},
    3: {"claims_absence": False, "supported": True},
    4: {"claims_absence": False, "needs_citation": False},
    5: {"claims_absence": False, "needs_citation": True, "repeats": False},
    6: {"claims_absence": False, "needs_citation": True, "repeats": True},
    7: {"claims_absence": True, "nuggets": []},
    8: {"claims_absence": True},
}
"""What an outcome says of the questions that lead to it."""

Key = tuple[str, str, int]
"""Run, topic and number of a sentence."""
Fact = tuple[str, str, int | None]
"""What is judged: the kind of question, the document or nugget (`""` for all that are cited), and the answer (None for
any of the nugget's)."""


@dataclass
class _Judgments:
    """What lines say of one sentence, each with the place that said it first."""

    facts: dict[Fact, tuple[bool, str]] = field(default_factory=dict)
    lists_nuggets: str = ""
    outcome: tuple[int, str] | None = None
    unread: list[str] = field(default_factory=list)


class HumanJudge:
    """Decides as a file of judgements says. What the file does not say stays open; only an absence counts as denied.

    `remarks` are on lines and fields that do not concern these reports.
    """

    def __init__(self, found: Mapping[Key, _Judgments], remarks: Sequence[Fault]) -> None:
        self._found, self.remarks = found, tuple(remarks)
        self._used: set[tuple[Key, str]] = set()

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """One decision per question; its reason is where it stands, or a line that may have been meant for it."""
        return [self._decide(one) for one in asks]

    def without_effect(self) -> list[Fault]:
        """Nuggets that are named for a sentence and were never asked about when it was scored."""
        return [
            Fault(
                place,
                "nuggets named in vain",
                f"nugget {name!r}: no document that supports the sentence is one that its answers are bound to",
                stops=False,
            )
            for key, one in self._found.items()
            for (kind, name, _), (verdict, place) in one.facts.items()
            if kind == "answers" and verdict and (key, name) not in self._used
        ]

    def overruled(self, outcomes: Mapping[Key, int | None]) -> list[Fault]:
        """Outcomes that the file states and the flow does not come to."""
        return [
            Fault(
                one.outcome[1],
                "outcomes overruled",
                f"outcome {one.outcome[0]}; reports, nuggets and judgements together make it {outcomes[key] or 'none'}",
                stops=False,
            )
            for key, one in self._found.items()
            if one.outcome and key in outcomes and outcomes[key] != one.outcome[0]
        ]

    def _decide(self, ask: Ask) -> Decision:
        key = (ask.run, ask.topic, ask.sentence)
        one = self._found.get(key, _Judgments())
        facts: list[Fact] = [(ask.kind, ask.document, None), (ask.kind, "", None)]
        if ask.kind == "answers":
            self._used.add((key, ask.nugget))
            facts = [(ask.kind, ask.nugget, ask.answer), (ask.kind, ask.nugget, None)]
        known = next((one.facts[fact] for fact in facts if fact in one.facts), None)
        if known is not None:
            return Decision(*known)
        if ask.kind == "answers" and one.lists_nuggets:
            return Decision(False, one.lists_nuggets)
        if ask.kind == "claims_absence":
            return Decision(False, "not said to claim an absence")
        elsewhere = [str(fault) for fault in self.remarks if fault.kind == NO_REPORT]
        return Decision(None, next(iter([*one.unread, *elsewhere]), ""))


def read_judgments(path: str | Path, material: ReportMaterial) -> HumanJudge:
    """The judgements of a file (JSON lines, CSV or TSV, each optionally .gz) on the reports of `material`.

    `run` and `topic` may be left out where all reports share them; sentences count from 0. Raises `ValueError`
    (file:line, found, wanted) for a sentence, document, nugget or answer that there is not, a value that is neither yes
    nor no, a contradiction, and a file that judges none of the reports. Lines on other reports are `remarks`.
    """
    found: dict[Key, _Judgments] = {}
    remarks: list[Fault] = []
    for row in read_rows(path, {"sentence": NAMES["sentence"]}, NAMES):
        run, topic = _of_report(row, material)
        if (run, topic) not in material.reports:
            message = f"judges run {run!r} on topic {topic!r}, of which there is no report"
            remarks.append(Fault(row.place, NO_REPORT, message, stops=False))
            continue
        key = (run, topic, _index(row, material, run, topic))
        for name in sorted(row.fields.keys() - NAMES.keys() - NOTES):
            message = f"field {name!r} says nothing here and is not read"
            remarks.append(Fault(row.place, f"field {name!r} not read", message, stops=False))
            found.setdefault(key, _Judgments()).unread.append(str(remarks[-1]))
        _require_text(row, material.reports[run, topic].sentences[key[2]].text)
        _add(found.setdefault(key, _Judgments()), row, key, material)
    if not found:
        run, topic = next(iter(material.reports))
        raise ValueError(f"{remarks[0]}, as of all others; wanted judgements such as of run {run!r} on topic {topic!r}")
    return HumanJudge(found, remarks)


def judgment_line(ask: Ask, decision: Decision) -> dict[str, object]:
    """A decision as a line that `read_judgments` reads; `ValueError` for one that was left open."""
    if decision.verdict is None:
        raise ValueError(f"{ask.kind}: left open; wanted a decision")
    fields: dict[str, object] = {"topic": ask.topic, "run": ask.run, "sentence": ask.sentence, "kind": ask.kind}
    if ask.document:
        fields["document"] = ask.document
    if ask.nugget:
        fields["nugget"] = ask.nugget
    if ask.answer >= 0:
        fields["answer"] = ask.answer
    return {**fields, "value": decision.verdict, "why": decision.why}


def _of_report(row: FileRow, material: ReportMaterial) -> tuple[str, str]:
    found: list[str] = []
    for at, name in enumerate(("run", "topic")):
        known = {one[at] for one in material.reports}
        found.append(row.text(name, next(iter(known)) if len(known) == 1 else None))
    return found[0], found[1]


def _index(row: FileRow, material: ReportMaterial, run: str, topic: str) -> int:
    value = row.fields["sentence"]
    count = len(material.reports[run, topic].sentences)
    text = str(value).strip()
    if isinstance(value, bool) or not text.isdecimal() or int(text) >= count:
        raise ValueError(f"{row.place}: sentence {shown_json(value)}; wanted a number from 0 to {count - 1}")
    return int(text)


def _require_text(row: FileRow, text: str) -> None:
    found = row.fields.get("text")
    if isinstance(found, str) and found.split() != text.split():
        raise ValueError(
            f"{row.place}: text {shown_json(found)} is not that of the sentence; wanted {shown_json(text)}"
        )


def _add(one: _Judgments, row: FileRow, key: Key, material: ReportMaterial) -> None:
    whole = _one_decision(row) if "kind" in row.fields else _whole(row)
    if "outcome" in whole:
        one.outcome = (_outcome(row), row.place)
    if "nuggets" in whole:
        one.lists_nuggets = one.lists_nuggets or row.place
    for fact, verdict in _facts(whole, row, key, material):
        before, place = one.facts.setdefault(fact, (verdict, row.place))
        if before != verdict:
            found = f"{_named(fact)} is {'yes' if verdict else 'no'}, and {'yes' if before else 'no'} at {place}"
            raise ValueError(f"{row.place}: {found}; wanted one of them")


def _named(fact: Fact) -> str:
    kind, name, _ = fact
    if kind == "answers":
        return f"nugget {name!r}"
    return f"'supported' of {name or 'the citations'}" if kind == "supported" else repr(kind)


def _outcome(row: FileRow) -> int:
    outcome = str(row.fields["outcome"]).strip().lstrip("#")
    if outcome not in map(str, _OUTCOMES):
        raise ValueError(f"{row.place}: outcome {shown_json(row.fields['outcome'])}; wanted a number from 1 to 8")
    return int(outcome)


def _whole(row: FileRow) -> dict[str, object]:
    """The fields of a line that judges a sentence as a whole, with those that its outcome implies."""
    fields = dict(row.fields)
    if "outcome" in fields:
        outcome = _outcome(row)
        fields = {**_OUTCOMES[outcome], **fields}
        if outcome in {3, 8} and "nuggets" not in fields and "nugget" not in fields:
            raise ValueError(f"{row.place}: outcome {outcome} and no 'nuggets'; wanted those that the sentence answers")
    if "first" in fields:
        fields["repeats"] = not _truth(fields["first"], "first", row)
    if "nugget" in fields:
        fields.setdefault("nuggets", [fields["nugget"]])
    if "document" in fields and "supported" in fields:
        fields["supported"] = {str(fields["document"]): fields["supported"]}
    return fields


def _one_decision(row: FileRow) -> dict[str, object]:
    """The same of a line that holds one decision."""
    name, value = row.text("kind"), row.fields.get("value", True)
    if name == "supported":
        return {name: {row.text("document"): value}}
    if name == "answers":
        if "nugget" not in row.fields:
            if _truth(value, "value", row):
                raise ValueError(f"{row.place}: kind 'answers' and no 'nugget'; wanted the nugget it answers")
            return {"nuggets": {}}
        answer = row.fields.get("answer")
        return {"nuggets": {row.text("nugget"): value if answer is None else {str(answer): value}}}
    if name in {"first", "repeats", "needs_citation", "claims_absence", "absence"}:
        verdict = _truth(value, "value", row)
        if name == "first":
            return {"repeats": not verdict}
        return {"claims_absence" if name == "absence" else name: verdict}
    wanted = "supported, answers, needs_citation, repeats, first or claims_absence"
    raise ValueError(f"{row.place}: kind {name!r}; wanted {wanted}")


def _facts(
    fields: Mapping[str, object], row: FileRow, key: Key, material: ReportMaterial
) -> Iterator[tuple[Fact, bool]]:
    """What the fields say of each question."""
    run, topic, sentence = key
    if "supported" in fields:
        yield from _support(fields["supported"], row, material.reports[run, topic].sentences[sentence].citations)
    if "nuggets" in fields:
        yield from _nuggets(fields["nuggets"], row, topic, material)
    for name in ("needs_citation", "repeats", "claims_absence"):
        if name in fields:
            yield (name, "", None), _truth(fields[name], name, row)


def _support(value: object, row: FileRow, cited: Sequence[str]) -> Iterator[tuple[Fact, bool]]:
    """Each cited document and whether it supports; a list names those that do."""
    value = _unpacked(value)
    named = _by_name(value)
    if named is None:
        yield ("supported", "", None), _truth(value, "supported", row)
        return
    if isinstance(value, list):
        named = {**dict.fromkeys(cited, False), **named}
    for document, verdict in named.items():
        if document not in cited:
            wanted = f"one of {', '.join(cited)}" if cited else "none, for the sentence cites nothing"
            raise ValueError(f"{row.place}: judges support by {document!r}; wanted {wanted}")
        yield ("supported", document, None), _truth(verdict, f"supported by {document!r}", row)


def _nuggets(value: object, row: FileRow, topic: str, material: ReportMaterial) -> Iterator[tuple[Fact, bool]]:
    """Each named nugget, or some of its answers, and whether the sentence gives it."""
    value = _unpacked(value)
    named = _by_name([value] if isinstance(value, str | int) and not isinstance(value, bool) else value)
    if named is None:
        raise ValueError(f"{row.place}: nuggets are {shown_json(value)}; wanted a list of nugget ids, empty for none")
    for name, given in named.items():
        if (topic, name) not in material.nuggets:
            raise ValueError(f"{row.place}: nugget {name!r}; wanted one of topic {topic!r}")
        answers = _by_name(given)
        if answers is None:
            yield ("answers", name, None), _truth(given, f"nugget {name!r}", row)
        texts = [one.text for one in material.nuggets[topic, name].answers]
        for answer, verdict in (answers or {}).items():
            yield ("answers", name, _answer(answer, texts, name, row)), _truth(verdict, f"answer {answer!r}", row)


def _answer(answer: str, texts: Sequence[str], name: str, row: FileRow) -> int:
    """The index of an answer that is named by its text or by its index."""
    if answer in texts:
        return texts.index(answer)
    if answer.isdecimal() and int(answer) < len(texts):
        return int(answer)
    wanted = f"its text or an index below {len(texts)}"
    raise ValueError(f"{row.place}: answer {answer!r} of nugget {name!r}; wanted {wanted}")


def _by_name(value: object) -> Mapping[str, object] | None:
    """The verdicts in an object, or yes for each name in a list; None for a single verdict."""
    if isinstance(value, list):
        return {str(one): True for one in value}
    return value if isinstance(value, dict) else None


def _unpacked(value: object) -> object:
    """A list or object that stands as JSON in the field of a table."""
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        try:
            return cast(object, json.loads(value))
        except json.JSONDecodeError:
            return value
    return value


def _truth(value: object, name: str, row: FileRow) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower() if isinstance(value, str | int | float) else ""
    if text in YES:
        return True
    if text in NO:
        return False
    found = shown_json(value) if not isinstance(value, list | dict) else f"a {json_kind(value)}"
    raise ValueError(f"{row.place}: {name} is {found}; wanted true or false (or yes, no, supported, not supported)")
