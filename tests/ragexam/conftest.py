"""Fixtures shared with the tests of the examinees."""

from tests.rag.conftest import hash_model as hash_model
from tests.rag.conftest import tiny_folder as tiny_folder
