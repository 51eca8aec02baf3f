"""Sitting an exam: preparation, the run, the answer store. The names are exported by `rag`."""
