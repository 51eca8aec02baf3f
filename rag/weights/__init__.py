"""Where model weights come from: packages that carry them, folders, the hub; and how they are placed in memory."""

from rag.weights._embedded import EMBEDDED_MODELS, download_bytes, find_weights, is_embedded, missing_bytes

__all__ = ["EMBEDDED_MODELS", "download_bytes", "find_weights", "is_embedded", "missing_bytes"]
