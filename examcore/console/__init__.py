"""What commands share: options and printing."""

from examcore._file_writing import jsonable
from examcore.console._printing import (
    AsJson,
    Interval,
    PrintableResult,
    Quiet,
    Seed,
    aligned_rows,
    counts_text,
    interval_text,
    printable,
    show,
    show_result,
)

__all__ = [
    "AsJson",
    "Interval",
    "PrintableResult",
    "Quiet",
    "Seed",
    "aligned_rows",
    "counts_text",
    "interval_text",
    "jsonable",
    "printable",
    "show",
    "show_result",
]
