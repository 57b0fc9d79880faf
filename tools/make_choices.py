"""Make choices.json, which mha/lab/folklore/choices.py reads: `python -m tools.make_choices [FOLDER]`, with the model's
weights in FOLDER, or where `mha.lab.real.load` looks for them. A quarter of an hour on one core.
"""
import json
import sys

import torch

from mha.lab import real, sentences, surgery
from mha.lab.folklore.choices import STORED
from mha.multihead import split_heads
from tools.make_real_heads import learned_from, retrieval


def lengths(attention, x, bias):
    """|v_j W_O| of every head and token, with the bias of the values or without: (1, h, n)."""
    V = split_heads(attention.W_V(x) if bias else x @ attention.W_V.weight.T, attention.num_heads)
    return (V @ attention.W_O.weight.T.unflatten(0, (attention.num_heads, attention.d_v))).norm(dim=-1)


def handed_on(model):
    """(how, bias) -> the share of [CLS] in what each head hands on, (72,); and the mean of an even share."""
    shares, even = {}, []
    for text in sentences.relations()[0]:
        trace = model.trace([text])
        even.append(1 / trace.weights.shape[-1])
        for bias in (True, False):
            moved = torch.cat([trace.weights[number][:1] * lengths(layer.attention, trace.inputs[number], bias)[
                ..., None, :] for number, layer in enumerate(model.layers)])[..., 1:-1, :]
            shares.setdefault(("sums", bias), []).append(moved[..., 0].sum(-1) / moved.sum((-2, -1)))
            shares.setdefault(("rows", bias), []).append((moved[..., 0] / moved.sum(-1)).mean(-1))
    return {how: torch.stack(each).mean(0).flatten() for how, each in shares.items()}, sum(even) / len(even)


def biases_kept(change):
    """The same change of W_Q W_K^T alone: every term of a score that holds a bias stays as it was."""
    def changed(Q, K):
        matrices, biases = zip(*((torch.cat([part[:, :-1], 0 * part[:, -1:]], 1),
                                  torch.cat([0 * part[:, :-1], part[:, -1:]], 1)) for part in (Q, K)))
        new_Q, new_K = change(*matrices)
        return torch.cat([new_Q, Q, biases[0]], -1), torch.cat([new_K, biases[1], matrices[1]], -1)
    return changed


def token_before(W, trace):
    """What head 0.2 gives the token before, its matrices being W (1 or 2, 12, d_model + 1, d_k)."""
    x = torch.cat([trace.inputs[0], torch.ones(*trace.real.shape, 1)], -1)[:, None]
    scores = (x @ W[0]) @ (x @ W[-1]).mT / W.shape[-1]**0.5
    weights = scores.masked_fill(~trace.real[:, None, None], -torch.inf).softmax(-1)
    return float(weights.diagonal(-1, -2, -1)[:, 2][trace.real[:, 1:]].mean())


WAYS = {("sums", True): "ratio of sums", ("rows", True): "mean of row shares",
        ("sums", False): "ratio of sums, no value bias", ("rows", False): "mean of row shares, no value bias"}
SURGERIES = {"symmetric part": surgery.symmetric, "antisymmetric part": surgery.antisymmetric,
             "one matrix": surgery.one_matrix}
LEARNED = {"one, 150 steps": (1, 150), "one, 600 steps": (1, 600), "two, 150 steps": (2, 150)}


@torch.no_grad()
def main(folder=None):
    model = real.load("minilm", folder=folder, device="cpu")
    shares, even = handed_on(model)
    handed = {WAYS[how]: [round(float(share.mean()), 3), int((share > even).sum())] for how, share in shares.items()}
    texts = [text for triple in sentences.paraphrases() for text in triple]
    own, kept, learned = model.sentence_vectors(texts), {}, {}
    for name, change in SURGERIES.items():
        vectors = surgery.operate(model, biases_kept(change)).sentence_vectors(texts)
        found = retrieval(vectors.unflatten(0, (-1, 3)))[0]
        kept[name] = [round(float((own * vectors).sum(-1).mean()), 3), round(float(found), 3)]
    others, fresh = learned_from(model), model.trace(texts[::3])
    for name, (matrices, steps) in LEARNED.items():
        with torch.enable_grad():
            layer = surgery.learned_like(model, others, matrices=matrices, steps=steps).layers[0]
        both = torch.stack(surgery.circuits(layer.attention))[:matrices]
        learned[name] = [round(token_before(both, trace), 3) for trace in (others, fresh)]
        print(name, learned[name], flush=True)
    STORED.write_text(json.dumps({"[CLS] handed on": handed, "biases kept": kept, "token before": learned}, indent=1)
                      + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
