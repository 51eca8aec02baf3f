"""Engines: where examinees answer. In this process, in several on this machine, or on a Ray cluster."""

from rag.engines._options import EngineOptions, open_engine
from rag.engines._ray_workers import STORE_BYTES, join_cluster

__all__ = ["STORE_BYTES", "EngineOptions", "join_cluster", "open_engine"]
