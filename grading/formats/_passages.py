"""What is graded: passages that systems returned for queries, their answers, a corpus, or articles for an exam.

An article is all passages of a system for a query, or a passage alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from examcore import Exam, Question
from grading._file_rows import QUERY, SYSTEM, FileRow, read_rows
from grading._records import BankQuestion, KeyAnswer, SystemReport
from grading.formats._bank_files import ALL, by_query
from grading.formats._file_faults import refuse
from grading.formats._report_files import is_reports, read_reports
from grading.formats._trec import TrecRun, listed_runs

PASSAGE = ("passage_id", "paragraph_id", "docid", "doc_id", "docno", "id", "passage")
TEXT = ("text", "body", "content", "contents", "passage_text", "segment", "passage")
"""Names of columns; where a table has several (an id and its text), the first one counts."""
ARTICLE_TEXT = (*TEXT, "article", "report", "response", "answer")
"""Names of the text of a system's article or answer."""
CHUNK = ("document_id", "start", "end")
"""Fields that mark a line as a passage of a corpus, which belongs to no query."""


@dataclass(frozen=True)
class Passage:
    """A text returned for a query, by a system or by several; `query` is empty for a passage of a corpus."""

    query: str
    id: str
    text: str
    system: str = ""


class PassageQuestion(NamedTuple):
    """A passage and a question to be graded by it."""

    question: BankQuestion
    passage: Passage


class Paired(NamedTuple):
    """The pairs to grade, and what takes no part: queries on one side only, and how many passages that is.

    Where articles are graded, `articles` leads from a query and an article's name to its passages.
    """

    pairs: tuple[PassageQuestion, ...]
    without_questions: tuple[str, ...]
    without_passages: tuple[str, ...]
    passages_left_out: int = 0
    articles: Mapping[tuple[str, str], Sequence[Passage]] = MappingProxyType({})


def read_passages(path: str | Path, segment: int | None = None) -> list[Passage]:
    """Read passages `query, passage, text[, system]` (JSON lines, CSV or TSV, each optionally .gz), or corpus chunks.

    Answers as TREC RAG, NeuCLIR and RAGTIME keep them (see `read_reports`) are read, too, as
    `answer_passages` of at most `segment` words.

    Names that other tools use are understood (`QUERY`, `PASSAGE` and so on). A row with a system and without an id is
    that system's article, or its answer to a question (`question_id` for the query), which may be blank. Raises
    `ValueError` (file:line, found, wanted) for a missing column, a blank text, one id with two texts for the same
    query and system, and a `segment` for what is no answer.
    """
    if is_reports(path):
        read = read_reports(path)
        refuse(read.faults, listing=f"ragexam grade validate {path} lists them")
        return answer_passages(read.reports, segment)
    if segment is not None:
        raise ValueError(f"{path}: holds passages; wanted answers of systems for --segment {segment}")
    texts: dict[tuple[str, str, str], str] = {}
    found = []
    for row in read_rows(path, {}):
        one = _passage(row)
        key = (one.query, one.id, one.system)
        if texts.setdefault(key, one.text) != one.text:
            raise ValueError(f"{row.place}: passage {one.id!r} stands above with another text; wanted one text per id")
        found.append(one)
    if not any(one.text.strip() for one in found):
        raise ValueError(f"{path}: no row has a text; wanted a column {' or '.join(ARTICLE_TEXT)}")
    return list(dict.fromkeys(found))


def answer_passages(reports: Iterable[SystemReport], segment: int | None = None) -> list[Passage]:
    """Each answer as one passage with the id of its run; with `segment` whole sentences of at most so many words.

    Segments are `RUN#1`, `RUN#2` and so on; a longer sentence is one by itself. Answers without words are left out.
    """
    found = []
    for one in reports:
        texts = [sentence.text.strip() for sentence in one.sentences if sentence.text.strip()]
        parts = _segments(texts, segment) if segment is not None else [texts] if texts else []
        for number, part in enumerate(parts, start=1):
            name = one.run if segment is None else f"{one.run}#{number}"
            found.append(Passage(one.topic, name, " ".join(part), one.run))
    return found


def answer_runs(passages: Iterable[Passage]) -> dict[str, TrecRun]:
    """Per system the run that lists the segments of its answers in their order, which scores of runs read."""
    return {run.name: run for run in listed_runs((one.system, one.query, one.id) for one in passages)}


