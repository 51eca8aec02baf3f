"""Where documents come from, which are taken, and how they are cut into chunks."""

from exam_gen.corpora._chunks import ChunkBounds, chunk
from exam_gen.corpora._corpus import Corpus, gather, need_source
from exam_gen.corpora._inventory import Inventory, take_inventory
from exam_gen.corpora._selection import Selection

__all__ = ["ChunkBounds", "Corpus", "Inventory", "Selection", "chunk", "gather", "need_source", "take_inventory"]
