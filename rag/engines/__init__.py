"""Engines: where examinees answer. In this process, in several on this machine, or on a Ray cluster."""

from rag.engines._options import EngineOptions, opened
from rag.engines._ray_workers import STORE_BYTES, joined

__all__ = ["STORE_BYTES", "EngineOptions", "joined", "opened"]
