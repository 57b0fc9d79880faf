"""What is computed once and kept in _build: the chapters' runs (runs.py), and what pages say to programs with blanks
(replies.py), each as long as nothing has changed that it depends on (imports.py).
"""
