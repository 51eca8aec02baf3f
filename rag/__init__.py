"""The examinees: language models, retrievers, prompts, and an exam sat by a grid of pipelines."""

from rag.answers import Answer, AnswerStore
from rag.loading import load_model
from rag.pipelines import Grid, Pipeline, grid_of, read_grid
from rag.retrievers import Retriever, build_retriever
from rag.sitting import Settings, sit

__all__ = [
    "Answer",
    "AnswerStore",
    "Grid",
    "Pipeline",
    "Retriever",
    "Settings",
    "build_retriever",
    "grid_of",
    "load_model",
    "read_grid",
    "sit",
]