def pair(bank: Sequence[BankQuestion], passages: Iterable[Passage]) -> Paired:
    """Every passage with every question of its query, passage by passage; a corpus's passages with all questions.

    A passage that several systems returned is graded once. Raises `ValueError` when no passage has a question, when
    most of the bank's queries have no passage, and when systems returned different texts under one id.
    """
    questions = by_query(bank)
    pool = pooled(passages, questions)
    pairs = [PassageQuestion(question, one) for one in pool for question in questions.get(one.query, ())]
    if not pairs:
        asked, found = sorted(questions), sorted({one.query for one in pool})
        raise ValueError(
            f"passages: no query of the bank ({_some(asked)}) has one; found {_some(found)}; wanted the same query ids"
        )
    known = {one.query for one in pool}
    lost = Counter(one.query for one in pool if one.query not in questions)
    lacking = tuple(one for one in questions if one not in known)
    if 2 * len(lacking) > len(questions):
        # They are likely those of another bank.
        raise ValueError(
            f"passages: {len(lacking)} of {len(questions)} queries of the bank ({_some(lacking)}) have none; wanted "
            "some for at least half of the queries"
        )
    return Paired(tuple(pairs), tuple(lost), lacking, lost.total())


def articles_of(exam: Exam, passages: Sequence[Passage]) -> Paired:
    """Each question with each article of its query; an article is all passages of one system, or one passage.

    A question's query is its `metadata.query`, its topic, its document or itself: the first of them that the passages
    know. The grades of articles on single questions are of the query that the exam has as a bank, the question's topic.
    Raises `ValueError` when the passages know none.
    """
    found: dict[tuple[str, str], list[Passage]] = {}
    for one in passages:
        found.setdefault((one.query, one.system or one.id), []).append(one)
    known = {query for query, _ in found}
    queries = _queries(exam, known)
    has_topics = all(one.topic for one in exam.questions)
    asked: dict[str, list[BankQuestion]] = {}
    for question in exam.questions:
        query = queries[question.id]
        named = query if query != question.id else question.topic if has_topics else ALL
        key = (KeyAnswer(question.answer),)
        asked.setdefault(query, []).append(
            BankQuestion(question.id, named, question.stem, key, subtopic=question.topic)
        )
    pairs = [
        PassageQuestion(one, Passage(query, name, "\n\n".join(one.text for one in texts), texts[0].system))
        for (query, name), texts in found.items()
        for one in asked.get(query, ())
    ]
    wanted = set(asked)
    return Paired(tuple(pairs), tuple(sorted(known - wanted)), tuple(sorted(wanted - known)), articles=found)


def keyed(pairs: Sequence[PassageQuestion]) -> list[PassageQuestion]:
    """The pairs whose question has a key."""
    return [one for one in pairs if one.question.answers]


def pooled(passages: Iterable[Passage], queries: Iterable[str]) -> list[Passage]:
    """The distinct passages of each query, whoever returned them; a corpus's passages stand for every query."""
    texts: dict[tuple[str, str], str] = {}
    wanted = list(queries)
    for one in passages:
        for query in [one.query] if one.query else wanted:
            if texts.setdefault((query, one.id), one.text) != one.text:
                raise ValueError(
                    f"passage {one.id!r} of query {query!r}: systems give it different texts; wanted one text per id"
                )
    return [Passage(query, name, text) for (query, name), text in texts.items()]


def _segments(sentences: Sequence[str], most: int) -> list[list[str]]:
    parts: list[list[str]] = []
    words = 0
    for one in sentences:
        size = len(one.split())
        if not parts or words + size > most:
            parts.append([])
            words = 0
        parts[-1].append(one)
        words += size
    return parts


def _passage(row: FileRow) -> Passage:
    system = row.first_text(SYSTEM, "")
    if row.present(PASSAGE) is None and system:
        return Passage(row.first_text((*QUERY, "question_id")), system, row.first_text(ARTICLE_TEXT, ""), system)
    name = row.first_text(PASSAGE)
    told = [one for one in TEXT if one != row.present(PASSAGE)]
    text = row.first_text(told)
    if not text.strip():
        raise ValueError(f"{row.place}: text is blank; wanted the passage")
    is_chunk = all(one in row.fields for one in CHUNK) and "query" not in row.fields
    query = "" if is_chunk else row.first_text(QUERY)
    return Passage(query, name, text, system)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "") or "none"


def _queries(exam: Exam, known: set[str]) -> dict[str, str]:
    """The query of each question, by the first way in which any question has a query that is known."""
    ways: tuple[Callable[[Question], str], ...] = (
        lambda one: str(one.metadata.get("query", "")),
        lambda one: one.topic,
        lambda one: one.document_id,
        lambda one: one.id,
    )
    for way in ways:
        found = {one.id: way(one) for one in exam.questions}
        if known & set(found.values()) - {""}:
            return found
    shown = ", ".join(sorted(known)[:3])
    raise ValueError(
        f"passages: their queries ({shown or 'none'}) are no topic or document of the exam's questions, "
        "nor a question; wanted query = topic, document id, metadata.query or id of questions"
    )
