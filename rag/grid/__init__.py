"""The grid of pipelines: what is compared, as read from YAML. The names are exported by `rag`."""
