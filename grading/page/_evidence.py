"""What the page of free-text grading rests on: grades, systems, the bank, texts, judgements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from examcore import file_hash
from grading._file_rows import PASSAGE, QUERY, FileRow, read_json_object, read_rows
from grading._records import Sampling
from grading.formats._bank_files import ALL, read_bank_questions
from grading.formats._common_parts import (
    graded_passages,
    graded_questions,
    lacking_queries,
    require_judged_passages,
    require_reached,
    require_shared_passages,
)
from grading.formats._grades import ReadGrades, read_grades
from grading.formats._passages import Passage, read_passages
from grading.formats._report_files import is_reports
from grading.formats._trec import Qrels, TrecRun, listed_runs, read_qrels, read_runs
from grading.graders._relevance_judges import RELEVANCE_JUDGES
from grading.scores._cover import BUDGET, outside, require_tau

RATING = 4.0
"""The tau of ratings from 0 to 5 where none is given, one that the paper reports; for other grades it is 1."""
EVERYTHING = "any passage"
WITHOUT_TEXTS = "No passages are known: questions are shown without the texts that answer them."


@dataclass(frozen=True)
class Sources:
    """What the page is made of besides the folder; the fields are the options of `ragexam grade report`."""

    runs: Annotated[
        list[Path] | None, typer.Option("--run", metavar="RUN", help="Ranked runs in TREC format: the systems.")
    ] = None
    qrels: Annotated[
        Path | None, typer.Option(metavar="OFFICIAL", help="Official judgements: chooses tau, held out.")
    ] = None
    bank: Annotated[Path | None, typer.Option(metavar="BANK", help="The bank; by default the one that was graded.")] = (
        None
    )
    passages: Annotated[
        Path | None, typer.Option(metavar="PASSAGES", help="The passages; by default those that were graded.")
    ] = None
    tau: Annotated[
        float | None, typer.Option(help="The least grade that counts; 4 for ratings, else 1 (umbrela: 2).")
    ] = None
    k: Annotated[int, typer.Option("--k", min=1, help="Passages that count per query.")] = BUDGET
    rel: Annotated[int, typer.Option(help="The least official grade that is relevant.")] = 1


class Systems(NamedTuple):
    """The systems as rankings, whether they are articles, and who says so."""

    runs: tuple[TrecRun, ...]
    articles: bool
    source: str


@dataclass(frozen=True)
class GradingEvidence:
    """Grades and all that is known of them; `record` is `run.json`, empty where there is none.

    `bank` leads from a query to its questions and their texts (empty where unknown); `texts` from a query and a passage
    to its text; `notes` are sentences about what was left out or taken for granted.
    """

    folder: Path
    sources: Sources
    sampling: Sampling
    record: Mapping[str, Any]
    graded: ReadGrades
    systems: Systems
    bank: Mapping[str, Mapping[str, str]]
    texts: Mapping[tuple[str, str], str]
    official: Qrels | None
    notes: tuple[str, ...]

    @property
    def everything(self) -> TrecRun:
        """All graded passages as one ranking: what no system can exceed."""
        passages = self.graded.by_passage
        return TrecRun(EVERYTHING, {query: [(one, 0.0) for one in found] for query, found in passages.items()})

    def text_of(self, query: str, passage: str) -> str:
        """A passage's text, empty where it is unknown; a corpus's passages stand for every query."""
        return self.texts.get((query, passage)) or self.texts.get(("", passage), "")


def gather(folder: Path, sources: Sources, sampling: Sampling) -> GradingEvidence:
    """Read the folder of `ragexam grade run` and what was named beside it.

    The bank and the passages are those that were graded where none are named and the files still are what they were.
    Raises `ValueError` in one line for a folder without grades and for every fault of a file.
    """
    grades, run = folder / "grades.jsonl", folder / "run.json"
    if not grades.is_file():
        raise ValueError(f"{folder}: has no grades.jsonl; wanted a folder that `ragexam grade run` wrote")
    graded, record = read_grades(grades), read_json_object(run) if run.is_file() else {}
    notes: list[str] = []
    passages = sources.passages or _unchanged(record, "passages", notes)
    if passages is not None and passages.suffix == ".sqlite":
        notes.append(f"The answers in {passages} are not shown; ragexam answers RUN --sheet FILE lists them.")
        pool = []
    else:
        pool = _pool(passages, record) if passages else []
    if sources.passages is not None and pool:
        _require_texts(sources.passages, pool, graded)
    if sources.tau is not None:
        require_tau(sources.tau)
        require_reached(grades, graded, sources.tau)
    bank, told = _bank(graded, sources.bank, _unchanged(record, "bank", notes))
    if sources.bank is not None:
        lacking_queries(sources.bank, bank, graded_questions(graded), grades)
    official = read_qrels(sources.qrels) if sources.qrels else None
    if sources.qrels and official and graded_passages(graded):
        require_judged_passages(sources.qrels, official, graded, grades)
    systems = _systems(grades, sources, pool)
    if sources.runs and graded_passages(graded):
        require_shared_passages(sources.runs, systems.runs, grades, graded_passages(graded), k=sources.k)
    return GradingEvidence(
        folder=folder,
        sources=sources,
        sampling=sampling,
        record=record,
        graded=graded,
        systems=systems,
        bank=bank,
        texts={(one.query, one.id): one.text for one in pool},
        official=official,
        notes=(*graded.notes, *notes, *told, *([] if passages else [WITHOUT_TEXTS])),
    )


def _pool(path: Path, record: Mapping[str, Any]) -> list[Passage]:
    """The passages of a file; answers in the segments that were graded."""
    segment = record.get("segment")
    return read_passages(path, segment if isinstance(segment, int) and is_reports(path) else None)


def _unchanged(record: Mapping[str, Any], name: str, notes: list[str]) -> Path | None:
    """The file that was graded, where it still is what it was."""
    sources, hashes = (record.get(key) for key in ("sources", "made_from"))
    said = sources.get(name) if isinstance(sources, Mapping) else None
    if not isinstance(said, str):
        return None
    path = Path(said)
    if not path.is_file():
        notes.append(f"The {name} that was graded, {said}, is not there: --{name} names another place.")
        return None
    if not isinstance(hashes, Mapping) or file_hash(path) != hashes.get(name):
        notes.append(f"The {name} that was graded, {said}, has changed since and is not read; --{name} names a copy.")
        return None
    return path


def _bank(
    graded: ReadGrades, named: Path | None, found: Path | None
) -> tuple[Mapping[str, Mapping[str, str]], list[str]]:
    """The bank's questions with their texts, and what has to be said of it."""
    seen = {query: dict.fromkeys(asked, "") for query, asked in graded.questions.items()}
    path = named or found
    if path is None:
        return _own_words(seen), ["No bank is known: it is every question graded; those never asked are missing."]
    bank = read_bank_questions(path, graded.questions)
    if any(name in bank.get(query, ()) for query, asked in seen.items() for name in asked):
        strange = outside(graded, bank)
        return bank, [f"Grades of questions that {path} does not have, which do not count: {strange}."] * bool(strange)
    if list(bank) == [ALL]:
        words = {query: {one: bank[ALL].get(one, "") for one in asked} for query, asked in seen.items()}
        return words, [f"{path} names no queries: the bank is every question graded."]
    if named is None:
        return _own_words(seen), [f"{path} has none of the questions graded: the bank is every question graded."]
    query, asked = next(iter(seen.items()))
    raise ValueError(
        f"{path}: has none of the questions graded (such as {next(iter(asked))!r} of query {query!r}); wanted the bank"
    )


