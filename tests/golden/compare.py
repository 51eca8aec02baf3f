"""Compare kept results with new ones: `python -m tests.golden.compare OUT` names each difference.

Texts, names, counts, keys and their order in tables are equal; numbers agree to `RELATIVE` or `ABSOLUTE`. In three
kinds of values less is asked:

- *Sentences* (warnings, notes, findings: the values of `SENTENCES`) are as many, and hold the same numbers; their
  words are not compared, because wording is improved on purpose.
- *P-values* (`P_VALUES`) agree to `P_ERROR`.
- The folders `sampled` and `svi` hold estimates by NUTS and by stochastic gradients, which differ between processors.
  There the keys, names and verdicts (`converged`) are equal; an estimate may differ by .05 and four Monte Carlo
  standard errors, which are told from the width of its interval and 400 effective draws, an end of an interval by .05
  and twice as many. Diagnostics are not compared.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.golden.canonical import NUMBER

RELATIVE, ABSOLUTE = 1e-6, 1e-9
P_VALUES, P_ERROR = frozenset({"p", "p_adjusted", "p_value"}), 1e-5
"""Names of p-values, and how well they agree: a saddle point is found to a few millionths, and processors differ."""
SENTENCES = {
    *("warnings", "notes", "note", "sentences", "sentence", "limits", "skipped", "refused", "verdict", "why", "what"),
    *("stopped", "not_linked"),
}
SAMPLED = "sampled"
SLACK, ERRORS, WIDTH, DRAWS = 0.05, 4.0, 3.29, 400
"""The tolerance of sampled estimates; a central 90 % interval is 3.29 standard deviations wide."""
ENDS = {"low": 2.0, "high": 2.0, "sd": 2.0, "a_sd": 4.0}
"""Of how many such errors ends of intervals and standard deviations are known; slopes have a long upper tail."""
DIAGNOSTIC = re.compile(r"ess|r_?hat|diverg|tree|accept|leapfrog|draws|loo|pareto|log_likelihood|flags|mcse|fit")

Difference = str
EXPECTED = Path(__file__).parent / "expected"


def main() -> None:
    """Print the differences; exit status 1 when there are any."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("out", type=Path)
    words.add_argument("--expected", type=Path, default=EXPECTED)
    given = words.parse_args()
    found = [line for name in names(given.expected, given.out) for line in differences(given.expected, given.out, name)]
    print("\n".join(found) or "equal")
    sys.exit(1 if found else 0)


def names(expected: Path, made: Path) -> list[str]:
    """The results kept or made of the parts that were made, as paths without `.gz`."""
    parts = {path.name for path in made.iterdir() if path.is_dir()}
    return sorted({name for folder in (expected, made) for name in _listed(folder) if name.split("/")[0] in parts})


def differences(expected: Path, made: Path, name: str) -> list[Difference]:
    """What differs in one result; each line names the place, what was kept and what was made."""
    texts = [read(folder, name) for folder in (expected, made)]
    if None in texts:
        return [f"{name}: {'not kept before' if texts[0] is None else 'is missing now'}"]
    before, after = (_parsed(name, str(text)) for text in texts)
    compare = _sampled if name.startswith((f"{SAMPLED}/", "svi/")) else _equal
    return [f"{name} {line}" for line in compare(before, after, "", "")]


def read(folder: Path, name: str) -> str | None:
    """The text of a result, which may be kept as `NAME.gz`; None where there is none."""
    packed = folder / f"{name}.gz"
    if packed.is_file():
        return gzip.decompress(packed.read_bytes()).decode()
    return (folder / name).read_text(encoding="utf-8") if (folder / name).is_file() else None


