"""The Nuggetizer's scores: the share of a topic's nuggets that an answer supports, from assignment files.

Each nugget of a topic has an importance (`vital` 1, `okay` 0.5) and a label of the answer's support (`support` 1,
`partial_support` 0.5, `not_support` 0); other labels weigh nothing or count as no support, and are counted by name.
Scores are strict (full support only) or not, over the vital nuggets, over all, or over all by weight (Pradeep et al.
2024, TREC RAG 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from examcore import IntervalEstimate, json_kind, read_text, shown_json
from examcore.console import interval_text
from grading._file_rows import Columns, FileRow, holds_json, read_rows
from grading._printing import shortened
from grading._records import SAMPLING, Grade, Sampling, SystemScores
from grading.formats._grades import SUPPORT, ReadGrades
from grading.formats._score_tables import SYSTEM, ScoreTable, table_of
from grading.leaderboards._paired import Comparison, Pairs, compare_systems

IMPORTANCE: Mapping[str, float] = {"vital": 1.0, "okay": 0.5}
Metric = Literal[
    "strict_vital_score",
    "vital_score",
    "strict_weighted_score",
    "weighted_score",
    "strict_all_score",
    "all_score",
]
METRICS: tuple[str, ...] = get_args(Metric)
"""The names of the published metric files."""

_TOPIC: Columns = {"qid": ("topic", "topic_id", "query_id")}
_RUN: Columns = {"run_id": ("system", *(name for name in SYSTEM["system"] if name != "run_id"))}


_UNKNOWN = {"importance": "weigh nothing", "support": "count as no support"}
"""What labels outside the vocabulary count."""


class Nugget(NamedTuple):
    """A nugget as a judge labelled it for one answer; labels as in the file."""

    text: str
    importance: str
    support: str


class Assignments(NamedTuple):
    """The labelled nuggets of one system's answers: topic -> nuggets."""

    run: str
    topics: Mapping[str, tuple[Nugget, ...]]

    @property
    def size(self) -> int:
        """How many nuggets there are, over all topics."""
        return sum(map(len, self.topics.values()))

    def unknown(self) -> dict[str, dict[str, int]]:
        """The labels of `importance` and `support` outside the vocabulary with their counts, the most common first."""
        nuggets = [one for topic in self.topics.values() for one in topic]
        importance = Counter(one.importance for one in nuggets if one.importance not in IMPORTANCE)
        support = Counter(one.support for one in nuggets if one.support not in SUPPORT)
        return {"importance": dict(importance.most_common()), "support": dict(support.most_common())}


class NuggetScores(NamedTuple):
    """Scores of one system: per topic (NaN without nuggets of that importance), and their mean over topics.

    `undefined` lists, for each metric, the topics that its mean leaves out.
    """

    assignments: Assignments
    topics: Mapping[str, Mapping[str, float]]
    overall: Mapping[str, IntervalEstimate]
    undefined: Mapping[str, Sequence[str]]

    @property
    def run(self) -> str:
        """The system's name."""
        return self.assignments.run

    def record(self) -> dict[str, Any]:
        """The scores as JSON types."""
        return {
            "run": self.run,
            "n_topics": len(self.topics),
            "n_nuggets": self.assignments.size,
            "topics": self.topics,
            "all": self.overall,
            "unknown_labels": self.assignments.unknown(),
            "undefined": self.undefined,
        }

    def lines(self, level: float) -> Iterator[str]:
        """The scores for a reader, with intervals of a level."""
        size = self.assignments.size
        yield f"{self.run}: {len(self.topics)} topics, {size} nuggets, {level:.0%} intervals over topics"
        for metric, value in self.overall.items():
            yield f"  {metric:<22} {interval_text(value)}"
        for which, counts in self.assignments.unknown().items():
            if counts:
                shown = shortened([f"{name!r} {number}" for name, number in counts.items()])
                yield f"  {sum(counts.values())} unknown labels of {which} {_UNKNOWN[which]}: {shown}"
        for metric, topics in self.undefined.items():
            yield f"  {metric} is undefined on {len(topics)} topics, which its mean leaves out: {shortened(topics)}"


def read_assignments(path: str | Path) -> list[Assignments]:
    """The runs of a file of assignments, one topic per line: `qid, run_id, nuggets[{text, importance, assignment}]`.

    A file without `run_id` is one run, named after the file. Raises `ValueError` (file:line, found, wanted) for a line
    without topic or nuggets, a nugget without its labels, a repeated topic of a run, and a run none of whose labels is
    known.
    """
    runs: dict[str, dict[str, tuple[Nugget, ...]]] = {}
    for row in read_rows(path, {**_TOPIC, "nuggets": ()}, _RUN):
        topic, run = row.text("qid"), row.text("run_id", Path(path).name.partition(".")[0])
        if "docid" in row.fields:
            raise ValueError(
                f"{row.place}: nuggets of passage {row.text('docid')!r}; wanted those of answers (grade cover "
                "and items read nuggets of passages)"
            )
        if topic in runs.setdefault(run, {}):
            raise ValueError(f"{row.place}: topic {topic!r} occurs twice in run {run!r}; wanted it once")
        runs[run][topic] = _nuggets(row)
    found = [Assignments(run, topics) for run, topics in runs.items()]
    for one in found:
        _require_known_labels(path, one)
    return found


