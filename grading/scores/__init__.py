"""Scores of graded passages and articles: EXAM, EXAM-Cover, labels, measures, nuggets; questions as items."""
