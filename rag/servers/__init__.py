"""Language models behind an OpenAI-compatible server: vLLM, llama.cpp, Ollama, hosted ones."""

from rag.servers._options import PREFIX, Address, Price, ServerOptions, address, is_server
from rag.servers._traffic import Traffic

__all__ = ["PREFIX", "Address", "Price", "ServerOptions", "Traffic", "address", "is_server"]
