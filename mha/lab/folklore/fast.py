"""Claims about what makes attention fast, on one machine and on several (chapter 12)."""
import torch

from mha import MultiHeadAttention, attention, masks
from mha.lab.fast import H100, LAPTOP, LAYERS, decoding, operations, split, walk
from mha.lab.folklore.claim import READING, ROUNDING, SETTINGS, WRONG, claim

TWELVE, LAB = "12_fast_heads", "12_fast_heads_lab"
WIDTHS = 1, 8, 64, 97  # keys in a tile, of a text of 97 tokens


@claim("fast", "FlashAttention approximates attention.", WRONG, TWELVE)
def an_approximation():
    q, k, v = torch.randn(3, 4, 97, 16).double()
    whole, _ = attention(q, k, v)
    off = max((walk(q, k, v, width, backwards)[-1].out - whole).abs().max()
              for width in WIDTHS for backwards in (False, True))
    return (f"It joins tiles of keys by their log-sum-exp. With tiles of {', '.join(map(str, WIDTHS[:-1]))} or all "
            f"{WIDTHS[-1]} keys, in either order, four heads give what one softmax over all keys gives, to "
            f"{ROUNDING:.0e}.", off < ROUNDING)


def unhidden(n, side):
    """The share of the tiles of a causal mask in which some pair is seen."""
    tiles = n // side
    return float(masks.causal(n).view(tiles, side, tiles, side).any(3).any(1).double().mean())


@claim("fast", "FlashAttention is faster because it does fewer operations.", SETTINGS, LAB)
def fewer_operations():
    unit, share = 1024 ** 2 * 64, unhidden(1024, 64)  # unit: n² d
    (forward, backward), (same, more) = ([each // unit for each in operations(1024, 64, stored)]
                                         for stored in (True, False))
    return (f"Where every query sees every key it does {same} n² d operations forward, as the plain code does, and "
            f"{more} backward instead of {backward}: it is faster because it moves fewer numbers. Under a causal mask "
            f"it can skip masked tiles: of a text of 1024 tokens in tiles of 64, {share:.2f} have a visible pair.",
            forward == same and more > backward and share < 0.6)


def of_half_the_width(layer, x, machine):
    """What one of two machines would put out that holds all heads, and half the coordinates of each."""
    h, half = layer.num_heads, layer.d_k // 2
    mine = [i * layer.d_k + machine * half + c for i in range(h) for c in range(half)]
    q, k, v = (W(x)[:, mine].unflatten(-1, (h, half)).transpose(0, 1) for W in (layer.W_Q, layer.W_K, layer.W_V))
    out, _ = attention(q, k, v, scale=layer.d_k ** -0.5)
    return out.transpose(0, 1).flatten(1) @ layer.W_O.weight[:, mine].T


@claim("fast", "Tensor parallelism splits the head dimension.", READING, TWELVE)
def the_head_dimension():
    layer, x = MultiHeadAttention(32, 4, bias=False).double(), 3 * torch.randn(6, 32).double()
    whole = layer(x)[0].detach()
    heads = sum(layer.prune(held.heads)(x)[0] for held in split(layer, 2))
    widths = sum(of_half_the_width(layer, x, machine) for machine in (0, 1))
    off = [float((each.detach() - whole).abs().max() / whole.abs().max()) for each in (heads, widths)]
    return (f"It splits the axis of heads. Two machines with two whole heads each sum to the layer, to {ROUNDING:.0e}. "
            "d_k, often called so too, cannot be split in this way. With half of each head's coordinates a machine has "
            f"only a part of each score before its softmax: the sum is off by {off[1]:.2f} of the largest output.",
            off[0] < ROUNDING and off[1] > 0.1)


@claim("fast", "Attention waits for memory while decoding.", SETTINGS, TWELVE)
def decoding_waits():
    ratio = {layer.name: decoding(layer).per_byte for layer in LAYERS}
    return (f"With 16-bit numbers and a long text, MHA does {ratio['MHA']:.0f} operation for each byte of its cache, "
            f"GQA of four query heads a KV head {ratio['GQA']:.0f}, and the absorbed latent of DeepSeek-V2 "
            f"{ratio['MLA']:.0f}. An H100 balances at {H100.balance:.0f}, and a laptop's GPU at {LAPTOP.balance:.0f}: "
            "on the laptop this latent waits for arithmetic.",
            max(ratio["MHA"], ratio["GQA"]) < LAPTOP.balance < ratio["MLA"] < H100.balance)
