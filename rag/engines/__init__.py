"""Engines: where examinees answer. In this process, in several on this machine, or on a Ray cluster."""

from rag.engines.options import EngineOptions, opened

__all__ = ["EngineOptions", "opened"]
