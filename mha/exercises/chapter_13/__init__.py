"""Chapter 13: its exercises in code, and its questions."""
