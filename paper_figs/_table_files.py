"""Tables: what is shown, cell by cell, written as LaTeX (booktabs), Markdown and HTML, and the numbers as CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from examcore import IntervalEstimate
from examcore.page import page_template
from irt import plots


@dataclass(frozen=True)
class PaperCell:
    """A text of a table; `strong` is set in bold."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class PaperRow:
    """Cells of one line; `heading` is one cell that stands over the rows below it."""

    cells: tuple[PaperCell, ...]
    heading: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper: `data` holds its numbers, one row each; `rows` what a reader sees.

    `wide` are the columns whose text may take several lines.
    """

    name: str
    title: str
    note: str
    data: pd.DataFrame
    heads: tuple[str, ...]
    rows: tuple[PaperRow, ...]
    wide: tuple[int, ...] = ()

    def save(self, folder: Path) -> list[Path]:
        """Write `NAME.csv`, `NAME.md` and `NAME.tex`."""
        folder.mkdir(parents=True, exist_ok=True)
        data, *forms = written = [folder / f"{self.name}.{suffix}" for suffix in ("csv", "md", "tex")]
        self.data.to_csv(data, index=False, float_format="%.6g")
        for path, form in zip(forms, (as_markdown, as_latex), strict=True):
            path.write_text(form(self), encoding="utf-8")
        return written


LONGEST = 40
"""Letters of a name in a table; the CSV has all of them."""
DASH = "–"
"""What stands in a cell without a value."""


def row(*texts: str | PaperCell) -> PaperRow:
    """A row of texts."""
    return PaperRow(tuple(one if isinstance(one, PaperCell) else PaperCell(one) for one in texts))


def heading(text: str) -> PaperRow:
    """A line over the rows of a group."""
    return PaperRow((PaperCell(text),), heading=True)


def table_by_task(
    file: str, title: str, note: str, data: pd.DataFrame, cell: Callable[[Mapping[Hashable, Any]], str]
) -> PaperTable:
    """A line for each `attribute` under the heading of its `group`, with a cell for each `task`; a dash without one."""
    tasks = data["task"].unique()
    rows = []
    for group, part in data.groupby("group", sort=False):
        rows.append(heading(str(group)))
        for attribute, found in part.groupby("attribute", sort=False):
            cells = {one["task"]: cell(one) for one in found.to_dict("records")}
            rows.append(row(name(str(attribute)), *(cells.get(task, DASH) for task in tasks)))
    return PaperTable(file, title, note, data, ("", *map(name, tasks)), tuple(rows))


def name(text: str) -> str:
    """A name in a cell, its middle cut out where it is very long."""
    return plots.shorten(text, LONGEST) or DASH


def number(value: float, digits: int = 2, *, sign: bool = False) -> str:
    """A number with a true minus; a dash where undefined."""
    if not math.isfinite(value):
        return DASH
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    zero = float(text.replace(",", "")) == 0
    return f"{0:.{digits}f}" if zero else text.replace("-", "−")


def with_limits(found: IntervalEstimate, digits: int = 2, *, scale: float = 1.0, sign: bool = False) -> str:
    """`0.52 [0.41, 0.63]`; a dash where undefined, for the limits alone where only they are."""
    estimate, low, high = (scale * value for value in found)
    if not math.isfinite(estimate):
        return DASH
    return (
        f"{number(estimate, digits, sign=sign)} [{number(low, digits, sign=sign)}, {number(high, digits, sign=sign)}]"
    )


def as_markdown(table: PaperTable) -> str:
    """The table in Markdown, its title above and its note below."""
    width = len(table.heads)
    lines = [_markdown_line(table.heads), "|" + "---|" * width]
    for one in table.rows:
        texts = [f"**{_in_markdown(cell.text)}**" if cell.strong or one.heading else _in_markdown(cell.text)
                 for cell in one.cells]  # fmt: skip
        lines.append("| " + " | ".join(texts + [""] * (width - len(texts))) + " |")
    body = "\n".join(lines)
    return f"**{_in_markdown(table.title)}**\n\n{body}\n\n{_in_markdown(table.note)}\n"


def as_latex(table: PaperTable) -> str:
    """The table in LaTeX for `booktabs` (and `tabularx` where text takes several lines)."""
    columns = "".join("X" if place in table.wide else "l" if place == 0 else "r" for place in range(len(table.heads)))
    environment, width = ("tabularx", r"{\textwidth}") if table.wide else ("tabular", "")
    lines = [
        r"% \usepackage{booktabs" + (",tabularx" if table.wide else "") + "}",
        r"\begin{table*}",
        r"\centering\footnotesize",
        rf"\caption{{{in_latex(table.title)}. {in_latex(table.note)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{{environment}}}{width}{{{columns}}}",
        r"\toprule",
        _latex_line([in_latex(head) for head in table.heads]),
        r"\midrule",
    ]
    for place, one in enumerate(table.rows):
        if one.heading:
            lines += [r"\addlinespace"] if place else []
            lines.append(rf"\multicolumn{{{len(table.heads)}}}{{l}}{{\textbf{{{in_latex(one.cells[0].text)}}}}} \\")
        else:
            texts = [in_latex(cell.text) for cell in one.cells]
            lines.append(_latex_line([rf"\textbf{{{text}}}" if cell.strong else text
                                      for cell, text in zip(one.cells, texts, strict=True)]))  # fmt: skip
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{environment}}}", r"\end{table*}", ""])


def as_html(table: PaperTable) -> Markup:
    """The table in HTML, to stand under a heading of its own."""
    return Markup(page_template("paper_figs", "table.html").render(table=table, plain=_plain))


def in_latex(text: str) -> str:
    """Text as LaTeX shows it: its special characters escaped, signs by their commands, controls left out."""
    return "".join(_LATEX.get(one, one) for one in _plain(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": r"$-$",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
    "†": r"\dag{}",
    "θ": r"$\theta$",
    "\u00a0": "~",
    # A bracket at the start of a line would be read as an option of the line break before it.
    "[": "{[}",
    "]": "{]}",
    **{one: f"\\{one}" for one in "&%$#_{}"},
}


def _plain(text: str) -> str:
    return "".join(one for one in " ".join(re.split(r"[ \t\r\n]+", text)) if one.isprintable() or one == "\u00a0")


def _in_markdown(text: str) -> str:
    """Text as Markdown shows it: nothing in it is markup."""
    return re.sub(r"([\\`*_\[\]<>|$~])", r"\\\1", _plain(text))


def _markdown_line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(_in_markdown(text) for text in texts) + " |"


def _latex_line(texts: Sequence[str]) -> str:
    return " & ".join(texts) + r" \\"
