"""The answer store: one row per exam, pipeline and question, written exactly once.

A run may be stopped at any moment. What is committed stays, and what is missing is what `pending` lists. One process
writes at a time; a store bound to other questions or other settings refuses rather than mixes.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from examcore import Exam, FailedError, write_text
from rag.grid._pipeline import FACETS, FACTORS, Pipeline

VERSION = 4
"""Of the schema; kept as SQLite's `user_version`."""

SCHEMA = """
CREATE TABLE exams (exam TEXT PRIMARY KEY, questions INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pipelines (
    pipeline TEXT PRIMARY KEY, llm TEXT NOT NULL, retriever TEXT NOT NULL, icl INTEGER NOT NULL, settings TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE answers (
    exam TEXT NOT NULL, pipeline TEXT NOT NULL, question TEXT NOT NULL,
    chosen INTEGER NOT NULL, correct INTEGER NOT NULL, normalization TEXT NOT NULL,
    log_likelihoods TEXT NOT NULL, choice_tokens TEXT NOT NULL, unconditional TEXT NOT NULL,
    passages TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    reply TEXT NOT NULL DEFAULT '', cut INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (exam, pipeline, question)
) WITHOUT ROWID;
"""
JUDGMENTS = """
CREATE TABLE judgments (
    exam TEXT NOT NULL, pipeline TEXT NOT NULL, question TEXT NOT NULL,
    chosen INTEGER NOT NULL, correct INTEGER NOT NULL, judge TEXT NOT NULL,
    PRIMARY KEY (exam, pipeline, question)
) WITHOUT ROWID;
"""
"""What a judge makes of replies whose choice no rule can tell; it goes before what `answers` says."""

UPGRADES = (
    "ALTER TABLE answers ADD COLUMN reply TEXT NOT NULL DEFAULT '';",
    "ALTER TABLE answers ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;",
    JUDGMENTS,
)
"""The step from version 1 to 2, from 2 to 3, and from 3 to 4."""

LISTS = ("log_likelihoods", "choice_tokens", "unconditional", "passages")
"""Columns that hold JSON."""


@dataclass(frozen=True)
class Answer:
    """One pipeline's answer to one question.

    `log_likelihoods` are sums over each choice's tokens, `unconditional` the sums after a prompt without a question;
    both, and `normalization`, are empty if the examinee gives none. `chosen` is -1 if no choice was chosen. `passages`
    are the ids of the chunks in the prompt, best first; `cut` counts the characters of passages that were left out of a
    prompt that was too long. `seconds` is this answer's share of its prompt's time; `reply` is the text written, if
    any, and `judge` who says which choice it states, where no rule does. `chosen` is -2 where it says that it cannot
    answer.
    """

    pipeline: str
    question: str
    chosen: int
    correct: bool
    normalization: str
    log_likelihoods: tuple[float, ...]
    choice_tokens: tuple[int, ...]
    unconditional: tuple[float, ...]
    passages: tuple[str, ...]
    prompt_tokens: int
    seconds: float
    reply: str = ""
    cut: int = 0
    judge: str = ""


COLUMNS = tuple(one.name for one in fields(Answer) if one.name != "judge")
"""The columns of an answer, after that of its exam."""
_JUDGED = "answers LEFT JOIN judgments USING (exam, pipeline, question)"
_CHOSEN = "ifnull(judgments.chosen, answers.chosen)"
_CORRECT = "ifnull(judgments.correct, answers.correct)"
_READ = ", ".join({"chosen": _CHOSEN, "correct": _CORRECT}.get(one, one) for one in COLUMNS)


class PipelineOutcome(NamedTuple):
    """Counts of one pipeline's answers: all, right, without a choice, to a shortened prompt, and declined."""

    answered: int
    right: int
    unparsed: int
    truncated: int
    abstained: int


class UnclearReply(NamedTuple):
    """A reply whose choice no rule can tell."""

    pipeline: str
    question: str
    reply: str


