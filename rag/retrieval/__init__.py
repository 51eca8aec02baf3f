"""The families of retrievers, one module each; `rag.retrievers` builds them by kind."""
