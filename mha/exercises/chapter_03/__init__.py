"""Chapter 3: its exercises in code, and its questions."""
