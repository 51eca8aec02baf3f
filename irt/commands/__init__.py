"""The measurement commands, defined once: `python -m irt` runs them, and `ragexam` mounts them."""

from irt.commands._application import COMMANDS, application, main
from irt.commands._records import with_records

__all__ = ["COMMANDS", "application", "main", "with_records"]
