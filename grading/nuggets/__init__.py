"""Nuggets made and assigned by a model: grown over passages, labelled vital or okay, looked for in answers."""
