"""Calling code that others wrote: importing it by name, and waiting for it with a time limit."""
