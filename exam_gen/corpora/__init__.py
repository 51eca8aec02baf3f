"""Where documents come from, which are taken, and how they are cut into chunks."""
