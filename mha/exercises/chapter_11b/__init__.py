"""Chapter 11b: its exercise in code, and its questions."""
