"""Does the exam rank retrievers as the questions of people do? Their questions beside the exam's, on one corpus."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exam_gen import PEOPLE_VERSION, AnsweredQuestion
from examcore import (
    BOOTSTRAP_DRAWS,
    INTERVAL_LEVEL,
    STEM,
    Chunk,
    IntervalEstimate,
    JsonRecord,
    Progress,
    Question,
    ReportProgress,
    RunRecord,
    content_stems,
    file_hash,
    normalized,
    overlap,
    percentile_interval,
    read_json_lines,
    write_text,
)
from examcore.console import jsonable
from rag import Retriever, build_retriever
from rag.retrieval import CUTOFFS, Search, SourceRank, find_sources, searches_of
from ragexam._overlap_trend import OverlapTrend
from ragexam._retrieval import Library, folder_of_run, searched_questions
from ragexam._steps import Steps

__all__ = ["UserQuestion", "ValidityTable", "compare", "read_users", "searched_questions", "validity_of_run"]

MEASURE = f"ndcg@{CUTOFFS[-1]}"
TIE_DIGITS = 9
"""Means that differ by less are tied."""
FEWEST = 10
"""Questions of people below which nothing is compared: an interval over fewer says nothing."""
Values = NDArray[np.float64]


UNKNOWN = IntervalEstimate(np.nan, np.nan, np.nan)
CHECKED = ("agreed", "silent", "contradicted")
"""What the exam may be about a pair that people tell apart."""


class UserQuestion(NamedTuple):
    """A question that somebody asked, with the ids of the documents or passages that answer it, and the answer."""

    id: str
    text: str
    documents: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    answer: str = ""


def read_users(path: Path, chunks: Sequence[Chunk]) -> list[UserQuestion]:
    """Read people's questions: `text` and, where known, `document` or `passage` (an id or several) and `answer`.

    Raises ValueError (file:line, found, wanted) for a question without text, an id or text that stands twice, and for
    sources that the corpus does not have; and for a file without questions.
    """
    documents, passages = {one.document_id for one in chunks}, {one.id for one in chunks}
    found: list[UserQuestion] = []
    places: dict[str, str] = {}
    for number, record in enumerate(read_json_lines(path), 1):
        one = _user_question(record, number)
        for name, ids, known in (("document", one.documents, documents), ("passage", one.passages, passages)):
            for source in ids:
                if source not in known:
                    raise ValueError(f"{record.place}: {name} is {source!r}; wanted the id of one in the corpus")
        for key in (f"id {one.id!r}", f"text {normalized(one.text)!r}"):
            if key in places:
                raise ValueError(f"{record.place}: {key} stands already at {places[key]}; wanted each question once")
            places[key] = record.place
        found.append(one)
    if not found:
        raise ValueError(f"{path}: no question; wanted one JSON object a line, with text")
    return found


def _user_question(record: JsonRecord, number: int) -> UserQuestion:
    text = record.fields.get("text")
    if not isinstance(text, str) or not content_stems(text):
        raise ValueError(f"{record.place}: text is {text!r}; wanted a question")
    sources = {name: _ids(record, name) for name in ("document", "passage")}
    answer = record.fields.get("answer", "")
    if not isinstance(answer, str):
        raise ValueError(f"{record.place}: answer is {answer!r}; wanted text")
    return UserQuestion(
        str(record.fields.get("id", f"user-{number}")), text, sources["document"], sources["passage"], answer
    )


def _ids(record: JsonRecord, name: str) -> tuple[str, ...]:
    value = record.fields.get(name) or ()
    values = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, str) and one for one in values):
        raise ValueError(f"{record.place}: {name} is {value!r}; wanted an id or a list of ids")
    return tuple(values)


class RetrieverDifference(NamedTuple):
    """The first retriever minus the second in mean nDCG, by people's questions and by the exam's, and their gap.

    `adjusted` is the exam's for queries with the mean overlap of people's questions, and `slope` its change with each
    tenth of overlap; NaN where the overlaps of its queries do not vary.
    """

    first: str
    second: str
    people: IntervalEstimate
    exam: IntervalEstimate
    gap: IntervalEstimate
    adjusted: IntervalEstimate = UNKNOWN
    slope: IntervalEstimate = UNKNOWN

    @property
    def verdict(self) -> str:
        """`untold` by people; else `agreed`, `contradicted`, or `silent` where the exam cannot tell."""
        return self._verdict(self.exam)

    @property
    def adjusted_verdict(self) -> str:
        """The same of the exam at people's overlap."""
        return self._verdict(self.adjusted)

    def _verdict(self, exam: IntervalEstimate) -> str:
        if not self.people.excludes_zero:
            return "untold"
        if not exam.excludes_zero:
            return "silent"
        return "agreed" if exam.estimate * self.people.estimate > 0 else "contradicted"


