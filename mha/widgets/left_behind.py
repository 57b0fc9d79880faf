"""What a token leaves behind: the keys and values, or the latent, that decoding keeps of it, and what a text needs."""
import torch

from mha import viz
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention
from mha.widgets.figure import ChoiceSlider, LiveFigure

POWERS = [2**i for i in range(8)]
CHOICES = {  # name of a control -> what its index stands for
    "h": POWERS,
    "h_kv": POWERS,
    "d_k": [32, 64, 128, 256],
    "latent": [[0, 0], [128, 32], [256, 32], [512, 0], [512, 64], [1024, 64]],  # d_c and d_r; none
    "n": [1024 * power for power in POWERS],
    "layers": [1, 12, 24, 32, 48, 60, 80, 96, 126],
    "bits": [8, 16, 32],
}
FIRST = {"h": 32, "h_kv": 32, "d_k": 128, "latent": [0, 0], "n": 8192, "layers": 32, "bits": 16}
TEXTS = 32


def layer_of(h, h_kv, d_k, d_v=None, d_c=0, d_r=0):
    """A layer of h heads that share h_kv keys and values, or one latent of d_c numbers. It has sizes and no numbers."""
    if d_c:
        return MultiHeadLatentAttention(1, h, d_c=d_c, d_k=d_k, d_v=d_v, d_r=d_r, device="meta")
    return MultiHeadAttention(1, h, num_kv_heads=h_kv, d_k=d_k, d_v=d_v, device="meta")


def sizes_of(label, name, **options):
    """The control of one of CHOICES."""
    labels = [f"{size:,}" if isinstance(size, int) else f"{size[0]:,} + {size[1]}" if size[0] else "none"
              for size in CHOICES[name]]
    return ChoiceSlider(label, labels, value=CHOICES[name].index(FIRST[name]), **options)


class LeftBehind(LiveFigure):
    """What one token leaves in the cache of a layer, in proportion, and how much that is for texts in all layers.

    There are no more keys and values than heads: of a larger h_kv, h is taken. With a latent h_kv waits.

    `numbers()` gives pairs, each beside what a key and a value for each head come to: left (2), the numbers that a
    token leaves in a layer; KiB (2), of a token in all layers; GiB (4), of one text of n tokens, then of 32.
    """

    data = {"choices": CHOICES, "texts": TEXTS}
    h = sizes_of("query heads h", "h")
    h_kv = sizes_of("keys and values h_kv", "h_kv")
    d_k = sizes_of("widths d_k = d_v", "d_k", new_row=True)
    latent = sizes_of("latent d_c + d_r", "latent")
    n = sizes_of("tokens n", "n", new_row=True)
    layers = sizes_of("layers", "layers")
    bits = sizes_of("bits a number", "bits")

    def numbers(self, **setting):
        size = {name: CHOICES[name][index] for name, index in setting.items()}
        h, h_kv, d_k = size["h"], min(size["h"], size["h_kv"]), size["d_k"]
        d_c, d_r = size["latent"]
        both = [layer_of(h, h_kv, d_k, d_c=d_c, d_r=d_r), layer_of(h, h, d_k)]

        def bytes_of(texts, n):
            caches = [layer.new_cache(texts, n) for layer in both]
            return [size["layers"] * (cache.K.numel() + cache.V.numel()) * size["bits"] / 8 for cache in caches]

        left = [layer.new_cache(1, 1).per_token for layer in both]
        KiB, GiB = bytes_of(1, 1), bytes_of(1, size["n"]) + bytes_of(TEXTS, size["n"])
        return {name: torch.tensor(values, dtype=torch.float64) / unit
                for name, values, unit in (("left", left, 1), ("KiB", KiB, 2**10), ("GiB", GiB, 2**30))}

    def picture(self):
        shown = self.numbers(**self.setting())
        in_heads = shown["left"] / (2 * CHOICES["d_k"][self.d_k])
        picture = viz.bars(["here", "each head its own"], heads_of_keys_and_values=in_heads)
        n = CHOICES["n"][self.n]
        facts = {"numbers in a layer": shown["left"], "KiB in all layers": shown["KiB"],
                 f"GiB of a text of {n:,} tokens": shown["GiB"][:2]}
        lines = [f"{name}: {here:,g}, and {own:,g} where each head has its own" for name, (here, own) in facts.items()]
        picture.text = "What a token leaves behind, beside a key and a value for each head.\n\n" + "\n".join(lines)
        return picture
