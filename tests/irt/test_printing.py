"""What is printed as JSON is JSON, and tables get names that are file names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from irt._printing import json_record, json_value, table_text, write_tables


def test_what_is_empty_or_infinite_becomes_null() -> None:
    record = json_record(
        {"a": np.inf, "b": pd.NA, "c": np.float64(1.5), "d": np.int64(2), "e": np.bool_(True), "f": "x"}
    )
    assert json.loads(json.dumps(record)) == {"a": None, "b": None, "c": 1.5, "d": 2, "e": True, "f": "x"}
    table = pd.DataFrame({"p": pd.array([0.5, None], dtype="Float64")})
    assert json_value(table) == [{"p": 0.5}, {"p": None}]
    assert "NA" not in table_text(table)


def test_tables_get_names_that_are_file_names(tmp_path: Path) -> None:
    write_tables(tmp_path / "new", {"item fit": pd.DataFrame({"x": [1]}), "dif a/b": pd.DataFrame({"x": [1]})})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["dif-a-b.csv", "item-fit.csv"]
