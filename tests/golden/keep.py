"""Keep results as the expected ones: `python -m tests.golden.keep OUT`, where `tests.golden.make` has written them."""

from __future__ import annotations

import argparse
import gzip
import shutil
from pathlib import Path

from tests.golden.compare import EXPECTED

LARGE = 6_000
"""Bytes from which a file is packed; smaller ones can be read and compared as they stand."""


def keep(made: Path, expected: Path = EXPECTED) -> None:
    """Replace the parts that were made."""
    for part in made.iterdir():
        shutil.rmtree(expected / part.relative_to(made), ignore_errors=True)
    for path in sorted(one for one in made.rglob("*") if one.is_file()):
        target = expected / path.relative_to(made)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        if len(content) < LARGE:
            target.write_bytes(content)
        else:
            target.with_name(f"{target.name}.gz").write_bytes(gzip.compress(content, mtime=0))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("out", type=Path)
    keep(words.parse_args().out)
