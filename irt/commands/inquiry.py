"""What the commands ask of a saved fit about students: their scores, exams, links, comparisons and plans."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from irt.adaptive import AdaptiveExam, Rules, begin, replay
from irt.checks.inputs import listed
from irt.commands.said import Said, doubts, excerpt, finite, interval, kept, rows, write_tables
from irt.comparison import compare
from irt.files import replacing, require_file
from irt.linking import link
from irt.power import OutOfReachError, detectable_gap, power
from irt.reading import NUMBERED, read_responses
from irt.result import Fit
from irt.scoring import score
from irt.storage import load_fit

WITHIN = 0.2


def scores(folder: Path, responses: Path, method: str = "eap", propagate: bool = True, out: Path | None = None) -> Said:
    """Abilities of new students on the items of a fit; `out` receives `abilities.csv`."""
    fit = load_fit(folder)
    data = read_responses(responses, graded=fit.graded is not None, for_scoring=True, items=fit.data.items)
    found = score(fit, data, method, propagate=propagate)
    record = {"method": method, "interval": found.interval, "students": rows(found.table)}
    if out is not None:
        write_tables(out, {"abilities": found.table})
    return Said(record, excerpt(found.table, kept(out, "abilities.csv")), doubts(fit), data.notes)


def adaptive(folder: Path, pipeline: str, responses: Path | None, rules: Rules) -> Said:
    """Replay an adaptive exam from a pipeline's recorded answers (the fit's own when no table is given).

    Without a rule to stop, it stops within 20 % of the standard error of the pipeline's full exam.
    """
    fit = right_or_wrong(folder)
    data = fit.data if responses is None else read_responses(responses, for_scoring=True, items=fit.data.items)
    if pipeline not in data.students:
        raise ValueError(
            f"{responses or folder}: unknown student '{pipeline}' (--pipeline); it has {listed(data.students)}"
            + ("; --responses FILE takes other students' answers, --live asks for them" if responses is None else "")
        )
    data, notes = data.select_students([pipeline]), data.notes
    within = WITHIN if rules.se is None and rules.longest is None else None
    (row,) = rows(replay(fit, data, rules, within=within))
    own = (f"The answers of {pipeline} took part in calibrating these items, which flatters.",)
    # The number of a row says of no other table whose row it is.
    known = responses is None or not (NUMBERED in notes or unnamed(fit))
    warnings = (*doubts(fit), *(own if known and pipeline in fit.data.students else ()))
    goal = f"within {WITHIN:.0%} of the full exam's error" if within else "by the rules given"
    lines = (
        f"{pipeline}: {row['items']} of {row['full_items']} questions ({row['share']:.0%}), {goal}; "
        f"stopped by: {row['stopped']}\n"
        f"ability {row['theta']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}], error {row['sd']:.3f}; "
        f"full exam {row['full_theta']:+.2f}, error {row['full_sd']:.3f}{_missed(rules.se, row['sd'])}"
    )
    return Said(row, lines, warnings, notes)


def live(folder: Path, pipeline: str, rules: Rules, state: Path | None, answer: Callable[[str], float]) -> Said:
    """Give an adaptive exam; `state` keeps every answer, so that the same call goes on where it stopped."""
    if rules.se is None and rules.longest is None:
        raise ValueError(
            "a live exam needs a rule to stop: --longest N (so many items) or --se E (a standard error) was wanted"
        )
    fit = right_or_wrong(folder)
    exam = resumed(begin(fit, rules), pipeline, state)

    while (item := exam.next_item()) is not None:
        exam = exam.record(item, answer(item))
        if state is not None:
            keep(exam, pipeline, state)
    low, high = exam.bounds
    record = {"student": pipeline, "items": len(exam.asked), "theta": exam.theta, "sd": exam.sd}
    record |= {"low": low, "high": high, "stopped": exam.stopped, "asked": list(exam.asked)}
    record["reached"] = rules.se is not None and exam.sd <= rules.se
    lines = (
        f"{pipeline}: {len(exam.asked)} of {len(fit.data.items)} questions; stopped by: {exam.stopped}\n"
        f"ability {exam.theta:+.2f} [{low:+.2f}, {high:+.2f}], error {exam.sd:.3f}"
        f"{_missed(rules.se, exam.sd)}"
    )
    return Said(finite(record), lines, doubts(fit))


def _missed(wanted: float | None, found: float) -> str:
    """A line that says of an error wanted that it was not reached."""
    if wanted is None or found <= wanted:
        return ""
    return f"\nthe wanted error of {wanted:g} was not reached: these questions give {found:.3g}"


def linked(folder_a: Path, folder_b: Path, method: str, symmetric: bool, out: Path | None = None) -> Said:
    """Fit B on the scale of fit A; `out` receives `items.csv`, `abilities.csv` and `drift.csv`."""
    found = link(right_or_wrong(folder_a), right_or_wrong(folder_b), method=method, symmetric=symmetric)
    if out is not None:
        write_tables(out, {"items": found.items, "abilities": found.abilities, "drift": found.drift})
    record: dict[str, Any] = {"method": method, "slope": found.slope._asdict(), "intercept": found.intercept._asdict()}
    record |= {"scatter": found.scatter, "anchors": list(found.anchors), "dropped": list(found.dropped)}
    record["undetermined"] = list(found.undetermined)
    record |= {"interval": found.interval, "drift": rows(found.drift), "abilities": rows(found.abilities)}
    lines = [
        f"theta_A = {found.slope.estimate:.3f} theta_B {found.intercept.estimate:+.3f}   ({method}, "
        f"{len(found.anchors)} anchors, scatter {found.scatter:.2f})",
        f"slope {interval(found.slope)}, intercept {interval(found.intercept)}",
        f"left out for drift: {', '.join(found.dropped) or 'none'}",
        *([f"difficulty not determined: {', '.join(found.undetermined)}"] if found.undetermined else []),
        excerpt(found.abilities, kept(out, "abilities.csv")),
    ]
    return Said(finite(record), "\n".join(lines), found.warnings)


def compared(folder: Path, a: str, b: str, facet: str | None = None) -> Said:
    """Two students or two levels of a facet."""
    fit = right_or_wrong(folder)
    found = compare(fit, a, b, facet)
    parts = {name: getattr(found, name)._asdict() for name in ("ability", "accuracy", "accuracy_a", "accuracy_b")}
    record = {"a": a, "b": b, "facet": found.facet, **parts, "observed": found.observed, "pairs": found.pairs}
    record |= {"observed_a": found.observed_a, "observed_b": found.observed_b}
    record |= {"test": found.test._asdict(), "over_questions": found.over_questions._asdict()}
    record |= {"interval": found.interval}
    test = found.test
    rest, units, kind = ", all else at its average,", "pairs that differ in nothing else", "permutation test over pairs"
    if found.facet is None:
        rest, units, kind = "", "questions", "exact paired test"
    count = test.a_better + test.b_better + test.same
    lines = [
        f"{a} minus {b}: ability {interval(found.ability)}, P({a} is better) = {found.ability.probability:.3f}",
        f"expected share right{rest} {found.accuracy_a.estimate:.1%} and {found.accuracy_b.estimate:.1%}: "
        f"{interval(found.accuracy, 100, ' points')}",
        f"without a model: {found.observed_a:.1%} and {found.observed_b:.1%} right; {a} is better in {test.a_better} "
        f"of {count} {units}, {b} in {test.b_better}; {kind} p = {test.p_value:.3g}",
    ]
    if found.facet is not None:
        over = found.over_questions
        lines.append(
            f"over questions: {a} is better in {over.a_better} of {over.a_better + over.b_better + over.same}, {b} in "
            f"{over.b_better}; sign test p = {over.p_value:.3g}"
        )
    return Said(finite(record), "\n".join(lines), doubts(fit))


def planned(
    folder: Path,
    gap: float | None,
    questions: int | None,
    at: float = 0.0,
    *,
    wanted: float = 0.8,
    level: float = 0.05,
    scale: str = "ability",
    design: str = "paired",
) -> Said:
    """Questions that a gap needs, or the gap that so many questions show; exactly one of them is given.

    What is asked for is null in the record, with the `reason`, where these questions cannot tell it.
    """
    if (gap is None) == (questions is None):
        raise ValueError("either --gap (between two students) or --questions (a number of them) was wanted")
    fit = right_or_wrong(folder)
    plan: dict[str, Any] = {"power": wanted, "level": level, "scale": scale, "design": design}
    test = f"with power {wanted:.0%} at level {level:g}, {design}, around ability {at:g}"
    try:
        record, lines = _gap_shown(fit, questions, at, plan, test) if gap is None else _needed(fit, gap, at, plan, test)
    except OutOfReachError as reason:
        record = {"questions": questions, "gap": gap, "at": at, **plan, "reason": str(reason)}
        lines = f"no answer: {reason}"
    return Said(finite(record), lines, doubts(fit))


def _needed(fit: Fit, gap: float, at: float, plan: Mapping[str, Any], test: str) -> tuple[dict[str, Any], str]:
    found = power(fit, gap, at, **plan)
    shares = " and ".join(f"{share:.1%}" for share in found.accuracy)
    return asdict(found), (
        f"{found.questions} questions [{found.low}, {found.high}] tell a gap of {gap:g} in {found.scale} apart {test}\n"
        f"that is {found.exams:.1f} times this exam; such pipelines answer {shares} right"
    )


def _gap_shown(
    fit: Fit, questions: int | None, at: float, plan: Mapping[str, Any], test: str
) -> tuple[dict[str, Any], str]:
    assert questions is not None
    shown = detectable_gap(fit, questions, at, **plan)
    record = {"questions": questions, "gap": shown.estimate, "low": shown.low, "high": shown.high}
    size = f"{shown.estimate:.3f} [{shown.low:.3f}, {shown.high:.3f}]"
    return record | {**plan, "at": at, "interval": fit.interval}, (
        f"{questions} questions show a gap of {size} in {plan['scale']} {test}"
    )


def right_or_wrong(folder: Path) -> Fit:
    """The fit of a folder; ValueError for one of ratings, for which these questions have no answer yet."""
    fit = load_fit(folder)
    if fit.graded is not None:
        raise ValueError(f"{folder}: a fit of ratings (grm); one of right and wrong answers was wanted")
    return fit


def unnamed(fit: Fit) -> bool:
    """Whether the table of a fit had no column of students, so that the fit knows them by the number of their row."""
    return NUMBERED in (*fit.notes, *fit.warnings)  # an older fit.json has them together


def resumed(exam: AdaptiveExam, pipeline: str, state: Path | None) -> AdaptiveExam:
    """The exam with the answers of a state file; ValueError when the file belongs to another pipeline or is broken."""
    if state is None or not state.exists():
        return exam
    require_file(state, "the state of an adaptive exam")
    try:
        said = json.loads(state.read_text(encoding="utf-8"))
        owner, answers = said["pipeline"], [(str(item), float(given)) for item, given in said["answers"]]
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{state}: not the state of an adaptive exam") from error
    if owner != pipeline:
        raise ValueError(
            f"{state}: holds the exam of '{owner}', not of '{pipeline}'; "
            f"--pipeline '{owner}' or another --state was wanted"
        )
    for item, given in answers:
        try:
            exam = exam.record(item, given)
        except ValueError as error:
            raise ValueError(f"{state}: {error}; the state of an exam on this fit was wanted") from error
    return exam


def keep(exam: AdaptiveExam, pipeline: str, state: Path) -> None:
    """Write the answers so far, atomically."""
    said = {"pipeline": pipeline, "answers": list(zip(exam.asked, exam.scores, strict=True))}
    with replacing(state) as temporary:
        temporary.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")


def asked_on_terminal(item: str) -> float:
    """Print an item's id on a line of its own and read its score, 0 or 1, for which somebody at a terminal is asked.

    Anything else is said, and the item printed again: every line printed wants one in return.
    """
    while True:
        print(item, flush=True)
        if sys.stdin.isatty():
            print("1 (right) or 0 (wrong)? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise ValueError(
                f"standard input ended at item '{item}'; a line 0 (wrong) or 1 (right) was wanted "
                "(with --state FILE the same command goes on from here)"
            )
        if line.strip() in ("0", "1"):
            return float(line)
        complaint = f"item '{item}': score '{line.strip()}' is not 0 (wrong) or 1 (right); again:"
        print(complaint, file=sys.stderr, flush=True)
