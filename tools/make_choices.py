"""Print the numbers of mha/folklore/choices.py: `python -m tools.make_choices [FOLDER]`, with the model's weights in
FOLDER, or where `mha.real.load` looks for them. A quarter of an hour on one core.
"""
import sys

import torch

from mha import real, sentences, surgery
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


@torch.no_grad()
def main(folder=None):
    model = real.load("minilm", folder=folder, device="cpu")
    shares, even = handed_on(model)
    for how, share in shares.items():
        print(how, f"{share.mean():.3f}", int((share > even).sum()))
    texts = [text for triple in sentences.paraphrases() for text in triple]
    own = model.sentence_vectors(texts)
    for change in (surgery.symmetric, surgery.antisymmetric, surgery.one_matrix):
        vectors = surgery.operate(model, biases_kept(change)).sentence_vectors(texts)
        print(change.__name__, f"{(own * vectors).sum(-1).mean():.3f}",
              f"{retrieval(vectors.unflatten(0, (-1, 3)))[0]:.3f}")
    others, fresh = learned_from(model), model.trace(texts[::3])
    for matrices, steps in ((1, 150), (1, 600), (2, 150)):
        first = surgery.learned_like(model, others, matrices=matrices, steps=steps).layers[0].attention
        Q, K = surgery.circuits(first)
        both = torch.stack([Q, K])[:matrices]
        print(matrices, steps, *(f"{token_before(both, trace):.3f}" for trace in (others, fresh)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
