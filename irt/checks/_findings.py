"""All checks of a fit that apply, and one list of plain sentences, most serious first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from irt._printing import json_record
from irt._responses import ResponseMatrix, constant_facets, facet_names
from irt._result import Fit
from irt._tables import ASSUMED, ENDLESS, HARDLY, UNSURE
from irt.checks._copies import duplicates
from irt.checks._differential import dif
from irt.checks._distractors import distractors
from irt.checks._inputs import listed, sentences
from irt.checks._item_fit import s_x2
from irt.checks._item_pairs import dependence
from irt.checks._keys import miskeys
from irt.checks._overall import m2
from irt.checks._person_fit import student_fit
from irt.checks._residual_fit import item_residuals
from irt.checks._sensitivity import prior_sensitivity
from irt.kernels import ItemParameters

M2_ITEMS = 60
"""Items of M2 in a report: the covariance of their moments grows with the fourth power."""
BINARY = ("keys", "duplicates", "overall", "dependence", "item fit", "priors")
"""Checks of right and wrong answers alone."""
MOST_SENTENCES = 5
"""Sentences of a check in the report; its table has all."""
FEW_STUDENTS = 200
"""Below, finding nothing says little (docs/measurement.md, section 5)."""
Tables = dict[str, pd.DataFrame]

FLAGS = {
    "probable mis-key": ("Stronger students seem to choose another answer: read the key.",) * 2,
    "negative discrimination": (
        "Stronger students seem to do worse (judged at 10 %, one by one): read question and key.",
    )
    * 2,
    HARDLY: (
        "It hardly tells strong students from weak ones, and these answers do not place it.",
        "They hardly tell strong students from weak ones, and these answers do not place them.",
    ),
    "all correct": ("Nothing in this table tells how hard it is.", "Nothing in this table tells how hard they are."),
    "all wrong": ("Nothing in this table tells how hard it is.", "Nothing in this table tells how hard they are."),
}
"""What a flag of the item table means, of one item and of several."""
SIGN_OPEN = (
    "these answers do not show whether stronger students do better or worse; intervals of discrimination and "
    "difficulty take the sign of the estimate as known."
)
TOP_OPEN = (
    "the answers tell the discrimination from 0, but not from that of a step: the upper end of its interval means "
    "nothing more."
)
BOTH_OPEN = (
    "the answers do not tell the discrimination from that of a step either: the upper end of its interval means "
    "nothing more."
)
"""Of an endless slope that another flag already says is not told from 0."""


@dataclass(frozen=True)
class CheckReport:
    """Tables by name, why a check was skipped by its name, and what to act on, most serious first.

    Of each table the first five sentences are listed; all are in its column `sentence`. `limits` says what so few
    students could not have shown, where nothing was found, and of which items the prior gave the sign of the
    discrimination.
    """

    tables: Mapping[str, pd.DataFrame]
    skipped: Mapping[str, str]
    sentences: tuple[str, ...]
    limits: str = ""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def record(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        found = {"sentences": self.sentences, "limits": self.limits, "skipped": self.skipped}
        return json_record(found | {"tables": self.tables})

    def lines(self, _out: Path | None = None, /) -> list[str]:
        """The report for a reader."""
        found = [f"- {sentence}" for sentence in self.sentences] or ["Nothing to act on was found."]
        left = [f"Not checked: {name} ({reason})." for name, reason in self.skipped.items()]
        return [*found, *([self.limits] if self.limits else []), *left, *self._overall_lines()]

    def _overall_lines(self) -> list[str]:
        """M2, also when it has nothing to complain of."""
        if "overall" not in self.tables:
            return []
        one = self.tables["overall"].iloc[0]
        size = f"RMSEA {one['rmsea']:.3f} [{one['rmsea_low']:.3f}, {one['rmsea_high']:.3f}], SRMSR {one['srmsr']:.3f}"
        return [f"M2 {one['m2']:.2f} on {one['df']} degrees of freedom, p {one['p']:.3g}; {size}"]


def report(
    fit: Fit,
    groups: Mapping[str, str] | None = None,
    options: pd.DataFrame | None = None,
    key: Mapping[str, object] | None = None,
    seed: int | None = None,
) -> CheckReport:
    """Run every check that the table and the fit allow.

    `groups` labels items that may depend on each other (such as questions on one document); `options` and `key` are the
    chosen and the right options, for suggesting keys and finding wrong options that may be right. Checks that refuse
    the table are listed in `skipped` with their reason, as those that cannot read ratings are. Facets are those of the
    fit's table.
    """
    chosen = fit.seed if seed is None else seed
    data = fit.data
    of_all: dict[str, Callable[[], Tables]] = {
        "item residuals": lambda: {"item residuals": item_residuals(data, fit.estimated_items, seed=chosen)},
        "students": lambda: {"students": student_fit(data, fit.estimated_items)},
        "predictive": lambda: {f"predictive {name}": table for name, table in fit.predictive_check(chosen).items()},
    }
    if fit.graded is not None:
        others = [*BINARY, *(f"dif {facet}" for facet in facet_names(data))]
        reasons = dict.fromkeys(others, "it reads right and wrong answers, and this is a fit of ratings")
        found = _run(fit, of_all)
        return replace(found, skipped={**found.skipped, **reasons})
    items = fit.parameters
    checks: dict[str, Callable[[], Tables]] = {"keys": lambda: {"keys": miskeys(data, options, key, items)}}
    if options is not None and key is not None:
        checks["options"] = lambda: {"options": distractors(fit, options, key)}
    checks |= {
        "duplicates": lambda: _duplicates(data, items),
        "overall": lambda: {"overall": _overall(data, items, fit.model)},
        "dependence": lambda: _dependence(data, items, groups, chosen),
    }
    for facet in facet_names(data):
        if facet not in constant_facets(data):
            checks[f"dif {facet}"] = _dif_of(data, items, facet)
    checks["item fit"] = lambda: {"item fit": s_x2(data, items, fit.model)}
    last: dict[str, Callable[[], Tables]] = {"priors": lambda: {"priors": prior_sensitivity(fit)}}
    return _run(fit, checks | of_all | last)


def _run(fit: Fit, checks: Mapping[str, Callable[[], Tables]]) -> CheckReport:
    tables: Tables = {}
    skipped: dict[str, str] = {}
    for name, check in checks.items():
        try:
            tables |= check()
        except ValueError as refusal:
            skipped[name] = str(refusal)
    said = [] if fit.converged else ["The fit did not converge: nothing below is certain until it does."]
    for name, table in tables.items():
        # Every pair of copies is in a group, which has its own sentence.
        listed = sentences(table) if "sentence" in table and name != "duplicates" else []
        said += listed[:MOST_SENTENCES]
        if len(listed) > MOST_SENTENCES:
            said.append(f"{len(listed) - MOST_SENTENCES} more findings of this kind are in the table '{name}'.")
    found = (*said, *_flagged(fit.items))
    limits = ("" if found else _limits(len(fit.data.students)), _assumed(fit.items), *_open(fit.items))
    return CheckReport(tables, skipped, found, "\n".join(filter(None, limits)))


def _limits(students: int) -> str:
    if students >= FEW_STUDENTS:
        return ""
    return (
        f"With {students} students only gross faults show: of items 2 logits harder for one half of the students, "
        "simulated exams gave away 9 in 10 at 200 students, and 1 in 4 at 40."
    )


def _flagged(items: pd.DataFrame) -> list[str]:
    """A sentence for each flag of the fit's own item table."""
    said = []
    for flag, (of_one, of_several) in FLAGS.items():
        found = _having(items, flag)
        if found:
            count, meaning = ("1 item", of_one) if len(found) == 1 else (f"{len(found)} items", of_several)
            said.append(f"{count} flagged {flag}: {listed(found)}. {meaning}")
    return said


