"""Language models that this machine computes, with torch and transformers. Importing this package loads torch."""

from rag.local._decoding import BatchWriter
from rag.local._json_shape import JsonShape, Vocabulary
from rag.local._local_model import LocalModel
from rag.local._pretrained import load_local_model

__all__ = ["BatchWriter", "JsonShape", "LocalModel", "Vocabulary", "load_local_model"]
