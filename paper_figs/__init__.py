"""One script per figure and table of the paper; each reads result files only. See README.md beside this file."""
