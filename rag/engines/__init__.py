"""Engines: where examinees answer. In this process, in several on this machine, or on a Ray cluster."""

from rag.engines._cluster import STORE_BYTES, joined
from rag.engines._options import EngineOptions, opened

__all__ = ["STORE_BYTES", "EngineOptions", "joined", "opened"]
