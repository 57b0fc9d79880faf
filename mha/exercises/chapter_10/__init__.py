"""Chapter 10: its exercises in code, and its questions."""
