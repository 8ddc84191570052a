"""The documentation, tried out: its commands are run, its snippets loaded, its site built."""
