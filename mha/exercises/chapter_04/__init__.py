"""Chapter 4: its exercises in code, and its questions."""