def read_all_assignments(paths: Sequence[str | Path]) -> list[Assignments]:
    """The runs of several files; raises `ValueError` for a run that is in two of them."""
    places: dict[str, str | Path] = {}
    found = []
    for path in paths:
        for run in read_assignments(path):
            if run.run in places:
                raise ValueError(f"{path}: run {run.run!r} is also in {places[run.run]}; wanted distinct runs")
            places[run.run] = path
            found.append(run)
    return found


def _require_known_labels(path: str | Path, run: Assignments) -> None:
    for which, known in (("importance", IMPORTANCE), ("support", SUPPORT)):
        strange = run.unknown()[which]
        if run.size and sum(strange.values()) == run.size:
            raise ValueError(
                f"{path}: none of the {run.size} labels of {which} of run {run.run!r} is known (such as "
                f"{next(iter(strange))!r}); wanted {', '.join(known)}"
            )


def is_assignments(path: str | Path) -> bool:
    """Whether a JSON-lines file begins with an object that has a list of nuggets, as assignments have."""
    if not holds_json(path):
        return False
    line = next((one for one in read_text(Path(path)).split("\n") if one.strip()), "")
    return line.lstrip().startswith("{") and '"nuggets"' in line


def topic_scores(nuggets: Sequence[Nugget]) -> dict[str, float]:
    """The six scores of one answer, 0 to 1; NaN where the nuggets of a score have no weight."""
    support = np.array([SUPPORT.get(one.support, 0.0) for one in nuggets])
    importance = np.array([IMPORTANCE.get(one.importance, 0.0) for one in nuggets])
    weights = {"vital": (importance == 1).astype(float), "weighted": importance, "all": np.ones(len(nuggets))}
    scores = {}
    for metric in METRICS:
        weight = weights[metric.removeprefix("strict_").removesuffix("_score")]
        earned = (support == 1).astype(float) if metric.startswith("strict_") else support
        scores[metric] = float(weight @ earned / weight.sum()) if weight.sum() else np.nan
    return scores


def score_run(assignments: Assignments, sampling: Sampling = SAMPLING) -> NuggetScores:
    """The scores per topic and their means with bootstrap intervals over topics."""
    topics = {topic: topic_scores(nuggets) for topic, nuggets in assignments.topics.items()}
    values = {metric: np.array([scores[metric] for scores in topics.values()]) for metric in METRICS}
    overall = {metric: sampling.mean(found[np.isfinite(found)]) for metric, found in values.items()}
    undefined = {metric: [topic for topic, scores in topics.items() if np.isnan(scores[metric])] for metric in METRICS}
    return NuggetScores(assignments, topics, overall, {name: left for name, left in undefined.items() if left})


def table_of_scores(scores: Sequence[NuggetScores], metric: str) -> ScoreTable:
    """One metric of several runs as a table of systems and topics."""
    return table_of({(run.run, topic): one[metric] for run in scores for topic, one in run.topics.items()}, metric)


class NuggetKey(NamedTuple):
    """What a nugget is matched between systems by."""

    topic: str
    text: str


class SharedNuggets(NamedTuple):
    """How many systems support each nugget, and the nuggets that could not be matched between systems.

    `supported_by[k]` nuggets have the full support of exactly k systems. Nuggets are matched by topic and text; left
    out are those `repeated` in a topic of some system and those `partly_judged`, which some system lacks.
    """

    supported_by: tuple[int, ...]
    repeated: tuple[NuggetKey, ...]
    partly_judged: tuple[NuggetKey, ...]


def shared_nuggets(runs: Sequence[Assignments]) -> SharedNuggets:
    """Count the nuggets that none, one, … all of the systems fully support."""
    counted = [
        Counter(NuggetKey(topic, one.text) for topic, nuggets in run.topics.items() for one in nuggets) for run in runs
    ]
    repeated = dict.fromkeys(key for counts in counted for key, number in counts.items() if number > 1)
    every = dict.fromkeys(key for counts in counted for key in counts if key not in repeated)
    partly = tuple(key for key in every if any(key not in counts for counts in counted))
    supporting = Counter(
        (topic, one.text)
        for run in runs
        for topic, nuggets in run.topics.items()
        for one in nuggets
        if one.support == "support"
    )
    matched = Counter(supporting[key] for key in every.keys() - set(partly))
    return SharedNuggets(tuple(matched[number] for number in range(len(runs) + 1)), tuple(repeated), partly)