@dataclass(frozen=True)
class ValidityTable:
    """How retrievers stand by people's questions and by the exam's, pair by pair, with 90 % intervals.

    `n_people` counts questions with sources; where it is 0, only what the exam says at their overlap is known.
    `tau` is Kendall's tau-b of the two orders, NaN where one of them ties all retrievers. `people` and `exam` are mean
    nDCG by retriever.
    """

    n_people: int
    n_exam: int
    unit: str
    people: Mapping[str, float]
    exam: Mapping[str, float]
    tau: IntervalEstimate
    differences: tuple[RetrieverDifference, ...]
    overlap_people: float
    overlap_exam: float

    def counted(self, verdict: str, *, adjusted: bool = False) -> int:
        """How many pairs have a verdict; `adjusted`, that of the exam at people's overlap."""
        return sum((one.adjusted_verdict if adjusted else one.verdict) == verdict for one in self.differences)

    def record(self) -> dict[str, Any]:
        """The table as JSON types; `agreed`, `silent` and `contradicted` count the pairs that people tell apart,
        `adjusted` with the exam at people's overlap.
        """
        return {
            "n_people": self.n_people,
            "n_exam": self.n_exam,
            "measure": MEASURE,
            "unit": self.unit,
            "interval": INTERVAL_LEVEL,
            "people": jsonable({name: round(value, 4) for name, value in self.people.items()}),
            "exam": {name: round(value, 4) for name, value in self.exam.items()},
            "tau": jsonable(self.tau.as_dict()),
            **{name: self.counted(name) for name in CHECKED},
            "adjusted": {name: self.counted(name, adjusted=True) for name in CHECKED},
            "gaps": {
                f"{one.first} - {one.second}": {
                    **one.gap.as_dict(),
                    "people": one.people.as_dict(),
                    "exam": one.exam.as_dict(),
                    "adjusted": one.adjusted.as_dict(),
                    "slope": one.slope.as_dict(),
                    "verdict": one.verdict,
                }
                for one in self.differences
            },
            "overlap_people": round(self.overlap_people, 4),
            "overlap_exam": round(self.overlap_exam, 4),
        }

    def lines(self) -> list[str]:
        """The table for a reader."""
        told = [one for one in self.differences if one.verdict != "untold"]
        width = max((len(f"{one.first} - {one.second}") for one in self.differences), default=0)
        lines = [
            f"{self.n_people or 'no'} questions of people with sources, {self.n_exam} of the exam; {MEASURE} of "
            f"{self.unit}s, {INTERVAL_LEVEL:.0%} intervals",
            f"overlap with the passage: people {self.overlap_people:.2f}, exam {self.overlap_exam:.2f}",
        ]
        if not self.n_people:
            return lines + [
                f"  {f'{one.first} - {one.second}':<{width}}  exam {_shown(one.exam)}  at people's overlap "
                f"{_shown(one.adjusted)}"
                for one in self.differences
            ]
        lines += [
            "people: " + ", ".join(f"{name} {value:.3f}" for name, value in self.people.items()),
            "exam:   " + ", ".join(f"{name} {self.exam[name]:.3f}" for name in self.people),
            f"Kendall's tau of the two orders: {_shown(self.tau)}",
            f"of {len(told)} pairs that people tell apart, the exam agrees on {self.counted('agreed')}, is silent on "
            f"{self.counted('silent')} and contradicts {self.counted('contradicted')}",
            "the exam at people's overlap: "
            + ", ".join(f"{self.counted(one, adjusted=True)} {one}" for one in CHECKED),
        ]
        pairs = [
            f"  {f'{one.first} - {one.second}':<{width}}  people {_shown(one.people)}  exam {_shown(one.exam)}  "
            f"gap {_shown(one.gap)}  {one.verdict}; at people's overlap {_shown(one.adjusted)}"
            for one in self.differences
        ]
        return [*lines, *pairs]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> ValidityTable:
        """The table of a record."""

        def interval(found: Mapping[str, Any] | None) -> IntervalEstimate:
            if found is None:  # of an earlier release
                return UNKNOWN
            return IntervalEstimate(*(number(found[name]) for name in IntervalEstimate._fields))

        def number(value: float | None) -> float:
            return np.nan if value is None else float(value)

        differences = []
        for pair, found in record["gaps"].items():
            first, second = pair.split(" - ")
            by_people, by_exam = interval(found["people"]), interval(found["exam"])
            more = (interval(found), interval(found.get("adjusted")), interval(found.get("slope")))
            differences.append(RetrieverDifference(first, second, by_people, by_exam, *more))
        counts = {name: record[name] for name in ("n_people", "n_exam", "unit", "exam")}
        counts["people"] = {name: number(value) for name, value in record["people"].items()}
        shares = {name: record[name] for name in ("overlap_people", "overlap_exam")}
        return cls(**counts, **shares, tau=interval(record["tau"]), differences=tuple(differences))


