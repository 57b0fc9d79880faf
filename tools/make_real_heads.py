"""Make real_heads.npz: `python -m tools.make_real_heads [FOLDER]` runs all-MiniLM-L6-v2 on the sentences of
`mha.lab.sentences` and keeps what its heads did.

FOLDER holds model.safetensors and tokenizer.json; without it `mha.lab.real.load` looks for them. Takes a minute or two
on one core.
"""
import copy
import sys

import numpy as np
import torch

from mha.lab import measure, real, sentences, surgery
from mha.lab.assets import BROWSED, REAL_HEADS, UNTRAINED
from tools.kept import keep


def surgeries(model, means, others):
    """(name, changed model, options of its forward pass), one by one. means: (6, d_model), the mean input of each
    layer's heads; others: the `Trace` of other texts.
    """
    rewritten = surgery.as_keys_prefer(model, means)
    off = {"head_mask": torch.zeros(len(model.layers), model.num_heads)}
    yield "as trained", model, {}
    yield "symmetric part", surgery.operate(model, surgery.symmetric), {}
    yield "antisymmetric part", surgery.operate(model, surgery.antisymmetric), {}
    yield "rewritten", rewritten, {}
    yield "rewritten, symmetric", surgery.operate(rewritten, surgery.symmetric), {}
    yield "rewritten, antisymmetric", surgery.operate(rewritten, surgery.antisymmetric), {}
    one = surgery.operate(model, surgery.one_matrix)
    yield "one matrix", one, {}
    yield "rewritten, one matrix", surgery.operate(rewritten, surgery.one_matrix), {}
    fitted = surgery.one_matrix_for(model, others.inputs[:, others.real])
    yield "fitted matrix", fitted, {}
    yield "learned matrix", surgery.learned_like(model, others), {}
    yield "two learned", surgery.learned_like(model, others, matrices=2), {}
    yield "W_Q in both", surgery.operate(model, surgery.queries_as_keys), {}
    yield "no heads", model, off


def untrained(model, seed):
    """A copy whose layers are drawn anew, as BERT draws them (normal, 0.02), on top of the trained embeddings."""
    g, fresh = torch.Generator().manual_seed(seed), copy.deepcopy(model)
    for name, parameter in fresh.layers.named_parameters():
        if parameter.ndim == 2:
            parameter.data = 0.02 * torch.randn(parameter.shape, generator=g)
        else:
            parameter.data = torch.full_like(parameter, float("norm" in name and name.endswith("weight")))
    return fresh


def word_maps(trace):
    """Of each sentence, the maps between its words: a list of (72, w, w)."""
    return [measure.of_words(trace.weights[:, b].flatten(0, 1), trace.words[b]) for b in range(len(trace.words))]


def looked_at(model, texts):
    """(72, words of all sentences): the other word that each head looks at most, sentence by sentence."""
    maps = word_maps(model.trace(texts))
    return measure.choices(maps, [(number, word) for number, words in enumerate(texts) for word in range(len(words))])


def browsed(model):
    """The sentences of the figure: their tokens, and every map in steps of 1/255."""
    kept = {}
    for number, text in enumerate(BROWSED):
        trace = model.trace([text])
        kept[f"tokens.{number}"] = np.array(trace.tokens[0])
        kept[f"maps.{number}"] = (255 * trace.weights[:, 0]).round().to(torch.uint8).numpy()  # (6, 12, n, n)
    return kept


def cross(model):
    """What "cross" gives in the first two of these sentences, not rounded: steps of 1/255 make ties."""
    traces = [model.trace([text]) for text in BROWSED[:2]]
    return {"cross": torch.stack([trace.weights[:, 0, :, trace.tokens[0].index("cross")].flatten(0, 1)
                                  for trace in traces]).numpy()}


def relations(model):
    texts, _ = sentences.relations()
    kept = {"looked_at": looked_at(model, texts).to(torch.int8).numpy()}
    ids, _, encodings = model.encode(texts)
    rarest = [max(number for number, at in zip(row.tolist(), one.word_ids) if at == word)
              for row, one, words in zip(ids, encodings, texts) for word in range(len(words))]
    kept["vocabulary"] = np.array(rarest, dtype=np.uint16)
    kept["looked_at_untrained"] = np.stack([looked_at(untrained(model, seed), texts).to(torch.int8).numpy()
                                            for seed in range(UNTRAINED)])
    return kept


def rows_of_pronouns(model, found):
    """(72, items, longest sentence): the weights of each item's pronoun on the words of its sentence, 0 behind its end.
    """
    maps = word_maps(model.trace([item.words for item in found]))
    longest = max(len(item.words) for item in found)
    rows = torch.zeros(len(maps[0]), len(found), longest)
    for number, (item, one) in enumerate(zip(found, maps)):
        rows[:, number, :len(item.words)] = one[:, item.pronoun]
    return rows


