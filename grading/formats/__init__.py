"""Files of the tracks and tools, read strictly: runs, qrels, grades, banks, nuggets, reports."""
