"""Banks of questions: written, checked, edited."""
