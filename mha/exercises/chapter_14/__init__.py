"""Chapter 14: its questions."""
