"""The face of ragexam: command line, run folder, configuration, report."""
