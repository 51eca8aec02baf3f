"""The questions on the page: what is wrong with which, which carry the exam, and each with its passage."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from examcore import Question
from examcore.page import clipped, plain_number
from ragexam.report._page_parts import (
    FilterMenu,
    PageSection,
    PageTable,
    TableCell,
    TableFilters,
    TableRow,
    column_heads,
    filter_menu,
    filter_tokens,
    number_cell,
    percent_cell,
    question_cell,
    table_row,
    text_cell,
)
from ragexam.report._question_cards import (
    ANY_FAULT,
    BEST,
    NO_FAULT,
    PASSAGE,
    PRUNED,
    KnownQuestions,
    fault_token,
    question_card,
)
from ragexam.report._question_faults import FAULTS, AnswerSigns, QuestionFault, faults_of

SHOWN_BEST = 5
"""Questions that are named as carrying the exam."""
LISTED = 1000
"""Questions on the page; the gravest and the most informative first."""
ALL_PASSAGES = 2_000_000
"""Characters of passages on the page."""
LISTED_STEM = 140
"""Characters of a stem in a table."""


def questions_section(questions: Sequence[Question], signs: AnswerSigns, pruned: Collection[str] = ()) -> PageSection:
    """The faults in numbers, the questions as cards, those with faults first, and all of them as a table.

    Without a fit, faults come from accuracy alone.
    """
    faults = {question.id: faults_of(question, signs) for question in questions}
    best = _best(questions, faults, signs)
    known = KnownQuestions(
        signs,
        {question.id: place for place, question in enumerate(questions, start=1)},
        faults,
        _neighbours(questions),
        {question.id for question in best},
        pruned,
        filter_tokens("t", [question.topic for question in questions]),
    )
    faulty = [one for one in questions if faults[one.id]]
    faulty.sort(key=lambda one: (faults[one.id][0].grade, _information(one, signs)))
    chosen = {question.id for question in (*faulty, *best)}
    rest = sorted((one for one in questions if one.id not in chosen), key=lambda one: -_information(one, signs))
    shown = [*faulty, *best, *rest][:LISTED]
    readable = _with_passages(shown)
    groups = (
        ("To look at first: questions that do not measure", faulty, ["The most serious come first."]),
        (
            "Questions that carry the exam",
            best,
            ["The most informative in which no check found a fault."],
        ),
        ("All other questions", rest, ["The most informative first."] if signs.items is not None else []),
    )
    parts = [
        PageSection(
            sentences,
            questions=[question_card(one, known, one.id in readable) for one in part],
            title=title,
            is_folded=all_of_them is rest and bool(chosen),
        )
        for title, all_of_them, sentences in groups
        if (part := _among(all_of_them, shown))
    ]
    return PageSection(
        _sentences(questions, faulty, shown, readable, signs),
        tables=_overview(faults),
        folded=[_table(_among(questions, shown), known)],
        parts=parts,
        filters=_filters(known),
    )


def _among(part: Sequence[Question], shown: Sequence[Question]) -> list[Question]:
    listed = {question.id for question in shown}
    return [question for question in part if question.id in listed]


def _with_passages(shown: Sequence[Question]) -> set[str]:
    """The questions whose passages fit on the page."""
    left, found = ALL_PASSAGES, set()
    for question in shown:
        left -= min(len(question.context), PASSAGE)
        if left < 0:
            break
        found.add(question.id)
    return found


def _neighbours(questions: Sequence[Question]) -> dict[str, list[int]]:
    """The numbers of the other questions that were written from the same passage."""
    same = defaultdict(list)
    for place, question in enumerate(questions, start=1):
        if question.chunk_id:
            same[question.chunk_id].append(place)
    return {
        question.id: [other for other in same[question.chunk_id] if other != place]
        for place, question in enumerate(questions, start=1)
    }


def _information(question: Question, signs: AnswerSigns) -> float:
    found = signs.of(question, "information")
    return found if math.isfinite(found) else 0.0


def _best(
    questions: Sequence[Question], faults: Mapping[str, Sequence[QuestionFault]], signs: AnswerSigns
) -> list[Question]:
    """The most informative questions without a fault."""
    if signs.items is None:
        return []
    sound = [question for question in questions if not faults[question.id] and question.id in signs.items.index]
    return sorted(sound, key=lambda question: -_information(question, signs))[:SHOWN_BEST]


def _sentences(
    questions: Sequence[Question],
    faulty: Sequence[Question],
    shown: Sequence[Question],
    readable: Collection[str],
    signs: AnswerSigns,
) -> list[str]:
    n = len(questions)
    if faulty:
        lines = [f"{len(faulty)} of {n} questions {'deserve' if len(faulty) > 1 else 'deserves'} a look."]
    else:
        lines = [f"None of the {n} questions stands out as broken."]
    if signs.items is None:
        lines.append("Without a fitted model, only questions that all, none or too few get right can be found.")
    if signs.unchecked:
        lines.append(f"Not checked: {'; '.join(signs.unchecked)}.")
    if len(shown) < n:
        lines.append(f"{len(shown)} of {n} questions are shown, the most serious first; all are in exam.jsonl.")
    if len(readable) < len(shown):
        lines.append(f"{len(readable)} of them are shown with their passage; a page should hold no more.")
    return lines


def _overview(faults: Mapping[str, Sequence[QuestionFault]]) -> list[PageTable]:
    """How many questions have which fault, and what to do about it."""
    counts = {fault: sum(fault in found for found in faults.values()) for fault in FAULTS}
    rows = tuple(
        table_row(fault.name, number_cell(f"{count}", count), text_cell(fault.sentence), text_cell(fault.advice))
        for fault, count in counts.items()
        if count
    )
    caption = "What may be wrong with questions, the most serious first; a question may be in several rows"
    heads = column_heads("sign", "#questions", "~what it means", "~what to do")
    return [PageTable(caption, heads, rows)] if rows else []


def _filters(known: KnownQuestions) -> TableFilters:
    present = [fault for fault in FAULTS if any(fault in found for found in known.faults.values())]
    states = [("any fault", ANY_FAULT), *((one.name, fault_token(one)) for one in present), ("no fault", NO_FAULT)]
    states += [("carries the exam", BEST)] if known.best else []
    states += [("pruned", PRUNED)] if known.pruned else []
    choices = [FilterMenu("state", tuple((token, name) for name, token in states))]
    if len(known.topics) > 1:
        choices.append(filter_menu("topic", dict(known.topics), "no topic"))
    return TableFilters("question-list", "questions", tuple(choices))


def _table(questions: Sequence[Question], known: KnownQuestions) -> PageTable:
    measured = known.signs.items is not None
    names = ["#no.", "~question", "~key", "topic", "#accuracy"]
    names += ["#difficulty", "#discrimination", "#information"] if measured else []
    caption = "Accuracy over all pipelines" + (
        "; information is averaged over the pipelines' abilities" if measured else ""
    )
    rows = tuple(_row(question, known, measured) for question in questions)
    return PageTable(caption, column_heads(*names, "~remarks"), rows, sortable=True, headed=False)


def _row(question: Question, known: KnownQuestions, measured: bool) -> TableRow:
    place, share = known.numbers[question.id], known.signs.share_of(question)
    cells: list[TableCell | str] = [
        TableCell(f"{place}", f"{place}", f"#question-{place}", "number"),
        question_cell(question, LISTED_STEM),
        text_cell(clipped(question.answer, 80), question.language),
        clipped(question.topic, 40),
        percent_cell(share),
    ]
    if measured:
        values = [known.signs.of(question, key) for key in ("b", "a", "information")]
        cells += [number_cell(plain_number(value), value) for value in values]
    return table_row(*cells, text_cell(", ".join(known.remarks(question))))
