"""Chapter 6: its exercises in code, and its questions."""
