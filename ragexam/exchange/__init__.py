"""Exams for other evaluation tools, and answers from them."""
