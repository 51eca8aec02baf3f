"""Free-text systems on the same footing as the exam: EXAM, EXAM++, ARGUE."""

from grading._table_rows import Row, read_rows

__all__ = [
    "Row",
    "read_rows",
]
