"""Chapter 12: its exercises in code, and its questions."""