def _listed(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix().removesuffix(".gz")


def _parsed(name: str, text: str) -> Any:
    suffix = name.rpartition(".")[2]
    if suffix == "json":
        return json.loads(text)
    if suffix == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return _records(text) if suffix == "csv" else text


def _records(text: str) -> dict[str, Any]:
    """The columns of a table in their order, and its rows by column."""
    columns, *rows = csv.reader(text.splitlines())
    return {"columns": columns, "rows": [dict(zip(columns, map(_number, row), strict=True)) for row in rows]}


def _number(cell: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _equal(before: Any, after: Any, place: str, key: str) -> Iterator[Difference]:
    if key in SENTENCES:
        before, after = _numbers_of(before), _numbers_of(after)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _keys(before, after, place)
        for name in before.keys() & after.keys():
            yield from _equal(before[name], after[name], f"{place}.{name}", key if key in SENTENCES else name)
    elif _is_list(before) and _is_list(after):
        if len(before) != len(after):
            yield f"{place}: {len(before)} entries before, {len(after)} now"
        for at, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from _equal(one, other, f"{place}[{at}]", "")
    elif not (_same(before, after) or (key in P_VALUES and _is_near(before, after))):
        yield f"{place}: {before!r} before, {after!r} now"


def _is_near(before: Any, after: Any) -> bool:
    return _is_number(before) and _is_number(after) and math.isclose(before, after, rel_tol=0, abs_tol=P_ERROR)


def _same(before: Any, after: Any) -> bool:
    if not (_is_number(before) and _is_number(after)):
        return type(before) is type(after) and bool(before == after)
    if isinstance(before, int) and isinstance(after, int):
        return before == after
    return math.isclose(before, after, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (before != before and after != after)


def _numbers_of(value: Any) -> Any:
    """The numbers in a sentence, in the place of each sentence."""
    if isinstance(value, str):
        return [_number(one.replace(",", "").replace("−", "-")) for one in NUMBER.findall(value)]
    if isinstance(value, Mapping):
        return {name: _numbers_of(one) for name, one in value.items()}
    return [_numbers_of(one) for one in value] if _is_list(value) else value


def _sampled(before: Any, after: Any, place: str, key: str, spread: float = 0.0) -> Iterator[Difference]:
    """`spread` is the Monte Carlo standard error of the numbers of the record that a value stands in."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _keys(before, after, place)
        for name in before.keys() & after.keys():
            yield from _sampled(before[name], after[name], f"{place}.{name}", name, _error(before, name))
    elif _is_list(before) and _is_list(after) and key not in SENTENCES:
        if len(before) != len(after) and not DIAGNOSTIC.search(key):
            yield f"{place}: {len(before)} entries before, {len(after)} now"
        for at, (one, other) in enumerate(zip(_in_order(before), _in_order(after), strict=False)):
            yield from _sampled(one, other, f"{place}[{at}]", key, spread)
    elif key in SENTENCES or DIAGNOSTIC.search(key):
        return
    elif isinstance(before, float) and _is_number(after):
        times = ENDS.get(key, ENDS.get(key.rpartition("_")[2], 1.0))
        if not abs(before - after) <= SLACK + times * ERRORS * spread:
            yield f"{place}: {before!r} before, {after!r} now, {SLACK + times * ERRORS * spread:.3f} allowed"
    elif not _same(before, after):
        yield f"{place}: {before!r} before, {after!r} now"


def _error(record: Mapping[str, Any], name: str) -> float:
    """The Monte Carlo standard error of a value, from the interval that stands beside it (`a, a_low, a_high`)."""
    stem = re.sub(r"_?(low|high|estimate|sd)$", "", name)
    ends = [record.get(f"{stem}_{end}", record.get(end)) for end in ("low", "high")]
    if not all(_is_number(end) for end in ends):
        return 0.0
    return float(ends[1] - ends[0]) / WIDTH / math.sqrt(DRAWS)


def _keys(before: Mapping[str, Any], after: Mapping[str, Any], place: str) -> Iterator[Difference]:
    for name in before.keys() ^ after.keys():
        yield f"{place}.{name}: {'is missing now' if name in before else 'is new'}"


def _in_order(rows: Sequence[Any]) -> list[Any]:
    """The records of a list in the order of their names: by their estimates they may change places."""
    if not all(isinstance(row, Mapping) for row in rows):
        return list(rows)
    return sorted(rows, key=lambda row: [one for one in row.values() if isinstance(one, str)])


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


if __name__ == "__main__":
    main()
