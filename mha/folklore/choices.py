"""Numbers of all-MiniLM-L6-v2 that hang on a choice: one for each way to choose, beside the one that is stored.

`python -m tools.make_choices` prints them all again from the model's weights; most of its time goes into learning.
"""
# The share of [CLS] in the lengths of what is handed on: (mean of the 72 heads, heads above an even share).
CLS_HANDED_ON = {
    "ratio of sums": (0.063, 13),
    "mean of row shares": (0.088, 25),
    "ratio of sums, no value bias": (0.086, 31),
    "mean of row shares, no value bias": (0.116, 44),
}
# Surgery on W_Q W_K^T alone, the terms with a bias left as they were: (cosine, share of paraphrases found).
BIASES_KEPT = {"symmetric part": (0.844, 0.983), "antisymmetric part": (0.879, 0.983), "one matrix": (0.322, 0.517)}
# What head 0.2 gives the token before with learned matrices: (on the 93 sentences learned from, on 60 fresh ones).
TOKEN_BEFORE = {"one, 150 steps": (0.763, 0.571), "one, 600 steps": (0.987, 0.543), "two, 150 steps": (0.999, 0.899)}