def _shown(found: IntervalEstimate) -> str:
    return f"{found.estimate:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def validity_step(steps: Steps, library: Library, users: Path) -> None:
    """Write `validity.json`: the exam beside the users' questions, where enough of them name their sources."""
    found = read_users(users, library.chunks)
    if foreign := unheard(found, library.chunks):
        steps.progress.say(f"note: {users}: {foreign} questions share no word with the corpus; in another language?")
    enough = {"retrievers search": (len(library.searching), 2), "users' questions": (len(found), FEWEST)}
    enough |= {"questions of the exam are not the users' own": (len(written(library.exam.questions)), 1)}
    for what, (there, wanted) in enough.items():
        if there < wanted:
            steps.progress.say(f"validity: left out; {there} {what} (wanted {wanted})")
            return

    def measure(report: ReportProgress) -> None:
        table = compare(library.searchers, library.questions, found, library.chunks, progress=report)
        write_text(steps.folder.validity, [json.dumps(table.record(), indent=2), "\n"])

    made_from = {**library.identity, "users": file_hash(users)}
    steps.do("validity", made_from, [steps.folder.validity], measure, first=library.encode)


def validity_of_run(run: Path, users: Path, progress: Progress) -> ValidityTable:
    """The retrievers of a run's grid, by its exam and by people's questions with sources.

    Raises ValueError for a run without a grid, and for fewer than ten questions.
    """
    folder = folder_of_run(run)
    with folder.held():
        library = Library.of_run(folder, RunRecord.open(folder))
    if len(library.searching) < 2:
        raise ValueError(f"{folder.record}: {len(library.searching)} retrievers of the grid search; wanted two or more")
    found = read_users(users, library.chunks)
    library.encode(progress)
    with progress.step("retrieval") as report:
        return compare(library.searchers, library.questions, found, library.chunks, progress=report)


