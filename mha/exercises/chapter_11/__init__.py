"""Chapter 11: its exercises in code, and its questions."""
