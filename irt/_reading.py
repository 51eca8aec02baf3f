"""Response tables on disk: long or wide, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from irt._csv_text import one_line, read_text, require_columns
from irt._files import replacing, require_file
from irt._responses import Floats, ResponseMatrix, require_matrix
from irt._score_cells import (
    BLANK,
    RatingLimits,
    TableSource,
    Top,
    column_limits,
    known_top,
    parse_scores,
    parse_trials,
    require_filled,
)

LONG = ("student", "item", "score")
NAMES_STUDENTS = ("", "student", "id")
"""Headers of a first column that holds students, whatever stands below."""
NUMBERED = "No column names the students; rows are numbered from 1."
"""The note of a wide table whose first column is an item."""
MOST = 0.5
"""Share of a column above which it is what most of it looks like."""


def read_responses(
    table: str | Path | pd.DataFrame,
    facets: Sequence[str] | None = None,
    *,
    graded: bool = False,
    top: Top | None = None,
    for_scoring: bool = False,
    items: Sequence[str] = (),
) -> ResponseMatrix:
    """Read answers from a `.csv` (`.csv.gz`) or `.parquet` file, or from a DataFrame.

    Long tables have the columns `student,item,score`, optionally `trials`, and facet columns; any other table is wide:
    the first column holds the student, every further one an item. Where the first is an item, too (one of `items`, or a
    column of scores), rows are numbered from 1, which the notes say.
    In a long table `facets=None` takes every further column as a facet, in a wide table facets must be named. An empty
    score, or `NA`, means the item was not asked. Rows that repeat a (student, item) pair with the same score are
    counted once and noted; rows that disagree are an error. Spaces around names and ids do not count.
    `graded=True` reads ratings, whole numbers from 0 to `top`: one number or one per item, by default the column `top`
    of a long table, else the largest score an item got. `for_scoring` takes a table from which nothing is to be
    estimated: a single student, and items that nobody was asked. Raises FileNotFoundError or a one-line ValueError
    `file:line: found; wanted` (of a DataFrame, the row counted from 1).
    """
    facets = (facets,) if isinstance(facets, str) else facets
    text, source = _read_frame(table) if isinstance(table, pd.DataFrame) else _read_table(Path(table))
    ratings = RatingLimits(graded or top is not None, top)
    _require_score(text, source.path)
    if {"item", "score"} <= set(text.columns):
        data = _from_long(text, source, facets, ratings)
    else:
        data = _from_wide(text, source, tuple(facets or ()), ratings, items)
    if not for_scoring:
        require_estimable(data, f"{source.path}: ")
    return data


def _require_score(table: pd.DataFrame, path: Path) -> None:
    """ValueError for a long table whose columns have other names: read as a wide one it would be nonsense."""
    missing = [name for name in LONG if name not in table.columns]
    named = {str(name).strip().lower() for name in table.columns}
    if missing and {"student", "item"} <= named and len(table.columns) < 12:
        found = ", ".join(str(name) for name in table.columns)
        raise ValueError(f"{path}:1: columns {found}; wanted student, item, score (no '{missing[0]}')")


def write_responses(data: ResponseMatrix, path: str | Path) -> None:
    """Write a long table (`student,item,score[,facets][,trials][,top]`) atomically; CSV or Parquet by its suffix."""
    require_matrix(data)
    path = Path(path)
    table = pd.DataFrame(
        {
            "student": np.repeat(np.array(data.students, dtype=object), len(data.items)),
            "item": np.tile(np.array(data.items, dtype=object), len(data.students)),
            "score": pd.array(data.scores.ravel(), dtype="Float64").astype("Int64"),
        }
    )
    if data.facets is not None:
        for name in data.facets.columns:
            table[name] = np.repeat(data.facets[name].to_numpy(dtype=object), len(data.items))
    if data.trials is not None:
        table["trials"] = pd.array(np.where(data.asked, data.attempts, 1).ravel(), dtype="Float64").astype("Int64")
    if data.top is not None:
        table["top"] = np.tile(data.top, len(data.students))
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            table.to_parquet(temporary, index=False)
        else:
            table.to_csv(temporary, index=False, compression="gzip" if path.suffix == ".gz" else None)


def _read_frame(table: pd.DataFrame) -> tuple[pd.DataFrame, TableSource]:
    """The text of a DataFrame, whose index, if it has a name, is a column as well."""
    source = TableSource(Path("DataFrame"), 1)
    table = table.reset_index(drop=not any(table.index.names))
    require_columns([str(name).strip() for name in table.columns], source.path)
    return _as_text(table), source


def _read_table(path: Path) -> tuple[pd.DataFrame, TableSource]:
    require_file(path, "a response table (.csv or .parquet)")
    if path.suffix == ".parquet":
        try:
            table = pd.read_parquet(path)
        except Exception as error:
            raise ValueError(f"{path}: not a readable Parquet file ({one_line(error)})") from error
        return _as_text(table), TableSource(path, 1)
    return read_text(path), TableSource(path, 2)


def _as_text(table: pd.DataFrame) -> pd.DataFrame:
    columns = {}
    for name in table.columns:
        column = table[name].to_numpy(dtype=object)
        columns[str(name).strip()] = ["" if pd.isna(value) else _plain(value) for value in column]
    return pd.DataFrame(columns, index=range(len(table)), dtype=object)


def _plain(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _from_long(
    table: pd.DataFrame, source: TableSource, facets: Sequence[str] | None, ratings: RatingLimits
) -> ResponseMatrix:
    if "student" not in table.columns:
        raise ValueError(f"{source.path}:1: column 'student' is missing; wanted 'student,item,score'")
    reserved = (*LONG, "trials", "top") if ratings.graded else (*LONG, "trials")
    extra = [str(name) for name in table.columns if name not in reserved]
    wanted = extra if facets is None else list(facets)
    for name in wanted:
        if name not in extra:
            raise ValueError(f"{source.path}:1: unknown facet '{name}'; the other columns are {', '.join(extra)}")
    table = table[~(table == "").all(axis=1)]
    rows = table.index.to_numpy()
    if not len(rows):
        raise ValueError(f"{source.path}: no answers below the header; wanted rows of student,item,score")
    for column in ("student", "item"):
        require_filled(table[column], rows, column, source)
    if ratings.graded and "trials" in table.columns:
        raise ValueError(f"{source.path}:1: column 'trials' counts right answers; graded scores have none")
    trials = parse_trials(table, rows, source) if "trials" in table.columns else None
    students, student_of = _first_appearance(table["student"])
    items, item_of = _first_appearance(table["item"])
    limits = ratings.limits(items, source)
    if limits is not None and ratings.top is None and "top" in table.columns:
        limits = column_limits(table["top"], items, item_of, rows, source)
    highest = None if limits is None else limits[item_of]
    scores = parse_scores(table["score"].to_numpy(), rows, source, trials, highest)
    cells, notes = _unique_cells(student_of * len(items) + item_of, scores, trials, rows, source, table)

    def placed(values: Floats) -> Floats:
        grid = np.full((len(students), len(items)), np.nan)
        grid[student_of[cells], item_of[cells]] = values[cells]
        return grid

    grid = placed(scores)
    facet_table = _facets_of(table, wanted, students, student_of, rows, source) if wanted else None
    tops = None if limits is None else known_top(limits, grid)
    return ResponseMatrix(grid, students, items, None if trials is None else placed(trials), facet_table, notes, tops)


def _from_wide(
    table: pd.DataFrame, source: TableSource, facets: tuple[str, ...], ratings: RatingLimits, known: Sequence[str]
) -> ResponseMatrix:
    columns = [str(name) for name in table.columns]
    for name in facets:
        if name not in columns[1:]:
            raise ValueError(f"{source.path}:1: unknown facet '{name}'; it is not a column")
    table = table[~(table == "").all(axis=1)]
    if not len(table) or len(columns) < 2:
        raise ValueError(f"{source.path}: no answers; wanted a student column and item columns")
    rows = table.index.to_numpy()
    notes: tuple[str, ...] = ()
    if columns[0] in known or _is_item(columns[0], table[columns[0]]):
        table = pd.concat([pd.Series(np.arange(1, len(table) + 1), table.index, dtype=str), table], axis=1)
        columns = ["student", *columns]
        table.columns = pd.Index(columns)
        notes = (NUMBERED,)
    require_filled(table[columns[0]], rows, columns[0] or "student", source)
    students, student_of = _first_appearance(table[columns[0]])
    if len(students) < len(table):
        repeated = int(np.argmax(pd.Series(student_of).duplicated().to_numpy()))
        raise ValueError(
            f"{source.at(rows[repeated])}: student '{students[student_of[repeated]]}' appears twice (the first column "
            f"of a wide table, here '{columns[0]}', names the students)"
        )
    items = [name for name in columns[1:] if name not in facets]
    cells = table[items].to_numpy(dtype=object)
    limits = ratings.limits(items, source)
    highest = None if limits is None else np.tile(limits, len(rows))
    scores = parse_scores(cells.ravel(), np.repeat(rows, len(items)), source, None, highest, items).reshape(cells.shape)
    facet_table = _facets_of(table, list(facets), students, student_of, rows, source) if facets else None
    tops = None if limits is None else known_top(limits, scores)
    return ResponseMatrix(scores, students, tuple(items), None, facet_table, notes, tops)


def _is_item(name: str, column: pd.Series) -> bool:
    """Whether the first column of a wide table is an item: most of it are scores, most of which stand there again.

    A few of its cells may be wrong, which their own message says; ids that are numbers stand there once each.
    """
    if name.lower() in NAMES_STUDENTS:
        return False
    values = column.str.strip()
    scores = values.str.fullmatch(r"\d{1,3}") | values.isin(BLANK)
    again = values.duplicated(keep=False)
    return bool(scores.mean() > MOST and again[scores].mean() > MOST)


def _first_appearance(column: pd.Series) -> tuple[tuple[str, ...], np.ndarray]:
    codes, values = pd.factorize(column.str.strip())
    return tuple(str(value) for value in values), codes


def _unique_cells(
    cells: np.ndarray,
    scores: Floats,
    trials: Floats | None,
    rows: np.ndarray,
    source: TableSource,
    table: pd.DataFrame,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Rows to keep, one per (student, item); disagreement is an error, agreement a note."""
    order = pd.Series(cells)
    repeated = order.duplicated().to_numpy()
    if not repeated.any():
        return np.arange(len(cells)), ()
    first = pd.Series(np.arange(len(cells))).groupby(cells).transform("min").to_numpy()
    same = (scores == scores[first]) | (np.isnan(scores) & np.isnan(scores[first]))
    if trials is not None:
        same &= trials == trials[first]
    if not same.all():
        row = int(np.argmax(~same))
        found, earlier = table["score"].iloc[row], table["score"].iloc[first[row]]
        raise ValueError(
            f"{source.at(rows[row])}: student '{table['student'].iloc[row]}', item '{table['item'].iloc[row]}' has "
            f"score '{found}', line {rows[first[row]] + source.first} says '{earlier}'; wanted one answer"
        )
    count = int(repeated.sum())
    return np.flatnonzero(~repeated), (f"{count} repeated (student, item) rows agreed and were counted once.",)


