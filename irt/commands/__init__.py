"""The command line: words declared once, answers computed by the library, told as text or JSON."""
