"""Where real data lie that the repository does not ship; tests that need them skip without."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("RAGEXAM_SHARED", Path(__file__).parents[2] / "shared"))
