"""Language models behind an OpenAI-compatible server: vLLM, llama.cpp, Ollama, hosted ones."""

from rag.servers.options import PREFIX, Address, Price, ServerOptions, address, is_server

__all__ = ["PREFIX", "Address", "Price", "ServerOptions", "address", "is_server"]
