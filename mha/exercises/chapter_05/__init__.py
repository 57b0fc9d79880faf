"""Chapter 5: its exercises in code, and its questions."""
