"""The Nuggetizer's scores: the share of a topic's nuggets that an answer supports, from assignment files.

Each nugget of a topic has an importance (`vital` 1, `okay` 0.5) and a label of the answer's support (`support` 1,
`partial_support` 0.5, `not_support` 0); other labels weigh nothing or count as no support, and are counted by name.
Scores are strict (full support only) or not, over the vital nuggets, over all, or over all by weight (Pradeep et al.
2024, TREC RAG 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from examcore import IntervalEstimate, json_kind, read_text, shown_json
from grading._file_rows import Columns, FileRow, holds_json, read_rows
from grading._records import SAMPLING, Grade, Sampling
from grading.formats._grades import SUPPORT, ReadGrades
from grading.formats._score_tables import SYSTEM, ScoreTable, table_of

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


class Nugget(NamedTuple):
    """A nugget as a judge labelled it for one answer; labels as in the file."""

    text: str
    importance: str
    support: str


class Assignments(NamedTuple):
    """The labelled nuggets of one system's answers: topic -> nuggets."""

    run: str
    topics: Mapping[str, tuple[Nugget, ...]]

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

    run: str
    topics: Mapping[str, Mapping[str, float]]
    overall: Mapping[str, IntervalEstimate]
    undefined: Mapping[str, Sequence[str]]


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
    size = sum(map(len, run.topics.values()))
    for which, known in (("importance", IMPORTANCE), ("support", SUPPORT)):
        strange = run.unknown()[which]
        if size and sum(strange.values()) == size:
            raise ValueError(
                f"{path}: none of the {size} labels of {which} of run {run.run!r} is known (such as "
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
    return NuggetScores(assignments.run, topics, overall, {name: left for name, left in undefined.items() if left})


def table_of_scores(scores: Sequence[NuggetScores], metric: str) -> ScoreTable:
    """One metric of several runs as a table of systems and topics."""
    return table_of({(run.run, topic): one[metric] for run in scores for topic, one in run.topics.items()}, metric)


class SharedNuggets(NamedTuple):
    """How many systems support each nugget, and the nuggets that could not be matched between systems.

    `supported_by[k]` nuggets have the full support of exactly k systems. Nuggets are matched by topic and text; left
    out are those `repeated` in a topic of some system and those `partly_judged`, which some system lacks.
    """

    supported_by: tuple[int, ...]
    repeated: tuple[tuple[str, str], ...]
    partly_judged: tuple[tuple[str, str], ...]


def shared_nuggets(runs: Sequence[Assignments]) -> SharedNuggets:
    """Count the nuggets that none, one, … all of the systems fully support."""
    counted = [Counter((topic, one.text) for topic, nuggets in run.topics.items() for one in nuggets) for run in runs]
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
