"""Retrieval measures of runs against qrels, computed by ir_measures (trec_eval's code), per topic and as a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from examcore import shown_json
from grading.formats._trec import Qrels, TrecRun
from grading.leaderboards._standings import Table

DEFAULT = ("MAP", "nDCG@20", "nDCG@10", "Rprec", "MRR", "P@5", "P@10", "P@20")
ALIASES = {"MAP": "AP", "MRR": "RR"}
MOST = 1_000_000_000
"""The highest cutoff and level that trec_eval's code can hold."""
Over = Literal["all", "common"]


@dataclass(frozen=True)
class Effectiveness:
    """Scores `measure -> run -> topic`, and what the topics were.

    `topics` are those averaged over; the measures `summed` are counts (`num_ret`), of which trec_eval gives the sum.
    `skipped` (run -> topics of the qrels that it does not answer, each scored 0 when averaging over all), `unjudged`
    (run -> its topics without qrels, which take no part) and `without_relevant` (topics no document of which reaches
    the level: every measure with a level is 0 there) say where the means come from.
    """

    scores: Mapping[str, Table]
    topics: tuple[str, ...]
    summed: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, tuple[str, ...]]
    without_relevant: tuple[str, ...]


def measure_runs(
    qrels: Qrels,
    runs: Sequence[TrecRun],
    measures: Sequence[str] = DEFAULT,
    *,
    rel: int = 1,
    depth: int | None = None,
    over: Over = "all",
) -> Effectiveness:
    """Measure runs, named as in ir_measures (`nDCG@20`, `P@5`) or trec_eval (`ndcg_cut_20`, `P_5`, `map`).

    `rel` is the least grade that counts as relevant (trec_eval's `-l`; nDCG takes the grades themselves), `depth` the
    number of documents read per topic (`-M`). `over="all"` averages over every topic of the qrels, a topic that a run
    skips counting 0 (`-c`); `"common"` over the topics that all the runs answer. Raises `ValueError` for an unknown
    measure, a level below 1 (unjudged documents would be relevant) and where no topic is left.
    """
    if rel < 1:
        raise ValueError(f"rel: {rel}; wanted at least 1, for a grade of 0 is not relevant")
    if not runs:
        raise ValueError("runs: found none; wanted at least one")
    known = {name: parse_measure(name, rel) for name in measures}
    topics = tuple(topic for topic in qrels if over == "all" or all(topic in run.rankings for run in runs))
    answered = {run.name: [topic for topic in qrels if topic in run.rankings] for run in runs}
    for run in runs:
        if not answered[run.name]:
            raise ValueError(_apart(qrels, run))
    if not topics:
        raise ValueError("runs and qrels: no topic is in all of them; wanted a common topic")
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in measures}
    for run in runs:
        found = _calculated(known, {topic: qrels[topic] for topic in answered[run.name]}, run, depth)
        for name in measures:
            scores[name][run.name] = {topic: found[name].get(topic, 0.0) for topic in topics}
    return Effectiveness(
        scores,
        topics,
        tuple(name for name, one in known.items() if type(one.aggregator()).__name__ == "SumAgg"),
        {run.name: tuple(topic for topic in qrels if topic not in run.rankings) for run in runs},
        {run.name: tuple(topic for topic in run.rankings if topic not in qrels) for run in runs},
        tuple(topic for topic in topics if all(grade < rel for grade in qrels[topic].values())),
    )


def parse_measure(name: str, rel: int = 1) -> Any:
    """The measure of ir_measures that a name stands for, with the relevance level where it takes one."""
    import ir_measures

    measure = None
    for parse in (ir_measures.parse_measure, ir_measures.parse_trec_measure):
        if measure is None:
            measure = _parsed(parse, ALIASES.get(name, name))
    if measure is None:
        some = f"{', '.join(DEFAULT[:4])}, ndcg_cut_10"
        raise ValueError(f"measure {shown_json(name)}: unknown; wanted names such as {some}, as ir_measures has them")
    for part in ("cutoff", "rel"):
        # trec_eval's code ends the whole process where such a number is 0.
        if not 1 <= measure.params.get(part, 1) <= MOST:
            raise ValueError(f"measure {shown_json(name)}: {part} {measure.params[part]}; wanted from 1 to {MOST}")
    levelled = "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params
    return measure(rel=rel) if levelled and rel != 1 else measure


def _parsed(parse: Any, name: str) -> Any:
    try:
        found = parse(name)
    except (ValueError, NameError, KeyError, SyntaxError, TypeError, AttributeError, AssertionError):
        return None
    if isinstance(found, list):
        return found[0] if len(found) == 1 else None
    return found


def _calculated(known: Mapping[str, Any], qrels: Qrels, run: TrecRun, depth: int | None) -> dict[str, dict[str, float]]:
    import ir_measures

    rankings = {topic: dict(run.rankings[topic][:depth]) for topic in qrels}
    judged = {topic: dict(grades) for topic, grades in qrels.items()}
    found: dict[str, dict[str, float]] = {name: {} for name in known}
    for name, measure in known.items():
        try:
            for one in ir_measures.iter_calc([measure], judged, rankings):
                found[name][one.query_id] = float(one.value)
        except (ValueError, RuntimeError, AssertionError, KeyError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(
                f"measure {shown_json(name)}: not to be computed ({reason}); wanted such as P@10"
            ) from None
    return found


def _apart(qrels: Qrels, run: TrecRun) -> str:
    first, second = next(iter(run.rankings)), next(iter(qrels))
    return (
        f"run {run.name!r}: topics such as {first!r}, the qrels' such as {second!r}, none in both; wanted common topics"
    )
