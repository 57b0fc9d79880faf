"""Chapter 9: its exercises in code, and its questions."""
