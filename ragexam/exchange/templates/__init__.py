"""Files that go out as they are and run where other tools run."""
