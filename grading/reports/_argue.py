"""ARGUE: what each sentence of a report with citations is worth (Mayfield et al. 2024, section 4.5 and figure 2).

Yes/no questions lead every sentence to one of eight outcomes. A judge answers the questions: a file of human
judgements, a language model, an entailment model (see `judgments` and `judges`).

| a sentence that | outcome | effect |
|---|---|---|
| cites a document that does not support it | 1 | penalised |
| is supported and answers no nugget bound to the document | 2 | ignored |
| is supported and answers a nugget bound to the document | 3 | rewarded |
| cites nothing and needs not | 4 | ignored |
| cites nothing, needs to, and makes its claim for the first time | 5 | penalised |
| cites nothing, needs to, and repeats a claim | 6 | ignored |
| claims that something is absent, which is no nugget | 7 | penalised |
| claims that something is absent, which is a nugget | 8 | rewarded |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from grading._records import BankQuestion, SystemReport
from grading.formats._bank_files import by_query
from grading.reports._judging_material import Ask, Judge
from grading.reports._sentence_flow import Citations, Flow, SentenceOutcome, named, sentence_flow, wanted_of


def argue(
    reports: Sequence[SystemReport],
    nuggets: Iterable[BankQuestion],
    judge: Judge,
    *,
    citations: Citations = "any",
    skip_unjudged: bool = False,
) -> list[SentenceOutcome]:
    """Every sentence of the reports in order, with its outcome.

    Questions are asked in rounds over all sentences, so that a judge sees them in batches. Raises `ValueError` when a
    judge leaves open what the flow needs, naming the first sentence and the judgement, unless `skip_unjudged`: such
    sentences have no outcome then and count for nothing.
    """
    by_topic = by_query(nuggets)
    flows = [
        sentence_flow(report, index, by_topic.get(report.topic, []), citations)
        for report in reports
        for index in range(len(report.sentences))
    ]
    judged = _run(flows, judge)
    if not skip_unjudged:
        _require_judged(judged)
    return _repeated_told(judged, by_topic)


def _run(flows: Sequence[Flow], judge: Judge) -> list[SentenceOutcome]:
    """Advance all flows in step, with one call of the judge per round."""
    done: dict[int, SentenceOutcome] = {}
    waiting: dict[int, list[Ask]] = {}
    for number, flow in enumerate(flows):
        try:
            waiting[number] = next(flow)
        except StopIteration as stop:
            done[number] = stop.value
    while waiting:
        asks = list(dict.fromkeys(ask for each in waiting.values() for ask in each))
        found = dict(zip(asks, judge.decide(asks), strict=True))
        turn, waiting = waiting, {}
        for number, each in turn.items():
            try:
                waiting[number] = flows[number].send([found[ask] for ask in each])
            except StopIteration as stop:
                done[number] = stop.value
    return [done[number] for number in range(len(flows))]


def _repeated_told(
    judged: Sequence[SentenceOutcome], nuggets: Mapping[str, Sequence[BankQuestion]]
) -> list[SentenceOutcome]:
    """The same sentences; where what one states was stated before in its report, its reason says so.

    Of a nugget all of whose answers are wanted, only the same answer is a repetition.
    """
    partial = {(topic, one.id) for topic, found in nuggets.items() for one in found if one.combine == "and"}
    seen: dict[tuple[str, str], set[tuple[str, int]]] = {}
    told: list[SentenceOutcome] = []
    for one in judged:
        before = seen.setdefault((one.run, one.topic), set())
        stated = {(name, answer if (one.topic, name) in partial else -1) for name, answer in one.stated}
        again = sorted({name for name, _ in stated & before})
        before |= stated
        told.append(replace(one, why=f"{one.why}; {named(again)} occurred before and counts once") if again else one)
    return told


def _require_judged(judged: Sequence[SentenceOutcome]) -> None:
    missing = [(one, one.missing) for one in judged if one.missing is not None]
    if not missing:
        return
    one, ask = missing[0]
    text = one.text if len(one.text) <= 60 else one.text[:57] + "..."
    more = f" (and {len(missing) - 1} more sentences)" if len(missing) > 1 else ""
    reason = one.why.removeprefix(f"not scored: {wanted_of(ask)} is not judged").strip()
    raise ValueError(
        f"run {one.run}, topic {one.topic}, sentence {one.index} {text!r}: not judged{f' {reason}' if reason else ''}; "
        f"wanted {wanted_of(ask)}{more}"
    )
