"""The manual's table of rules says what the code does."""

import re
from pathlib import Path

import yaml

from exam_gen.rules import RULE_KINDS, rules_of

MANUAL = (Path(__file__).parents[2] / "docs" / "exam-writing.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([a-z-]+)` \| .* \| ([^|]+) \|[^|]*\|$", MANUAL, re.MULTILINE)


def usual(name: str) -> str:
    kind = RULE_KINDS[name]
    if kind.limit is None:
        return "on" if kind.on else "off"
    return f"{kind.limit:g}" if kind.on else f"off ({kind.limit:g})"


def test_the_table_names_every_rule_in_its_order_with_its_usual_setting() -> None:
    assert [name for name, _ in ROWS] == list(RULE_KINDS)
    assert dict(ROWS) == {name: usual(name) for name in RULE_KINDS}


def test_the_configuration_shown_is_one() -> None:
    (shown,) = re.findall(r"^```yaml\n(filters:.*?)```", MANUAL, re.MULTILINE | re.DOTALL)
    names = [rule.name for rule in rules_of(yaml.safe_load(shown)["filters"])]
    assert names[0] == "near-duplicate"
    assert "catch-all" not in names
    assert {"extra-words", "blocked-words"} <= set(names)
