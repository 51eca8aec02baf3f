"""Free-text systems on the same footing as the exam: EXAM, EXAM++, ARGUE."""

from grading._table_rows import FileRow, read_rows

__all__ = [
    "FileRow",
    "read_rows",
]
