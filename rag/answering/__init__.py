"""Examinees that write: models that answer by letters, and systems of somebody else's."""