def compare(
    retrievers: Mapping[str, Retriever],
    questions: Sequence[Question],
    users: Sequence[UserQuestion],
    chunks: Sequence[Chunk],
    *,
    kind: str = "question",
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> ValidityTable:
    """Retrievers by the exam's queries of a kind (stems where it has none) and by people's questions with sources.

    What is found are passages where every question of people names some, else documents: the same for both. Where
    fewer than ten name theirs, the exam is read at the overlap of all, and nothing is known of people's own order.
    """
    if len(users) < FEWEST:
        raise ValueError(f"users: {len(users)} questions; wanted at least {FEWEST}")
    sourced = [one for one in users if one.documents or one.passages]
    sourced = sourced if len(sourced) >= FEWEST else []
    by_document = not all(one.passages for one in sourced)
    asked = [_search(one, chunks, by_document) for one in sourced]
    questions = written(questions)
    if not questions:
        raise ValueError("the exam: every question is one of the users; wanted some written from the corpus")
    has = {query.kind for one in questions for query in one.queries}
    named = kind if kind in has else STEM
    own = [one for one in searches_of(questions, by_document=by_document) if one.kind == named]
    total = len(asked) + len(own)

    def ranked(searches: Sequence[Search], done: int) -> list[SourceRank]:
        """By retriever."""
        rows = []
        for place, (name, retriever) in enumerate(retrievers.items()):
            if progress is not None:
                progress(place * total + done, total * len(retrievers))
            rows += find_sources({name: retriever}, searches)
        return rows

    people = np.array([one.measured()[MEASURE] for one in ranked(asked, 0)]) if asked else None
    found = ranked(own, len(asked))
    exam = np.array([one.measured(named)[MEASURE] for one in found])
    shares = [np.array(each) for each in (overlaps_of_people(sourced or users, chunks), _overlaps(own, chunks))]
    trend = OverlapTrend(np.array([one.of_queries(named) for one in found]), shares[1], [one.asked.id for one in own])
    known = [np.nan] * len(retrievers) if people is None else people.mean(axis=1).tolist()
    return ValidityTable(
        n_people=len(asked),
        n_exam=exam.shape[1],
        unit="document" if by_document else "passage",
        people=dict(zip(retrievers, known, strict=True)),
        exam=dict(zip(retrievers, exam.mean(axis=1).tolist(), strict=True)),
        overlap_people=float(shares[0].mean()),
        overlap_exam=float(shares[1].mean()),
        **_compared(list(retrievers), people, exam, (trend, float(shares[0].mean())), seed),
    )


def overlaps_of_people(users: Sequence[UserQuestion], chunks: Sequence[Chunk]) -> tuple[float, ...]:
    """The overlap of each question with its nearest passage.

    That of a question without sources is nearly the same as if they were known: on three collections of people's
    questions the means are .65, .72 and .77, with the sources .62, .69 and .79 (RESULTS.md).
    """
    return tuple(passage_overlap(one.text, chunk) for one, chunk in nearest_passages(users, chunks))


def nearest_passages(users: Sequence[UserQuestion], chunks: Sequence[Chunk]) -> list[tuple[UserQuestion, Chunk]]:
    """Each question with whichever of its sources' passages shares most of its words, else the one BM25 finds first.

    Questions with sources come first; one that shares no word with the corpus is left out.
    """
    sourced = [one for one in users if one.documents or one.passages]
    by_document = not all(one.passages for one in sourced)
    by_source = _by_source(chunks)
    found = []
    for one in sourced:
        known = [chunk for name in _search(one, chunks, by_document).sources for chunk in by_source[name]]
        # Of equals always the same one, whatever the order of a set.
        ranked = sorted((passage_overlap(one.text, chunk), chunk.id, place) for place, chunk in enumerate(known))
        found.append((one, known[ranked[-1][-1]]))
    bm25 = build_retriever("bm25", chunks)
    for one in (one for one in users if one not in sourced):
        found += [(one, chunk) for chunk in bm25.retrieve(Question(one.id, one.text, (), 0), 1)]
    return found


def written(questions: Sequence[Question]) -> list[Question]:
    """The questions that no user asked: the users' own, in the exam, would agree with themselves."""
    return [one for one in questions if one.metadata.get("prompt") != PEOPLE_VERSION]


def answered_questions(users: Sequence[UserQuestion], chunks: Sequence[Chunk]) -> list[AnsweredQuestion]:
    """The questions whose answer and source are known, each with the passages that may hold the answer."""
    by_source = _by_source(chunks)
    return [
        AnsweredQuestion(
            one.text, one.answer, [chunk for name in one.passages or one.documents for chunk in by_source[name]]
        )
        for one in users
        if one.answer and (one.documents or one.passages)
    ]


def _search(one: UserQuestion, chunks: Sequence[Chunk], by_document: bool) -> Search:
    of_passage = {chunk.id: chunk.document_id for chunk in chunks} if by_document and one.passages else {}
    sources = {*one.documents, *(of_passage[source] for source in one.passages)} if by_document else one.passages
    return Search(Question(one.id, one.text, (), 0), STEM, frozenset(sources), by_document)


def _overlaps(searches: Sequence[Search], chunks: Sequence[Chunk]) -> tuple[float, ...]:
    by_source = _by_source(chunks)
    return tuple(
        max(passage_overlap(one.asked.stem, chunk) for name in one.sources for chunk in by_source[name])
        for one in searches
    )


def _by_source(chunks: Sequence[Chunk]) -> dict[str, list[Chunk]]:
    """The chunks of each source, which is a document or one of them."""
    found: dict[str, list[Chunk]] = {}
    for one in chunks:
        for name in (one.id, one.document_id):
            found.setdefault(name, []).append(one)
    return found


def _compared(
    names: Sequence[str], people: Values | None, exam: Values, trend: tuple[OverlapTrend, float], seed: int
) -> dict[str, Any]:
    """Tau and differences with intervals from resampling people's questions and the exam's, each by themselves.

    `trend` is that of the exam's queries, with the overlap to read it at.
    """
    by_overlap, overlap_people = trend
    rng = np.random.default_rng(seed)
    means = []
    for values in (people, exam):
        if values is None:
            means.append(np.full((BOOTSTRAP_DRAWS + 1, len(names)), np.nan))
            continue
        count = values.shape[1]
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=BOOTSTRAP_DRAWS)
        # The first row is the sample itself.
        means.append(np.vstack([values.mean(axis=1), drawn @ values.T / count]))
    pairs = list(combinations(range(len(names)), 2))
    gaps = [np.array([each[:, i] - each[:, j] for i, j in pairs]) for each in means]
    found = []
    for place, (i, j) in enumerate(pairs):
        by_people, by_exam, gap = map(_interval, (gaps[0][place], gaps[1][place], gaps[1][place] - gaps[0][place]))
        adjusted, slope = by_overlap.difference(i, j, overlap_people), by_overlap.slope(i, j)
        found.append(RetrieverDifference(names[i], names[j], by_people, by_exam, gap, adjusted, slope))
    signs = [np.sign(np.round(each, TIE_DIGITS)) for each in gaps]
    ties = np.sqrt((signs[0] ** 2).sum(axis=0) * (signs[1] ** 2).sum(axis=0))
    taus = np.divide((signs[0] * signs[1]).sum(axis=0), ties, out=np.full(len(ties), np.nan), where=ties > 0)
    return {"tau": _interval(taus), "differences": tuple(found)}


def passage_overlap(text: str, chunk: Chunk) -> float:
    """The overlap of a question with a passage, by the words of the passage's language."""
    return overlap(text, f"{chunk.title} {chunk.text}", chunk.language)


def _interval(draws: Values) -> IntervalEstimate:
    """The first value with the interval of the others; NaN where nothing is known."""
    return percentile_interval(float(draws[0]), draws[1:], INTERVAL_LEVEL)


def unheard(users: Sequence[UserQuestion], chunks: Sequence[Chunk]) -> int:
    """How many questions share no content word with the corpus: in another language, or about something else."""
    known: dict[str, set[str]] = {}
    for chunk in chunks:
        known.setdefault(chunk.language, set()).update(content_stems(f"{chunk.title} {chunk.text}", chunk.language))
    return sum(all(each.isdisjoint(content_stems(one.text, code)) for code, each in known.items()) for one in users)
