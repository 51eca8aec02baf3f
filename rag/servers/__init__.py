"""Language models behind an OpenAI-compatible server: vLLM, llama.cpp, Ollama, hosted ones."""

from rag.servers._options import PREFIX, Price, ServerAddress, ServerOptions, Traffic, is_server, parse_address

__all__ = ["PREFIX", "Price", "ServerAddress", "ServerOptions", "Traffic", "is_server", "parse_address"]
