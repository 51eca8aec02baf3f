"""Fixtures shared with the tests of the examinees."""

from tests.rag.conftest import tiny_folder as tiny_folder
