"""What commands share: options and printing."""

from examcore.console._options import AsJson, Interval, Quiet, Seed, interval_text, jsonable, show
from examcore.console._plain_text import aligned_rows, counts_text, printable
from examcore.console._results import PrintableResult, show_result

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
