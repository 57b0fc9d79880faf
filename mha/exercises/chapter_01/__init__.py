"""Chapter 1: its exercises in code, and its questions."""
