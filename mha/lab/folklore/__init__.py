"""The folklore of multi-head attention: sentences that popular texts print, each with a computation that decides on it.

    folklore.tell("softmax")        # computes, and prints the claim, what came out, the verdict

A claim whose numbers do not support its verdict raises an error, so what is told has been computed. To add one, write a
function below `@claim(...)`.
"""
from mha.lab.folklore import scores, matrices, layers, trained, position, sharing, decoders, fast    # noqa: F401, I001
from mha.lab.folklore.claim import CLAIMS, VERDICTS, Claim, Told, tell, where

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Told", "tell", "where"]
