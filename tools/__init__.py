"""What keeps the book and makes what it stores; no part of the package that readers install.

notebooks.py keeps the chapters' files in order. Each make_NAME.py computes the stored numbers of one file in mha/assets.
"""
