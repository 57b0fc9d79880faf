"""Models, tokenizers and maps for the tests of mha.lab.look."""
import base64
import gzip
import json
import re

import torch
from torch import nn

import mha
from mha.lab.stories import StoryTeller
from mha.lab.transformer import Transformer

IDS = [1, 5, 7, 5, 3, 11, 2, 7]


class Words:
    """A tokenizer of numbers."""

    def encode(self, text):
        return [int(part) for part in text.split()]

    def id_to_token(self, number):
        return {1: "<s>", 5: "▁five", 7: "##teen", 11: "</script><b>"}.get(number, str(number))


def decoder(**sizes):
    return StoryTeller(**{"vocabulary": 13, "positions": 64, "d_model": 12, "num_layers": 2, "num_heads": 6,
                          "num_kv_heads": 3, "hidden": 7, **sizes}).eval()


def encoder():
    made = Transformer(13, 17, 12, 2, 3, causal=False, tokenizer=Words()).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


class Own(nn.Module):
    """A model that a reader might write."""

    def __init__(self, causal=True, blocks=2):
        super().__init__()
        self.token, self.place = nn.Embedding(13, 12), nn.Embedding(23, 12)
        self.blocks = nn.ModuleList(mha.MultiHeadAttention(12, 3, causal=causal) for _ in range(blocks))
        self.out = nn.Linear(12, 13)

    def through(self, x):
        for block in self.blocks:
            x = x + block(x)[0]
        return x

    def forward(self, ids):
        return self.out(self.through(self.token(ids) + self.place(torch.arange(ids.shape[-1]))))


def maps(layers=2, h=3, n=5, causal=False):
    raw = torch.randn(layers, h, n, n)
    return (raw.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf) if causal else raw).softmax(-1)


def told(page_text):
    """The numbers and maps of a saved page."""
    data, packed = (re.search(rf'id="{name}">(.*?)</script>', page_text, re.S)[1] for name in ("data", "maps"))
    return json.loads(data), gzip.decompress(base64.b64decode(packed))


def without_a_chance(tokens):
    """A decoder that gives some tokens no chance at all."""
    model = Own().eval()
    with torch.no_grad():
        model.out.bias[tokens] = -torch.inf
    return model


class Backwards(Own):
    """Its layers run in another order than they are registered."""

    def through(self, x):
        for block in reversed(self.blocks):
            x = x + block(x)[0]
        return x


def returning(change, **sizes):
    """A model whose output is changed."""
    model = Own(**sizes).eval()
    forward = model.forward
    model.forward = lambda ids: change(forward(ids))
    return model


class Odd(Own):
    """Its first layer runs some number of times, and its second is this one, or another."""

    def __init__(self, times, shared=False):
        super().__init__()
        self.times = times
        if shared:
            self.blocks[1] = self.blocks[0]

    def through(self, x):
        for block in [self.blocks[0]] * self.times + [self.blocks[1]]:
            x = x + block(x)[0]
        return x


class Crossed(Own):
    def through(self, x):
        x = x + self.blocks[0](x)[0]
        return x + self.blocks[1](x, x[:, :3])[0]


def broken(name):
    model = Own().eval()
    with torch.no_grad():
        getattr(model, name).weight.fill_(torch.nan)
    return model
