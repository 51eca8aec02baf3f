"""The examinees: language models, retrievers, prompts, and an exam sat by a grid of pipelines."""
