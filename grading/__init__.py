"""Free-text systems on the same footing as the exam: EXAM, EXAM++, ARGUE."""

from grading._table_rows import TableRow, read_rows

__all__ = [
    "TableRow",
    "read_rows",
]
