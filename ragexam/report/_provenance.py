"""How a run was made: its seeds, models, configuration, versions and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examcore import Question
from examcore.page import duration, flattened, joined, shown_value
from ragexam.report._page_parts import FactList
from ragexam.report._run_evidence import RunEvidence

_LONG = 20
"""Facts beyond which a list is folded away."""
_ROLES = {"model": "wrote", "writer": "wrote", "verifier": "checked", "judge": "checked"}
"""Entries of a question's metadata that name a model, and what that model did."""


def provenance(evidence: RunEvidence) -> list[FactList]:
    """Configuration, versions, models and time per step."""
    parts: list[FactList] = []
    record = evidence.record
    seeds = _seeds(record)
    if seeds:
        parts.append(FactList("Seeds", seeds))
    roles = [(name, f"{joined(found)} the questions") for name, found in model_roles(evidence.questions).items()]
    if roles:
        parts.append(FactList("Models", roles))
    for title, key in (("Configuration", "configuration"), ("Versions", "versions"), ("Input", "inputs")):
        value = record.get(key)
        if isinstance(value, Mapping):
            facts = [(name, shown_value(one)) for name, one in flattened(value)]
            parts.append(FactList(title, facts, long=len(facts) > _LONG))
    if evidence.seconds:
        facts = [(name, duration(seconds)) for name, seconds in evidence.seconds.items() if seconds]
        facts.append(("in all", duration(sum(evidence.seconds.values()))))
        parts.append(FactList("Time", facts))
    return parts or [FactList("Record", [("run.json", "absent")])]


def _seeds(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The seed of the run, and those that parts of it were given."""
    found = [("run", shown_value(record["seed"]))] if "seed" in record else []
    configuration = record.get("configuration")
    parts = flattened(configuration) if isinstance(configuration, Mapping) else ()
    return found + [(name, shown_value(value)) for name, value in parts if name.endswith(".seed")]


def model_roles(questions: Sequence[Question]) -> dict[str, list[str]]:
    """Which models `wrote` and which `checked` the questions, as the questions tell: model to what it did."""
    roles: dict[str, list[str]] = {}
    for question in questions:
        for key, value in question.metadata.items():
            role = _ROLES.get(key)
            if role and isinstance(value, str) and value and role not in roles.setdefault(value, []):
                roles[value].append(role)
    return roles
