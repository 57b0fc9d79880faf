"""Chapter 2: its exercises in code, and its questions."""
