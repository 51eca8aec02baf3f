"""Passages graded by models: prompts, replies, verification, readers."""
