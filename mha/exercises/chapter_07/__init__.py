"""Chapter 7: its exercises in code, and its questions."""