def _facets_of(
    table: pd.DataFrame,
    names: list[str],
    students: tuple[str, ...],
    student_of: np.ndarray,
    rows: np.ndarray,
    source: TableSource,
) -> pd.DataFrame:
    first = pd.Series(np.arange(len(student_of))).groupby(student_of).min().to_numpy()
    chosen = {}
    for name in names:
        values = table[name].str.strip().to_numpy(dtype=object)
        empty = values == ""
        if empty.any():
            row = int(np.argmax(empty))
            raise ValueError(
                f"{source.at(rows[row])}: student '{students[student_of[row]]}' has no value of facet '{name}'"
            )
        differs = values != values[first[student_of]]
        if differs.any():
            row = int(np.argmax(differs))
            raise ValueError(
                f"{source.at(rows[row])}: student '{students[student_of[row]]}' has {name} '{values[row]}', earlier "
                f"'{values[first[student_of[row]]]}'; a facet is constant within a student (or name the facets wanted)"
            )
        chosen[name] = values[first]
    return pd.DataFrame(chosen, index=pd.Index(students, name="student"), dtype=str)


def require_estimable(data: ResponseMatrix, prefix: str = "") -> None:
    """ValueError unless there are two students and two items to compare, each with an answer."""
    if len(data.students) < 2:
        raise ValueError(f"{prefix}only {len(data.students)} student; at least 2 are needed to tell students apart")
    if len(data.items) < 2:
        raise ValueError(f"{prefix}only {len(data.items)} item; at least 2 are needed to tell items apart")
    asked = data.asked
    for kind, names, answered in (
        ("student", data.students, asked.any(axis=1)),
        ("item", data.items, asked.any(axis=0)),
    ):
        if not answered.all():
            way = "; wanted data.select(data.answered_items)" if kind == "item" and not prefix else ""
            raise ValueError(f"{prefix}{kind} '{names[int(np.argmin(answered))]}' has no answers{way}")