def _assumed(items: pd.DataFrame) -> str:
    found = _having(items, ASSUMED)
    if not found:
        return ""
    noun, theirs = ("item", "its discrimination is") if len(found) == 1 else ("items", "their discriminations are")
    return (
        f"Of {len(found)} {noun} ({listed(found)}) these answers alone do not show that stronger students do better: "
        f"that {theirs} positive comes from the prior."
    )


def _open(items: pd.DataFrame) -> list[str]:
    """What the intervals of some slopes do not say."""
    unsure, endless = _having(items, UNSURE), _having(items, ENDLESS)
    doubted = {*unsure, *_having(items, HARDLY)}
    found = (
        (unsure, SIGN_OPEN),
        ([item for item in endless if item not in doubted], TOP_OPEN),
        ([item for item in endless if item in doubted], BOTH_OPEN),
    )
    return [
        f"Of {'1 item' if len(names) == 1 else f'{len(names)} items'} ({listed(names)}) {meaning}"
        for names, meaning in found
        if names
    ]


def _having(items: pd.DataFrame, flag: str) -> list[str]:
    """The items that have a flag."""
    return [str(item) for item in items["item"][items["flags"].str.contains(flag)]]


def _dif_of(data: ResponseMatrix, items: ItemParameters, facet: str) -> Callable[[], Tables]:
    return lambda: {f"dif {facet}": dif(data, items, facet)}


def _duplicates(data: ResponseMatrix, items: ItemParameters) -> Tables:
    found = duplicates(data, items)
    return {"duplicate groups": found.groups, "duplicates": found.pairs}


def _dependence(data: ResponseMatrix, items: ItemParameters, groups: Mapping[str, str] | None, seed: int) -> Tables:
    found = dependence(data, items, groups, seed=seed)
    return {"item groups": found.groups, "item pairs": found.pairs} if groups else {"item pairs": found.pairs}


def _overall(data: ResponseMatrix, items: ItemParameters, model: str) -> pd.DataFrame:
    """One row; of a long exam, items evenly spaced along it stand for all."""
    count = len(data.items)
    where = np.unique(np.linspace(0, count - 1, min(count, M2_ITEMS)).astype(int))
    part = data.select([data.items[index] for index in where])
    table = pd.DataFrame([m2(part, items.at(where), model)._asdict()])
    for name in ("cfi", "tli"):
        table[name] = table[name].astype("Float64")
    if len(where) < count:
        note = f"{len(where)} items, evenly spaced, stand for {count}"
        table["note"] = [f"{note}; {said}" if said else note for said in table["note"]]
    return table
