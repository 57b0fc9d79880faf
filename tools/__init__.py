"""What keeps the book and makes what it stores; no part of the package that readers install.

notebooks.py says in what form a chapter is stored, sentences.py breaks its prose into lines, refresh.py stores what
its last run says. Each make_NAME.py computes the stored numbers of one file in
mha/lab/assets.
"""
