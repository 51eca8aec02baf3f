"""axe-core, which looks for faults of accessibility, run in a page; it is looked for and never fetched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.chromium import Chromium

GRAVE = ("serious", "critical")


def axe_source() -> Path | None:
    """The file named by `AXE_CORE`, or that of a `node_modules` in this folder or above it."""
    named = os.environ.get("AXE_CORE")
    places = [Path(named)] if named else [one / "node_modules/axe-core/axe.min.js" for one in Path(__file__).parents]
    return next((place for place in places if place.is_file()), None)


def grave_faults(tab: Chromium) -> list[str]:
    """The serious and critical faults of the page that stands in the tab, everything that folds unfolded."""
    source = axe_source()
    assert source is not None
    tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    tab.evaluate(source.read_text(encoding="utf-8") + ";0")
    tab.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => { window.axeFound = r.violations }); 0")
    tab.wait_until("!!window.axeFound", 120)
    found: list[dict[str, Any]] = json.loads(tab.evaluate("JSON.stringify(window.axeFound)"))
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})" for one in found if one["impact"] in GRAVE]
