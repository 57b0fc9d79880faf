"""What the experiments found, as the chapters show it: a module for each chapter, a function for each table.

A chapter says `from mha.lab.findings import chapter_09 as findings`, and a cell `findings.heads_gone()`.
"""
