"""Appendix C: its questions."""
