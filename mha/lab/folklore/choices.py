"""Numbers of all-MiniLM-L6-v2 that hang on a choice: one for each way to choose, beside the one that is stored.

`python -m tools.make_choices` computes them all again from the model's weights; most of its time goes into learning.
"""
import json
from pathlib import Path

STORED = Path(__file__).parent.parent / "assets" / "choices.json"
_numbers = json.loads(STORED.read_text(encoding="utf-8"))

# The share of [CLS] in the lengths of what is handed on: (mean of the 72 heads, heads above an even share).
CLS_HANDED_ON = {way: tuple(pair) for way, pair in _numbers["[CLS] handed on"].items()}
# Surgery on W_Q W_K^T alone, the terms with a bias left as they were: (cosine, share of paraphrases found).
BIASES_KEPT = {way: tuple(pair) for way, pair in _numbers["biases kept"].items()}
# What head 0.2 gives the token before with learned matrices: (on the 93 sentences learned from, on 60 fresh ones).
TOKEN_BEFORE = {way: tuple(pair) for way, pair in _numbers["token before"].items()}
