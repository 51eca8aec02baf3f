"""Retrieval measures of runs against qrels, computed by ir_measures (trec_eval's code), per topic and as a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from examcore import IntervalEstimate, shown_json
from grading._printing import few, named, noted, table_lines
from grading._records import SAMPLING, Sampling, SystemScores
from grading.formats._common_parts import require_level, require_shared_passages
from grading.formats._trec import Qrels, TrecRun, read_qrels, read_runs, run_notes
from grading.leaderboards._paired import Pairs, Ranking, pair_lines, ranking

DEFAULT = ("MAP", "nDCG@20", "nDCG@10", "Rprec", "MRR", "P@5", "P@10", "P@20")
ALIASES = {"MAP": "AP", "MRR": "RR"}
MOST = 1_000_000_000
"""The highest cutoff and level that trec_eval's code supports."""
Over = Literal["all", "common"]


@dataclass(frozen=True)
class Effectiveness:
    """Scores `measure -> run -> topic` over `topics` of runs against qrels, with grades from `rel` on as relevant.

    The measures `summed` are counts (`num_ret`), for which trec_eval reports the sum. `shown` are the pairs of runs
    that are printed.
    """

    qrels: Qrels
    runs: Sequence[TrecRun]
    rel: int
    depth: int | None
    over: Over
    scores: Mapping[str, SystemScores]
    topics: tuple[str, ...]
    summed: tuple[str, ...]
    sampling: Sampling
    shown: Pairs

    @property
    def skipped(self) -> dict[str, tuple[str, ...]]:
        """Run -> topics of the qrels that it does not answer, each scored 0 when averaging over all."""
        return {run.name: tuple(topic for topic in self.qrels if topic not in run.rankings) for run in self.runs}

    @property
    def unjudged(self) -> dict[str, tuple[str, ...]]:
        """Run -> its topics without qrels, which are ignored."""
        return {run.name: tuple(topic for topic in run.rankings if topic not in self.qrels) for run in self.runs}

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """Topics without a document of the relevance level, where every measure with a level is 0."""
        return tuple(one for one in self.topics if all(grade < self.rel for grade in self.qrels[one].values()))

    @cached_property
    def rankings(self) -> dict[str, Ranking]:
        """The runs in order by each measure."""
        return {name: ranking(table, self.sampling) for name, table in self.scores.items()}

    @property
    def first(self) -> str:
        """The measure that orders the runs."""
        return next(iter(self.scores))

    @property
    def means(self) -> dict[str, dict[str, IntervalEstimate]]:
        """Measure -> run -> its mean over topics; of a count the sum, as in trec_eval."""
        means = {name: one.means for name, one in self.rankings.items()}
        for name in self.summed:
            for run, mean, topics in self.rankings[name].standings:
                means[name][run] = IntervalEstimate(*(topics * end for end in mean))
        return means

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        means, runs = self.means, [run.name for run in self.runs]
        return {
            "topics": len(self.topics),
            "over": self.over,
            "rel": self.rel,
            "runs": {run: {name: each[run] for name, each in means.items()} for run in runs},
            "per_topic": {
                run: {topic: {name: self.scores[name][run][topic] for name in means} for topic in self.topics}
                for run in runs
            },
            "pairs": {name: one.pairs for name, one in self.rankings.items()},
            "skipped": self.skipped,
            "unjudged": self.unjudged,
            "without_relevant": self.without_relevant,
            "summed": self.summed,
            "warnings": self.notes(),
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        pairs = [f"{self.first}: {line}" for line in pair_lines(self.rankings[self.first].pairs, self.shown)]
        others = len(self.scores) - 1
        pairs += [f"Pairs by the other {others} measures: --json."] if pairs and others else []
        return [*table_lines("run", self.means), *pairs, *noted(self.notes())]

    def notes(self) -> list[str]:
        """How runs were read, what took no part, and what counts 0."""
        effect = "counted 0 in the mean" if self.over == "all" else "left out of the mean"
        notes = run_notes(self.runs)
        for name, topics in self.skipped.items():
            notes += named(f"Topics of the qrels that {name} skips, {effect}", topics)
        for name, topics in self.unjudged.items():
            notes += named(f"Topics of {name} without qrels, which take no part", topics)
        notes += named("Topics without a relevant document, which count 0", self.without_relevant)
        notes += named("Counts, of which the sum over topics is given", self.summed)
        notes += few(len(self.topics), "topics")
        counts = []
        for run in self.runs:
            tops = [(query, one) for query in run.rankings if query in self.qrels for one in run.top(query, self.depth)]
            without = sum(one not in self.qrels[query] for query, one in tops)
            counts += [f"{run.name} {without} of {len(tops)}"] if without else []
        return notes + named("Runs with passages that are not judged, which count as not relevant", counts)


def measure_files(
    path: Path,
    paths: Sequence[Path],
    sampling: Sampling,
    *,
    measures: str | None,
    rel: int,
    depth: int | None,
    over: Over,
    shown: Pairs,
) -> Effectiveness:
    """Measure the runs of some files against the qrels of another; `measures` are names divided by commas.

    Raises `ValueError` as `measure_runs`, for a level that no judgement reaches, and for a run of other passages.
    """
    names = [] if measures is None else [one.strip() for one in measures.split(",")]
    if not all(names):
        raise ValueError(f"--measures {measures!r}: an empty name; wanted names such as MAP,nDCG@20")
    runs, qrels = read_runs(paths), read_qrels(path)
    found = measure_runs(qrels, runs, names or DEFAULT, rel=rel, depth=depth, over=over, sampling=sampling, shown=shown)
    require_level(path, qrels, rel)
    for name in found.scores:
        require_level(path, qrels, parse_measure(name, rel).params.get("rel", 1), name)
    judged = {query: list(one) for query, one in qrels.items()}
    require_shared_passages(paths, runs, path, judged, "judged", depth)
    return found


def measure_runs(
    qrels: Qrels,
    runs: Sequence[TrecRun],
    measures: Sequence[str] = DEFAULT,
    *,
    rel: int = 1,
    depth: int | None = None,
    over: Over = "all",
    sampling: Sampling = SAMPLING,
    shown: Pairs = "neighbours",
) -> Effectiveness:
    """Measure runs, named as in ir_measures (`nDCG@20`, `P@5`) or trec_eval (`ndcg_cut_20`, `P_5`, `map`).

    `rel` is the lowest relevant grade (trec_eval's `-l`; nDCG uses the grades themselves), `depth` the number of
    documents read per topic (`-M`). `over="all"` averages over every topic of the qrels, a topic that a run skips
    counting 0 (`-c`); `"common"` over the topics that all runs answer. Raises `ValueError` for an unknown measure, a
    level below 1 (unjudged documents would be relevant), a run without judged topics, and if no topic is left.
    """
    if rel < 1:
        raise ValueError(f"rel: {rel}; wanted at least 1, since a grade of 0 is not relevant")
    if not runs:
        raise ValueError("runs: found none; wanted at least one")
    known = {name: parse_measure(name, rel) for name in measures}
    topics = tuple(topic for topic in qrels if over == "all" or all(topic in run.rankings for run in runs))
    answered = {run.name: [topic for topic in qrels if topic in run.rankings] for run in runs}
    for run in runs:
        if not answered[run.name]:
            theirs, ours = next(iter(run.rankings)), next(iter(qrels))
            raise ValueError(
                f"run {run.name!r}: topics such as {theirs!r}; wanted some of the qrels', such as {ours!r}"
            )
    if not topics:
        raise ValueError("runs and qrels: no topic is in all of them; wanted a common topic")
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in measures}
    for run in runs:
        found = _calculated(known, {topic: qrels[topic] for topic in answered[run.name]}, run, depth)
        for name in measures:
            scores[name][run.name] = {topic: found[name].get(topic, 0.0) for topic in topics}
    summed = tuple(name for name, one in known.items() if type(one.aggregator()).__name__ == "SumAgg")
    return Effectiveness(qrels, runs, rel, depth, over, scores, topics, summed, sampling, shown)


def parse_measure(name: str, rel: int = 1) -> Any:
    """The measure of ir_measures with a name, at the relevance level `rel` if it takes one and the name has none."""
    import ir_measures

    parsers = (ir_measures.parse_measure, ir_measures.parse_trec_measure)
    found = (_parsed(parse, ALIASES.get(name, name)) for parse in parsers)
    measure = next((one for one in found if one is not None), None)
    if measure is None:
        some = f"{', '.join(DEFAULT[:4])}, ndcg_cut_10"
        raise ValueError(f"measure {shown_json(name)}: unknown; wanted a name of ir_measures, such as {some}")
    for part in ("cutoff", "rel"):
        # trec_eval's code exits the process if such a number is 0.
        if not 1 <= measure.params.get(part, 1) <= MOST:
            raise ValueError(f"measure {shown_json(name)}: {part} {measure.params[part]}; wanted from 1 to {MOST}")
    takes_level = "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params
    return measure(rel=rel) if takes_level and rel != 1 else measure


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
                f"measure {shown_json(name)}: cannot be computed ({reason}); wanted one such as P@10"
            ) from None
    return found