def _require_texts(path: Path, pool: Sequence[Passage], graded: ReadGrades) -> None:
    """Refuse named passages none of which was graded; systems' articles are named by the system."""
    known = {(one.query, name) for one in pool for name in (one.id, one.system)}
    if not any((query, one.passage) in known for one in graded.grades for query in (one.query, "")):
        one = graded.grades[0]
        raise ValueError(
            f"{path}: has none of the passages graded (such as {one.passage!r} of query {one.query!r}); wanted texts"
        )


def _own_words(bank: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """A question whose id has blanks is its own text."""
    return {query: {one: one if " " in one else "" for one in asked} for query, asked in bank.items()}


def _systems(grades: Path, sources: Sources, pool: Sequence[Passage]) -> Systems:
    """The systems of the runs named, else those that the grades name, else those that returned the passages."""
    if sources.runs:
        return Systems(tuple(read_runs(sources.runs)), False, "the runs")
    rows = read_rows(grades, {})
    named = [(row.text("system"), row) for row in rows if row.present(("system",))]
    if named:
        found = listed_runs((who, row.text(row.present(QUERY) or ""), _passage_of(row)) for who, row in named)
        articles = all(_passage_of(row) == who for who, row in named)
        return Systems(found, articles, grades.name)
    returned = [(one.system, one.query, one.id) for one in pool if one.system and one.query]
    if returned:
        return Systems(listed_runs(returned), False, "the file of passages, in its order")
    return Systems((), False, "")


def _passage_of(row: FileRow) -> str:
    return row.text(row.present(PASSAGE) or "passage")


def default_tau(graded: ReadGrades, record: Mapping[str, Any]) -> float:
    """The tau where none is said: that of a published judge, 4 of ratings up to 5, else 1."""
    judge = RELEVANCE_JUDGES.get(str(record.get("grader")))
    if judge is not None:
        return float(judge.relevant)
    rated = record.get("grader") == "rating" or (not math.isnan(graded.highest) and graded.highest > 2)
    return RATING if rated else 1.0
