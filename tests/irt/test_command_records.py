"""Options declared as fields of a record."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from irt.commands._records import with_records


@dataclass(frozen=True)
class Switches:
    careful: bool = True
    quick: bool = False


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Switches(True, False)),
        (["--no-careful"], Switches(False, False)),
        (["--careful", "--quick"], Switches(True, True)),
    ],
)
def test_a_switch_that_is_on_can_be_turned_off(words: list[str], expected: Switches) -> None:
    seen: list[Switches] = []

    def work(switches: Switches) -> None:
        seen.append(switches)

    app = typer.Typer()
    app.command()(with_records(work))
    assert CliRunner().invoke(app, words).exit_code == 0
    assert seen == [expected]
