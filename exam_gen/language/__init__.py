"""What can be read off a sentence, a stem or an answer by its words."""
