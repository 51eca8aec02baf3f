"""A reader's decisions about questions, the exam they make, and blind audits."""
