"""Files about the claims of free-text answers: what judges said, labels given by hand, nuggets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examcore import JsonRecord, Question, read_json_lines, shown_json
from grading import nugget_claim, read_nuggets
from grading.reports import FEWEST_UNRELATED, ClaimOdds, Decision, text_hash
from ragexam.report._claim_scores import CLAIM_LABELS, ClaimFindings, ClaimKey


def read_decisions(records: Sequence[JsonRecord]) -> tuple[str, dict[ClaimKey, Decision | ClaimOdds]]:
    """The judge of a log and what it said; raises ValueError in one line for a line of another form."""
    judge, found = "", {}
    for one in records:
        said = _said(one.fields)
        if said is None or not all(isinstance(one.fields.get(name), str) for name in ("judge", "claim", "text")):
            raise ValueError(
                f"{one.place}: not a decision; wanted judge, claim, text, and stated (true or false) and why, or "
                "log_odds and unrelated (numbers)"
            )
        judge = str(one.fields["judge"])
        found[str(one.fields["claim"]), str(one.fields["text"])] = said
    return judge, found


def _said(fields: Mapping[str, Any]) -> Decision | ClaimOdds | None:
    stated, why, unrelated = (fields.get(name) for name in ("stated", "why", "unrelated"))
    if isinstance(stated, bool) and isinstance(why, str):
        return Decision(stated, why)
    if not isinstance(unrelated, list) or len(unrelated) < FEWEST_UNRELATED:
        return None
    numbers = [fields.get("log_odds"), *unrelated]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return None
    return ClaimOdds(float(numbers[0]), tuple(map(float, numbers[1:])))


def read_claim_nuggets(path: Path, questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
    """What the nuggets of each question state; raises ValueError in one line where most questions have none."""
    found: dict[str, list[str]] = {one.id: [] for one in questions}
    nuggets = read_nuggets(path).nuggets
    for one in nuggets:
        if one.query in found:
            found[one.query].append(nugget_claim(one))
    lacking = [name for name, some in found.items() if not some]
    if 2 * len(lacking) > len(found):
        raise ValueError(
            f"{path}: has no nugget of {len(lacking)} of {len(found)} questions (such as {lacking[0]!r}), but of "
            f"{nuggets[0].query!r}; wanted ids of questions as its queries, at least half of them"
        )
    return {name: tuple(dict.fromkeys(some)) for name, some in found.items()}


def read_claim_labels(path: Path, findings: ClaimFindings) -> dict[tuple[str, str], str]:
    """Labels given by hand to claims: `{claim, text, label}` a line; raises ValueError in one line."""
    known = {one.key for one in findings.asks}
    found: dict[tuple[str, str], str] = {}
    for one in read_json_lines(path):
        claim, text, label = (one.fields.get(name) for name in ("claim", "text", "label"))
        if label not in CLAIM_LABELS:
            raise ValueError(f"{one.place}: label is {shown_json(label)}; wanted {' or '.join(CLAIM_LABELS)}")
        key = (str(claim), text_hash(str(text)))
        if key not in known:
            raise ValueError(
                f"{one.place}: no judge is asked about {shown_json(claim)} here; wanted a claim of the run"
            )
        found[key] = str(label)
    return found
