"""Nuggetizer's scores: which share of a topic's nuggets an answer supports, from assignment files.

Each topic has nuggets with an importance (`vital` 1, `okay` 0.5) and a label of the answer's support (`support` 1,
`partial_support` 0.5, `not_support` 0); labels outside these weigh nothing, count as no support, and are counted by
name. Scores are strict (full support alone) or not, over the vital nuggets, over all, or over all by their weight
(Pradeep et al. 2024, TREC RAG 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examcore import BOOTSTRAP_DRAWS, INTERVAL_LEVEL, IntervalEstimate, bootstrap_mean, json_kind, read_text, shown_json
from grading._table_rows import Columns, FileRow, read_rows
from grading.formats._score_tables import SYSTEM, ScoreTable, table_of

SUPPORT: Mapping[str, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
IMPORTANCE: Mapping[str, float] = {"vital": 1.0, "okay": 0.5}
METRICS = (
    "strict_vital_score",
    "vital_score",
    "strict_weighted_score",
    "weighted_score",
    "strict_all_score",
    "all_score",
)
"""The names of the published metric files."""

_TOPIC: Columns = {"qid": ("topic", "topic_id", "query_id")}
_RUN: Columns = {"run_id": ("system", *(name for name in SYSTEM["system"] if name != "run_id"))}


class Nugget(NamedTuple):
    """A nugget as a judge labelled it for one answer; labels as they stand in the file."""

    text: str
    importance: str
    support: str


class Assignments(NamedTuple):
    """The labelled nuggets of one system's answers: topic -> nuggets."""

    run: str
    topics: Mapping[str, tuple[Nugget, ...]]

    def unknown(self) -> dict[str, dict[str, int]]:
        """The labels outside the vocabulary with their counts, the commonest first: `importance` and `support`."""
        nuggets = [one for topic in self.topics.values() for one in topic]
        return {
            "importance": _outside((one.importance for one in nuggets), IMPORTANCE),
            "support": _outside((one.support for one in nuggets), SUPPORT),
        }


class NuggetScores(NamedTuple):
    """Scores of one system: per topic (NaN where no nugget of the wanted importance is) and their mean over topics.

    `undefined` names, for each metric, the topics that its mean leaves out.
    """

    run: str
    topics: Mapping[str, Mapping[str, float]]
    overall: Mapping[str, IntervalEstimate]
    undefined: Mapping[str, Sequence[str]]


def read_assignments(path: str | Path) -> list[Assignments]:
    """The runs of a file of assignments, one topic a line: `qid, run_id, nuggets[{text, importance, assignment}]`.

    A file without `run_id` is one run, named like the file. Raises `ValueError` (file:line, found, wanted) for a line
    without topic or nuggets, a nugget without its labels, and a topic that stands twice in a run.
    """
    runs: dict[str, dict[str, tuple[Nugget, ...]]] = {}
    for row in read_rows(path, {**_TOPIC, "nuggets": ()}, _RUN):
        topic, run = row.text("qid"), row.text("run_id", Path(path).name.partition(".")[0])
        if topic in runs.setdefault(run, {}):
            raise ValueError(f"{row.place}: topic {topic!r} stands twice in run {run!r}; wanted it once")
        runs[run][topic] = _nuggets(row)
    return [Assignments(run, topics) for run, topics in runs.items()]


def read_all_assignments(paths: Sequence[str | Path]) -> list[Assignments]:
    """The runs of several files; `ValueError` for one that stands in two of them."""
    places: dict[str, tuple[int, Path]] = {}
    found = []
    for here in enumerate(map(Path, paths)):
        for run in read_assignments(here[1]):
            before = places.setdefault(run.run, here)
            if before != here:
                raise ValueError(f"{here[1]}: run {run.run!r} stands in {before[1]} already; wanted distinct runs")
            found.append(run)
    return found


def is_assignments(path: str | Path) -> bool:
    """Whether a JSON-lines file begins with an object that has a list of nuggets, as assignments have."""
    path = Path(path)
    if not path.name.lower().removesuffix(".gz").endswith((".jsonl", ".json")):
        return False
    line = next((one for one in read_text(path).split("\n") if one.strip()), "")
    return line.lstrip().startswith("{") and '"nuggets"' in line


def topic_scores(nuggets: Sequence[Nugget]) -> dict[str, float]:
    """The six scores of one answer, 0 to 1; NaN where the nuggets that a score is over weigh nothing."""
    support = np.array([SUPPORT.get(one.support, 0.0) for one in nuggets])
    importance = np.array([IMPORTANCE.get(one.importance, 0.0) for one in nuggets])
    weights = {"vital": (importance == 1).astype(float), "weighted": importance, "all": np.ones(len(nuggets))}
    scores = {}
    for metric in METRICS:
        weight = weights[metric.removeprefix("strict_").removesuffix("_score")]
        earned = (support == 1).astype(float) if metric.startswith("strict_") else support
        scores[metric] = float(weight @ earned / weight.sum()) if weight.sum() else np.nan
    return scores


def score_run(
    assignments: Assignments, *, level: float = INTERVAL_LEVEL, draws: int = BOOTSTRAP_DRAWS, seed: int = 0
) -> NuggetScores:
    """Scores per topic and their means with bootstrap intervals over topics."""
    topics = {topic: topic_scores(nuggets) for topic, nuggets in assignments.topics.items()}
    values = {metric: np.array([scores[metric] for scores in topics.values()]) for metric in METRICS}
    overall = {
        metric: bootstrap_mean(found[np.isfinite(found)], level=level, draws=draws, seed=seed)
        for metric, found in values.items()
    }
    undefined = {metric: [topic for topic, scores in topics.items() if np.isnan(scores[metric])] for metric in METRICS}
    return NuggetScores(assignments.run, topics, overall, {name: left for name, left in undefined.items() if left})


def table_of_scores(scores: Sequence[NuggetScores], metric: str) -> ScoreTable:
    """One metric of several runs as a table of systems and topics."""
    return table_of({(run.run, topic): one[metric] for run in scores for topic, one in run.topics.items()}, metric)


class SharedNuggets(NamedTuple):
    """How many systems support each nugget that all were judged on, and how many nuggets could not be matched.

    `supported_by[k]` nuggets have the full support of exactly k systems. Nuggets are matched by topic and text:
    `repeated` texts stand twice in a topic, `partly_judged` are missing in some system; both are left out.
    """

    supported_by: tuple[int, ...]
    repeated: tuple[tuple[str, str], ...]
    partly_judged: tuple[tuple[str, str], ...]


def shared_nuggets(runs: Sequence[Assignments]) -> SharedNuggets:
    """Count the nuggets that no, one, … every system fully supports."""
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


def _outside(labels: Iterable[str], vocabulary: Mapping[str, float]) -> dict[str, int]:
    return dict(Counter(one for one in labels if one not in vocabulary).most_common())
