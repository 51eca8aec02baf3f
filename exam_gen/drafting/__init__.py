"""The steps from a fact to a verified question, and reading what a model replied."""
