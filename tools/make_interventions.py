"""Make interventions.json: `python -m tools.make_interventions [FOLDER]`, with the weights of all-MiniLM-L6-v2 in
FOLDER, or where `mha.lab.real.load` looks for them. Ten minutes on one core.
"""
import json
import sys

import torch
import torch.nn.functional as F

from mha.lab import real, sentences
from mha.lab.assets import INTERVENTIONS
from mha.multihead import merge_heads, split_heads

HEADS = 12


def weights_of(scores, change, sinks):
    """The weights (1, h, n, n) of scores after a change of what [CLS], the first key, may get.

    "as trained"; "value" leaves the weights of all others as they were, and drops its own; "logit" puts one number for
    each head, sinks (h,), in the place of its score, and nothing in the place of its value; a number leaves out the key
    at that place.
    """
    if change == "as trained":
        return scores.softmax(-1)
    if change == "logit":
        nothing = sinks[:, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([nothing, scores[..., 1:]], -1)
    if change in ("logit", "value"):
        return F.pad(scores.softmax(-1)[..., 1:], (1, 0))
    keys = torch.arange(scores.shape[-1])
    return scores.masked_fill(keys == change % len(keys), -torch.inf).softmax(-1)


def run(model, text, change="as trained", sinks=(None,) * 6):
    """The vector of a sentence (d_model,), and the scores of its [CLS] in each layer (h, n)."""
    x, seen = model.embed(model.encode([text])[0]), []
    for layer, some in zip(model.layers, sinks):
        Q, K, V = (split_heads(W(x), HEADS) for W in (layer.attention.W_Q, layer.attention.W_K, layer.attention.W_V))
        scores = Q @ K.mT / Q.shape[-1] ** 0.5
        seen.append(scores[0, :, :, 0])
        x = layer.norm_1(x + layer.attention.W_O(merge_heads(weights_of(scores, change, some) @ V)))
        x = layer.norm_2(x + layer.down(F.gelu(layer.up(x))))
    return x[0].mean(0), seen


def without_cls(model):
    """Change -> the mean cosine of 31 sentences' vectors with the model's own, and the least.

    The numbers that stand for [CLS] are the means of its scores on the 31 other sentences.
    """
    texts = sentences.relations()[0]
    learned, tried = texts[::2], texts[1::2]
    scores = zip(*(run(model, text)[1] for text in learned))
    sinks = [torch.cat(each, -1).mean(-1) for each in scores]
    own = torch.stack([run(model, text)[0] for text in tried])
    changes = {"[CLS]": 0, "[SEP]": -1, **{f"word {j}": j for j in range(1, 8)}, "one more logit": "logit",
               "its value": "value"}
    found = {}
    for name, change in changes.items():
        cosine = F.cosine_similarity(torch.stack([run(model, text, change, sinks)[0] for text in tried]), own)
        found[name] = [round(float(cosine.mean()), 3), round(float(cosine.min()), 3)]
    return found


def switched_off(model, texts, asks):
    """How far the vectors of the tokens in `asks`, (sentence, word), move when one head is off, and those of all other
    words: (72, 2), in lengths of the vectors.
    """
    own = model.trace(texts)
    asking = torch.tensor([[(s, word) in asks for word in row] for s, row in enumerate(own.words)])
    others = torch.tensor([[word is not None for word in row] for row in own.words]) & ~asking
    moved = []
    for head in range(6 * HEADS):
        mask = (torch.arange(6 * HEADS) != head).float().view(6, HEADS)
        away = (model.trace(texts, head_mask=mask).hidden - own.hidden).norm(dim=-1) / own.hidden.norm(dim=-1)
        moved.append(torch.stack([away[asking].mean(), away[others].mean()]))
    return torch.stack(moved)


def jobs():
    """Name -> sentences, and the words in them that ask."""
    texts, marks = sentences.relations()
    pronouns = sentences.pronouns() + sentences.pronouns(again=True)
    return {"determiners": (texts, {(mark.sentence, mark.dependent) for mark in marks if mark.kind == "det"}),
            "pronouns": ([item.words for item in pronouns], {(n, item.pronoun) for n, item in enumerate(pronouns)})}


@torch.no_grad()
def main(folder=None):
    model = real.load("minilm", folder=folder, device="cpu")
    moved = {name: [[round(float(x), 3) for x in row] for row in switched_off(model, *job)]
             for name, job in jobs().items()}
    kept = {"without [CLS]": without_cls(model), "switched off": moved}
    INTERVENTIONS.write_text(json.dumps(kept, indent=None) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
