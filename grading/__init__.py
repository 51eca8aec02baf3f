"""Free-text systems on the same footing as the exam: EXAM, EXAM++, ARGUE."""
