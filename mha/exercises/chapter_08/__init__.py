"""Chapter 8: its exercises in code, and its questions."""
