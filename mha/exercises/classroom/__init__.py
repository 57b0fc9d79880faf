"""Notebooks handed out, replayed and graded to a table."""