def embedding_rows(model, found):
    """(items, longest sentence): the cosine of each item's pronoun with each word, by the embeddings of their pieces
    alone.
    """
    rows = torch.zeros(len(found), max(len(item.words) for item in found))
    for number, item in enumerate(found):
        ids, _, encodings = model.encode([item.words])
        pieces = torch.tensor([-1 if word is None else word for word in encodings[0].word_ids])
        vectors = torch.stack([model.embedding(ids[0, pieces == word]).mean(0) for word in range(len(item.words))])
        rows[number, :len(vectors)] = torch.cosine_similarity(vectors[item.pronoun], vectors, dim=-1).detach()
    return rows


def bare_rows(model, found):
    """(72, items, longest sentence): `rows_of_pronouns` of heads that read the embeddings, with no layer before them
    and no positions.
    """
    rows = torch.zeros(72, len(found), max(len(item.words) for item in found))
    for number, item in enumerate(found):
        ids, _, encodings = model.encode([item.words])
        x = model.embed(ids, use_positions=False)
        # (72, n, n)
        weights = torch.cat([layer.attention(x, need_weights=True)[1][0] for layer in model.layers]).detach()
        rows[:, number, :len(item.words)] = measure.of_words(weights, encodings[0].word_ids)[:, item.pronoun]
    return rows


def pronouns(model):
    fresh = [untrained(model, seed) for seed in range(UNTRAINED)]
    items = {"twins": [one for pair in sentences.twins() for one in pair], "late": sentences.late(),
             "apart": [item for _, item in sentences.apart()]}
    kept = {name: rows_of_pronouns(model, found) for name, found in items.items()}
    for name, again in (("pronouns", False), ("pronouns_again", True)):
        found = sentences.pronouns(again)
        kept |= {name: rows_of_pronouns(model, found), f"{name}_embedding": embedding_rows(model, found),
                 f"{name}_bare": bare_rows(model, found),
                 f"{name}_untrained": torch.stack([rows_of_pronouns(one, found) for one in fresh])}
    return {name: rows.half().numpy() for name, rows in kept.items()}


def positions_and_sinks(model):
    """Of each head: mean weight on the token before, itself and after; how often each is the row's largest; the same of
    itself among words only; entropy; what [CLS] and [SEP] get and hand on; and how well weight and what is handed on
    agree within a row.
    """
    texts, _ = sentences.relations()
    near, tops, own, entropies, shares, handed, agree = [], [], [], [], [], [], []
    for text in texts:
        trace = model.trace([text])
        weights = trace.weights[:, 0]                                        # (6, 12, n, n)
        inner = weights[..., 1:-1, 1:-1]                                     # words only
        near.append(torch.stack([measure.at_offset(inner, k) for k in (-1, 0, 1)], -1))
        top, place = weights.argmax(-1), torch.arange(weights.shape[-1])
        tops.append(torch.stack([(top == place + k)[..., 1:-1].float().mean(-1) for k in (-1, 0, 1)], -1))
        among = inner / inner.sum(-1, keepdim=True)
        own.append(torch.stack([among.diagonal(0, -2, -1).mean(-1), (among.argmax(-1) == place[:-2]).float().mean(-1)],
                               -1))
        entropies.append(measure.entropy(weights)[..., 1:-1].mean(-1))
        moved = torch.stack([measure.carried(weights[number][None], trace.inputs[number], layer.attention)[0].detach()
                             for number, layer in enumerate(model.layers)])
        agree.append(torch.stack([measure.rank_correlation(inner, moved[..., 1:-1, 1:-1]),
                                  measure.rank_correlation(weights, moved)[..., 1:-1]], -1).mean(-2))
        for kept, each in ((shares, weights), (handed, moved)):
            total = each[..., 1:-1, :].sum((-2, -1))
            kept.append(torch.stack([each[..., 1:-1, 0].sum(-1) / total, each[..., 1:-1, -1].sum(-1) / total], -1))
    mean = lambda found: torch.stack(found).mean(0).flatten(0, 1).half().numpy()      # noqa: E731
    return {"near": mean(near), "tops": mean(tops), "own": mean(own), "entropy": mean(entropies), "sinks": mean(shares),
            "sinks_carried": mean(handed), "carried_rank": mean(agree)}