@dataclass(frozen=True)
class NuggetResult:
    """The scores of one system or several, compared by `metric`; `shown` are the pairs of systems that are printed."""

    systems: Sequence[NuggetScores]
    metric: str
    sampling: Sampling
    shown: Pairs

    @cached_property
    def _tables(self) -> dict[str, ScoreTable]:
        return {name: table_of_scores(self.systems, name) for name in METRICS}

    @cached_property
    def _compared(self) -> dict[str, Comparison]:
        return {name: compare_systems(table, self.sampling) for name, table in self._tables.items()}

    @property
    def _others(self) -> dict[str, Comparison]:
        return {name: one for name, one in self._compared.items() if name != self.metric}

    @cached_property
    def _shared(self) -> SharedNuggets:
        return shared_nuggets([one.assignments for one in self.systems])

    @property
    def by_topic(self) -> SystemScores:
        """The scores by the metric."""
        return {one.run: {name: by[self.metric] for name, by in one.topics.items()} for one in self.systems}

    def record(self) -> dict[str, Any]:
        """The result as JSON types; of one system its scores alone."""
        if len(self.systems) == 1:
            return {"interval": self.sampling.interval, **self.systems[0].record()}
        return {
            "interval": self.sampling.interval,
            "systems": {one.run: one for one in self.systems},
            "metric": self.metric,
            **self._compared[self.metric].record(),
            "by_other_metrics": self._others,
            "supported_by": dict(enumerate(self._shared.supported_by)),
            "unmatched": {
                "repeated_in_topic": self._shared.repeated,
                "not_in_all_systems": self._shared.partly_judged,
            },
            "missing_topics": self._tables[self.metric].missing(),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        lines = [line for one in self.systems for line in one.lines(self.sampling.interval)]
        return [*lines, "", *self._comparison_lines()] if len(self.systems) > 1 else lines

    def _comparison_lines(self) -> Iterator[str]:
        yield from self._compared[self.metric].lines(self.shown)
        yield "beside it, not adjusted for looking at more than one score:"
        yield from (f"  {one.sentence}" for one in self._others.values())
        counts = ", ".join(f"{count} by {number}" for number, count in enumerate(self._shared.supported_by))
        yield from ("", f"nuggets fully supported by so many systems: {counts}")
        unmatched = {"stand twice in a topic": self._shared.repeated, "lack in some system": self._shared.partly_judged}
        for why, nuggets in unmatched.items():
            names = shortened([f"{one.topic} {one.text!r}" for one in nuggets])
            yield from [f"  left out: {len(nuggets)} nuggets that {why}: {names}"] if nuggets else []
        for who, some in self._tables[self.metric].missing().items():
            yield f"{who} lacks {len(some)} topics that others have: {shortened(some)}"


def graded_nuggets(runs: Sequence[Assignments]) -> ReadGrades:
    """Support as grades of the systems by nuggets, named by their text: 1, partial support 0.5, anything else 0.

    Nuggets that cannot be matched between systems are left out. The notes count them and unknown labels.
    """
    shared = shared_nuggets(runs)
    unmatched = {*shared.repeated, *shared.partly_judged}
    grades = tuple(
        Grade(topic, run.run, one.text, SUPPORT.get(one.support, 0.0))
        for run in runs
        for topic, nuggets in run.topics.items()
        for one in nuggets
        if (topic, one.text) not in unmatched
    )
    unknown = Counter[str]()
    for run in runs:
        unknown.update(run.unknown()["support"])
    notes = []
    if unknown:
        named = ", ".join(f"{count} {shown_json(label)}" for label, count in unknown.most_common(5))
        notes.append(f"{unknown.total()} labels are outside the vocabulary and count as no support: {named}.")
    if shared.repeated:
        notes.append(f"{len(shared.repeated)} nuggets occur twice in their topic and are left out.")
    if shared.partly_judged:
        count = len(shared.partly_judged)
        notes.append(f"{count} nuggets were not judged for all {len(runs)} systems and are left out.")
    return ReadGrades(grades, tuple(notes))


def _nuggets(row: FileRow) -> tuple[Nugget, ...]:
    found = row.fields["nuggets"]
    if not isinstance(found, list):
        raise ValueError(f"{row.place}: nuggets are JSON {json_kind(found)}; wanted a list")
    return tuple(_nugget(one, f"{row.place}: nugget {number}") for number, one in enumerate(found, start=1))


def _nugget(found: object, place: str) -> Nugget:
    if not isinstance(found, dict):
        raise ValueError(f"{place}: is {shown_json(found)}; wanted an object with text, importance and assignment")
    fields = [found.get(name, found.get(other)) for name, other in _NUGGET_FIELDS]
    for (name, _), value in zip(_NUGGET_FIELDS, fields, strict=True):
        if not isinstance(value, str):
            raise ValueError(f"{place}: {name} is {shown_json(value)}; wanted text")
    return Nugget(*map(str, fields))


_NUGGET_FIELDS = (("text", "nugget"), ("importance", "importance"), ("assignment", "support"))
