"""A KV cache that fills as texts are written, and one GPU: heads may share keys and values, or read a latent."""
import torch

from mha import viz
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure

# Llama-2-7B's sizes, 16 bits a number, and the latent of DeepSeek-V2 in their place; what fills the rest of a GPU
HEADS, D_K, D_C, D_R, LAYERS, BYTES = 32, 128, 512, 64, 32, 2
GPU, MODEL = 80, 7e9 * BYTES / 2**30  # GiB
WAYS = {"MHA 32": 32, "GQA 16": 16, "GQA 8": 8, "GQA 4": 4, "GQA 2": 2, "MQA 1": 1, "MLA": None}  # name -> KV heads
TOKENS = [512 * i for i in range(1, 17)]
TEXTS = [2**i for i in range(9)]


def layer_of(h, h_kv, d_k, d_v=None, d_c=0, d_r=0):
    """A layer of h heads that share h_kv keys and values, or one latent of d_c numbers. It has sizes and no numbers."""
    if d_c:
        return MultiHeadLatentAttention(1, h, d_c=d_c, d_k=d_k, d_v=d_v, d_r=d_r, device="meta")
    return MultiHeadAttention(1, h, num_kv_heads=h_kv, d_k=d_k, d_v=d_v, device="meta")


def layer_called(way):
    """One of WAYS, with the sizes above."""
    latent = {} if WAYS[way] else {"d_c": D_C, "d_r": D_R}
    return layer_of(HEADS, WAYS[way], D_K, **latent)


def GiB_of(way, texts, n):
    """What `texts` texts of n tokens keep in all layers."""
    cache = layer_called(way).new_cache(texts, n)
    return LAYERS * (cache.K.numel() + cache.V.numel()) * BYTES / 2**30


class FillingCache(LiveFigure):
    """What texts of n tokens leave in the KV cache, in proportion, and whether that fits into a GPU beside the model.

    `numbers()` gives left (1), the numbers that a token leaves in a layer; KiB (1), of a token in all layers; GiB (2),
    of one text, then of all; free (1), the GiB of the GPU that remain; full (1), the tokens of each text that fit.
    """

    label = "A key-value cache that fills as texts are written, beside the memory of one GPU, for heads that share."
    data = {"ways": list(WAYS), "kv": list(WAYS.values()), "tokens": TOKENS, "texts": TEXTS, "heads": HEADS,
            "d_k": D_K, "d_c": D_C, "d_r": D_R, "layers": LAYERS, "bytes": BYTES, "gpu": GPU, "model": MODEL}
    sharing = Choice("KV heads", list(WAYS))
    n = ChoiceSlider("tokens written", [f"{n:,}" for n in TOKENS], value=TOKENS.index(8192), new_row=True)
    texts = ChoiceSlider("texts at once", [str(count) for count in TEXTS], value=TEXTS.index(32))

    def numbers(self, sharing, n, texts):
        way = list(WAYS)[sharing]
        one, every = GiB_of(way, 1, TOKENS[n]), GiB_of(way, TEXTS[texts], TOKENS[n])
        token = GiB_of(way, 1, 1)
        shown = {"left": [layer_called(way).new_cache(1, 1).per_token], "KiB": [token * 2**20], "GiB": [one, every],
                 "free": [GPU - MODEL - every], "full": [(GPU - MODEL) // (TEXTS[texts] * token)]}
        return {name: torch.tensor(values, dtype=torch.float64) for name, values in shown.items()}

    def picture(self):
        shown, way = self.numbers(**self.setting()), list(WAYS)[self.sharing]
        texts, n = TEXTS[self.texts], TOKENS[self.n]
        GiB = {"MHA 32": GiB_of("MHA 32", texts, n), way: float(shown["GiB"][1]), "room beside the model": GPU - MODEL}
        picture = viz.bars(list(GiB), **{f"GiB of {texts} texts of {n:,} tokens": list(GiB.values())})
        picture.text = "\n".join([
            f"The KV cache of {texts} texts of {n:,} tokens, beside a model of 7 billion parameters on one GPU.\n",
            f"a token adds in a layer: {int(shown['left'][0]):,} numbers with {way}",
            *(f"{name}: {size:,.1f} GiB" for name, size in GiB.items())])
        return picture
