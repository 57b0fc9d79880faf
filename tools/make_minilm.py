"""Make minilm.npz: `python -m tools.make_minilm [FOLDER]` keeps queries and keys of all-MiniLM-L6-v2 on a few
sentences.

FOLDER holds model.safetensors and tokenizer.json; without it `mha.lab.real.load` looks for them.
"""
import sys

import numpy as np
import torch

from mha.lab import real, surgery
from mha.lab.assets import MINILM

STREET = "The animal didn't cross the street because it was too "
SENTENCES = {"tired": (STREET + "tired", [0, 5]), "wide": (STREET + "wide", [5]),
             "bank": ("The bank by the river overflowed", [0]),
             "deposit": ("I am going to deposit my money at the bank", [0, 5])}


def sorted_head(x, W_Q, W_K):
    """Queries and keys of one head with the same scores, the strongest direction of W_Q W_K^T first.

    Q A and K A^-T give the scores of Q and K for any invertible A, so the columns inside a head have no order of their
    own. The singular value decomposition W_Q W_K^T = U S V^T gives them one: Q = x U S^1/2, K = x V S^1/2.
    """
    (basis_q, upper_q), (basis_k, upper_k) = torch.linalg.qr(W_Q), torch.linalg.qr(W_K)
    U, S, V = torch.linalg.svd(upper_q @ upper_k.T)
    return x @ basis_q @ U * S.sqrt(), x @ basis_k @ V.T * S.sqrt()


def queries_and_keys(x, attention):
    """Q and K, (n, d_model) each, of all heads of a layer on its input x (n, d_model)."""
    x1 = torch.cat([x, torch.ones(len(x), 1)], -1)                       # the bias is the last row of the matrix
    heads = [sorted_head(x1, W_Q, W_K) for W_Q, W_K in zip(*surgery.circuits(attention))]
    return [torch.cat(parts, 1) for parts in zip(*heads)]


@torch.no_grad()
def main(folder=None):
    torch.set_default_dtype(torch.float64)
    model, stored = real.load("minilm", folder=folder, device="cpu").double(), {}
    for sentence, (text, layers) in SENTENCES.items():
        trace = model.trace([text])
        for layer in layers:
            Q, K = queries_and_keys(trace.inputs[layer, 0], model.layers[layer].attention)
            name = f"{sentence}.{layer}"
            stored |= {f"{name}.Q": Q.numpy().astype(np.float16), f"{name}.K": K.numpy().astype(np.float16),
                       f"{name}.tokens": np.array(trace.tokens[0])}
    np.savez_compressed(MINILM, **stored)
    print(f"{MINILM.name}: {MINILM.stat().st_size} bytes, "
          f"{', '.join(sorted({key.rsplit('.', 1)[0] for key in stored}))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
