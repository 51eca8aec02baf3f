"""Reports with citations, judged sentence by sentence (ARGUE)."""
