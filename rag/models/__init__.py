"""Language models by name: settings, loading, usage. The names are exported by `rag`."""