class JudgedReply(NamedTuple):
    """What a judge says that a reply states: the index of a choice, -1 for none of them, -2 for no answer at all."""

    pipeline: str
    question: str
    chosen: int
    correct: bool


class AnswerStore:
    """Answers in one SQLite file. Reading is always possible; writing only between `begin` and `close`.

    Raises ValueError for a file that is no store or has a newer version, OSError when the disk fails.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._exam = ""
        # The system releases this lock when its process ends, so that a killed run never blocks the next one; readers
        # of the answers need none.
        self._lock = FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=0, thread_local=False)
        with self._explained():
            self._db = sqlite3.connect(self.path, isolation_level="IMMEDIATE", timeout=10)
            self._prepare()
            # With a write-ahead log, the commits of a killed process stay; only a power cut may lose the last answers.
            self._db.execute("PRAGMA synchronous = NORMAL")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, exam: Exam, settings: Mapping[Pipeline, Mapping[str, object]]) -> None:
        """Become the only writer of answers to this exam by these pipelines, each under its settings.

        Raises `FailedError` when another process writes, ValueError when the store holds answers to another exam or
        when a pipeline has answered under different settings.
        """
        if not self._lock.is_locked:
            try:
                self._lock.acquire()
            except Timeout:
                raise self._second_writer() from None
        try:
            with self._explained(), self._db:
                if self.exam not in ("", exam.hash):
                    raise ValueError(
                        f"{self.path}: holds answers to exam {self.exam}; wanted exam {exam.hash} (use another folder)"
                    )
                self._db.execute("INSERT OR IGNORE INTO exams VALUES (?, ?)", (exam.hash, len(exam)))
                self._register(settings)
        except BaseException:
            self._lock.release(force=True)
            raise
        self._exam = exam.hash

    def settle(self, settings: Mapping[Pipeline, Mapping[str, object]]) -> None:
        """Add settings that are known only later, such as those of the loaded model; raises as `begin` does."""
        self._writing()
        with self._explained(), self._db:
            self._register(settings)

    def pending(self, exam: Exam, pipelines: Sequence[Pipeline]) -> list[tuple[Pipeline, str]]:
        """The (pipeline, question id) pairs without an answer, in grid and exam order."""
        done = set(self._rows("SELECT pipeline, question FROM answers WHERE exam = ?", exam.hash))
        return [(one, question) for one in pipelines for question in exam.ids if (one.id, question) not in done]

    def add(self, *answers: Answer) -> None:
        """Write answers, all or none. Raises ValueError when one is already there or before `begin`."""
        self._writing()
        marks = ", ".join("?" * (1 + len(COLUMNS)))
        rows = [(self._exam, *_row(answer)) for answer in answers]
        try:
            with self._explained(), self._db:
                self._db.executemany(f"INSERT INTO answers (exam, {', '.join(COLUMNS)}) VALUES ({marks})", rows)
        except sqlite3.IntegrityError as error:
            raise ValueError(f"{self.path}: an answer is already there ({error}); wanted each answer once") from None

    def answers(self) -> list[Answer]:
        """All answers, by pipeline and question id."""
        rows = self._rows(f"SELECT {_READ}, ifnull(judge, '') FROM {_JUDGED} ORDER BY pipeline, question")
        return [_answer(row) for row in rows]

    def unclear(self, exam: Exam, judge: str) -> list[UnclearReply]:
        """The free-text replies whose choice no rule can tell and this judge has not judged."""
        asked = self.free_text()
        rows = self._rows(
            "SELECT pipeline, question, reply FROM answers WHERE exam = ? AND chosen = -1 AND reply <> '' "
            "AND NOT EXISTS (SELECT 1 FROM judgments j WHERE (j.exam, j.pipeline, j.question) = "
            "(answers.exam, answers.pipeline, answers.question) AND judge = ?) ORDER BY pipeline, question",
            exam.hash,
            judge,
        )
        return [UnclearReply(*row) for row in rows if row[0] in asked]

    def judge(self, judge: str, *judgments: JudgedReply) -> None:
        """Write judgments, all or none, in place of those of other judges. Raises ValueError before `begin`."""
        self._writing()
        rows = [(self._exam, *one, judge) for one in judgments]
        with self._explained(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO judgments VALUES (?, ?, ?, ?, ?, ?)", rows)

    def withdraw_judgments(self, judge: str = "") -> None:
        """Take out the judgments of all judges but this one. Raises ValueError before `begin`."""
        self._writing()
        with self._explained(), self._db:
            self._db.execute("DELETE FROM judgments WHERE exam = ? AND judge <> ?", (self._exam, judge))

    def outcomes(self) -> dict[str, PipelineOutcome]:
        """The counts of each pipeline that has answered any question, by its id."""
        rows = self._rows(
            f"SELECT pipeline, count(*), sum({_CORRECT}), sum({_CHOSEN} = -1), sum(cut > 0), sum({_CHOSEN} = -2) "
            f"FROM {_JUDGED} GROUP BY pipeline"
        )
        return {str(name): PipelineOutcome(*counts) for name, *counts in rows}

    @property
    def exam(self) -> str:
        """The hash of the exam that the answers belong to; empty before the first `begin`."""
        return next((str(name) for (name,) in self._rows("SELECT exam FROM exams")), "")

    def pipelines(self) -> list[Pipeline]:
        """The pipelines that have started to answer, by id."""
        rows = self._rows("SELECT llm, retriever, icl, settings FROM pipelines ORDER BY pipeline")
        return [Pipeline(*names, **json.loads(settings).get("factors", {})) for *names, settings in rows]

    def free_text(self) -> set[str]:
        """The ids of pipelines that answer in free text: models that write, and systems that are shown no choices."""
        models = {one.id: self.settings(one.id).get("model") for one in self.pipelines()}
        shown = {"answers": "endpoint", "choices": False}
        return {
            name
            for name, one in models.items()
            if isinstance(one, dict) and (one.get("answers") == "text" or one.items() >= shown.items())
        }

    def settings(self, pipeline: str) -> dict[str, object]:
        """The settings under which a pipeline has answered; empty if it has not."""
        rows = self._rows("SELECT settings FROM pipelines WHERE pipeline = ?", pipeline)
        return dict(json.loads(rows[0][0])) if rows else {}

    def to_responses_csv(self, path: Path, exam: Exam, pipelines: Sequence[Pipeline]) -> None:
        """Write long responses `student,item,score,llm,retriever,icl[,passages][,budget]` in grid and exam order.

        A question that a pipeline has not answered has an empty score.
        """
        write_responses(path, exam.ids, pipelines, self.scores(exam))

    def scores(self, exam: Exam) -> dict[tuple[str, str], int]:
        """1 for right and 0 for wrong, by pipeline id and question id, for all answered questions."""
        rows = self._rows(f"SELECT pipeline, question, {_CORRECT} FROM {_JUDGED} WHERE exam = ?", exam.hash)
        return {(pipeline, question): correct for pipeline, question, correct in rows}

    def close(self) -> None:
        """End writing and close the file; closing twice does nothing."""
        self._lock.release(force=True)
        self._db.close()

    def _rows(self, query: str, *values: str) -> list[Any]:
        with self._explained():
            return self._db.execute(query, values).fetchall()

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise ValueError(
                f"{self.path}: answer store of version {version}; wanted at most {VERSION} (newer ragexam)"
            )
        if version == VERSION:
            return
        if version:
            steps = " ".join(UPGRADES[version - 1 :])
            self._db.executescript(f"BEGIN IMMEDIATE; {steps} PRAGMA user_version = {VERSION}; COMMIT;")
            return
        if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise ValueError(f"{self.path}: another program's database; wanted an answer store")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} {JUDGMENTS} PRAGMA user_version = {VERSION}; COMMIT;")

    def _second_writer(self) -> FailedError:
        return FailedError(f"{self.path}: another process is writing answers; wanted one writer at a time")

    def _writing(self) -> None:
        if not self._lock.is_locked:
            raise ValueError(f"{self.path}: not begun; wanted begin(exam, settings) before writing")

    def _register(self, settings: Mapping[Pipeline, Mapping[str, object]]) -> None:
        for pipeline, chosen in settings.items():
            before = self.settings(pipeline.id)
            factors = {"factors": pipeline.factors} if pipeline.factors else {}
            now: dict[str, object] = json.loads(json.dumps({**chosen, **factors}))
            # Settings that only one side has are no difference: some are stored later, such as those of the loaded
            # model.
            common = {name: before[name] for name in before if name in now}
            if found := differences(common, {name: now[name] for name in now if name in before}):
                raise ValueError(
                    f"{self.path}: pipeline {pipeline.id} answered under other settings ({'; '.join(found)}); "
                    "wanted those stored (undo the change), or another run folder"
                )
            text = json.dumps({**before, **now}, sort_keys=True, ensure_ascii=False)
            row = (pipeline.id, pipeline.llm, pipeline.retriever, pipeline.shots, text)
            self._db.execute("INSERT OR REPLACE INTO pipelines VALUES (?, ?, ?, ?, ?)", row)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite's errors into one line about this file."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise self._second_writer() from None
            kind = FailedError if "full" in str(error) else OSError
            raise kind(f"{self.path}: {error}; earlier answers are intact") from None
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path}: {error}; wanted an answer store") from None


def write_responses(
    path: Path,
    items: Sequence[str],
    pipelines: Sequence[Pipeline],
    scores: Mapping[tuple[str, str], int],
    trials: Mapping[tuple[str, str], int] | None = None,
) -> None:
    """Write `responses_text` in one step."""
    write_text(path, [responses_text(items, pipelines, scores, trials)])


def responses_text(
    items: Sequence[str],
    pipelines: Sequence[Pipeline],
    scores: Mapping[tuple[str, str], int],
    trials: Mapping[tuple[str, str], int] | None = None,
) -> str:
    """Long responses `student,item,score,llm,retriever,icl[,trials]`; no score: not asked.

    Further factors of the pipelines are columns after `icl`. `scores` and `trials` go by pipeline id and item; with
    `trials`, a score is the number of right answers among that many.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    facets = [*FACETS, *(one for one in FACTORS if any(one in pipeline.factors for pipeline in pipelines))]
    writer.writerow(["student", "item", "score", *facets, *(["trials"] if trials is not None else [])])
    for one in pipelines:
        levels = [one.facets.get(facet, "") for facet in facets]
        for item in items:
            asked = [trials.get((one.id, item), 1)] if trials is not None else []
            writer.writerow([one.id, item, scores.get((one.id, item), ""), *levels, *asked])
    return table.getvalue()


def _row(answer: Answer) -> list[object]:
    values = ((name, getattr(answer, name)) for name in COLUMNS)
    return [json.dumps(value, ensure_ascii=False) if name in LISTS else value for name, value in values]


def _answer(row: Sequence[Any]) -> Answer:
    found = dict(zip((*COLUMNS, "judge"), row, strict=True))
    lists = {name: tuple(json.loads(found[name])) for name in LISTS}
    return Answer(**{**found, **lists, "correct": bool(found["correct"])})


def differences(stored: Mapping[str, object], now: Mapping[str, object], path: str = "") -> list[str]:
    """`exam.questions: stored 60, now 80` for each setting that differs, at any depth; empty when none does.

    In the order of `now`; settings that only `stored` has come last. None counts as a missing setting.
    """
    found: list[str] = []
    for key in [*now, *(key for key in stored if key not in now)]:
        before, after = stored.get(key), now.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            found += differences(before, after, f"{path}{key}.")
        elif before != after:
            found.append(f"{path}{key}: stored {_shown(before)}, now {_shown(after)}")
    return found


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)