def likeness(model):
    """(72, 72): divergence between the maps of two heads, mean over sentences; and between what is left of them when
    only words count.
    """
    texts, _ = sentences.relations()
    total, words = torch.zeros(2, 72, 72)
    for text in texts:
        maps = model.trace([text]).weights[:, 0].flatten(0, 1)
        inner = maps[:, 1:-1, 1:-1]
        total += measure.redundancy(maps)
        words += measure.redundancy(inner / inner.sum(-1, keepdim=True))
    return {"likeness": (total / len(texts)).half().numpy(), "likeness_words": (words / len(texts)).half().numpy()}


def circuit_asymmetry(model):
    """(72,), and of 72 pairs of random matrices of the same shape."""
    ratios = []
    for layer in model.layers:
        Q, K = surgery.circuits(layer.attention)
        ratios.append(measure.asymmetry(Q @ K.mT))
    g = torch.Generator().manual_seed(0)
    Q, K = (torch.randn(72, 385, 32, generator=g) for _ in range(2))
    return {"asymmetry": torch.cat(ratios).detach().numpy(), "asymmetry_random": measure.asymmetry(Q @ K.mT).numpy()}


def retrieval(vectors):
    """(60, 3, d) -> share of sentences whose counterpart is the nearest of 60, and share whose counterpart is nearer
    than the decoy.
    """
    first, second, decoy = vectors.unbind(1)
    nearest = (first @ second.T).argmax(-1) == torch.arange(len(first))
    return nearest.float().mean(), ((first * second).sum(-1) > (first * decoy).sum(-1)).float().mean()


def learned_from(model):
    """What the heads read and give on every second sentence with relations, the first pronouns and the twins: from
    these, one matrix is fitted or learned.
    """
    items = sentences.pronouns() + [item for pair in sentences.twins() for item in pair]
    return model.trace(sentences.relations()[0][::2] + [item.words for item in items])


def token_before(trace):
    """(layers, h): the mean weight on the token before, over all tokens that have one."""
    return trace.weights.diagonal(-1, -2, -1).transpose(2, 3)[:, trace.real[:, 1:]].mean(1)


@torch.no_grad()
def operations(model):
    """Of each surgery: cosine with the model's own vectors, nearest of 60, nearer than the decoy, mean total variation
    between maps, mean weight on oneself, role swap.
    """
    triples = sentences.paraphrases()
    texts = [text for triple in triples for text in triple]
    swapped = [text for pair in sentences.roles() for text in pair]
    maps = model.trace(texts[::3])
    own, rows, names = model.sentence_vectors(texts), [], []
    pick = lambda t: t.transpose(2, 3)[:, maps.real].mean()                  # noqa: E731
    before, learned = [], {}
    for name, other, options in surgeries(model, maps.inputs[:, maps.real].mean(1), learned_from(model)):
        vectors = other.sentence_vectors(texts, **options)
        trace = other.trace(texts[::3], **options)
        weights = trace.weights  # (6, B, 12, n, n)
        distance = (weights - maps.weights).abs().sum(-1) / 2
        pairs = other.sentence_vectors(swapped, **options).unflatten(0, (-1, 2))
        blind = other.sentence_vectors(swapped, use_positions=False, **options).unflatten(0, (-1, 2))
        rows.append([(own * vectors).sum(-1).mean(), *retrieval(vectors.unflatten(0, (-1, 3))), pick(distance),
                     pick(weights.diagonal(0, -2, -1)),
                     (pairs[:, 0] * pairs[:, 1]).sum(-1).mean(), (blind[:, 0] * blind[:, 1]).sum(-1).min()])
        names.append(name)
        if name in ("as trained", "two learned", "learned matrix"):
            before.append(token_before(trace).flatten())
        if name in ("two learned", "learned matrix"):
            learned.setdefault("pronouns_again_learned", []).append(rows_of_pronouns(
                other, sentences.pronouns(again=True)).half().numpy())
            learned.setdefault("looked_at_learned", []).append(
                looked_at(other, sentences.relations()[0]).to(torch.int8).numpy())
    return {"surgeries": np.array(names), "surgery_scores": torch.tensor(rows).numpy(),
            "before_learned": torch.stack(before, -1).half().numpy(),
            **{name: np.stack(both) for name, both in learned.items()}}


def main(folder=None):
    model = real.load("minilm", folder=folder, device="cpu")
    kept = {}
    for part in (browsed, cross, relations, pronouns, positions_and_sinks, likeness, circuit_asymmetry, operations):
        kept |= part(model)
        print(part.__name__, flush=True)
    keep(REAL_HEADS, kept)
    for name, row in zip(kept["surgeries"], kept["surgery_scores"]):
        print(f"{name:28}", " ".join(f"{x:7.3f}" for x in row))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
