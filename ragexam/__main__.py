"""`python -m ragexam` is the `ragexam` command."""

from ragexam.cli import main

main()
