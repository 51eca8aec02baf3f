"""The measurement commands, defined once: `python -m irt` runs them, and `ragexam` mounts them."""

from irt.commands._application import COMMANDS, application, main
from irt.commands._interruption import keep_interruptions
from irt.commands._records import with_records

__all__ = ["COMMANDS", "application", "keep_interruptions", "main", "with_records"]
