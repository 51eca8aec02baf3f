"""Files that say several things of each item: a column for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from irt._csv_text import read_text
from irt._files import require_file


def read_columns(path: Path) -> dict[str, dict[str, str]]:
    """The columns of a CSV file beside `item`, each by item; empty cells are left out. ValueError for another file."""
    require_file(path, "a CSV table of items and what is known of them")
    table = read_text(path, needed=("item",))
    items = table["item"].str.strip()
    if items.duplicated().any():
        row = int(np.argmax(items.duplicated()))
        raise ValueError(f"{path}:{table.index[row] + 2}: item '{items.iloc[row]}' appears twice; wanted each once")
    cells = {str(name): table[name].str.strip() for name in table.columns if name != "item"}
    return {name: {item: cell for item, cell in zip(items, cells[name], strict=True) if cell} for name in cells}
