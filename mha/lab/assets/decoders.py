"""Induction heads, sinks and rotary positions of two trained decoders (`heads_of_decoders.npz`)."""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

DECODERS = FOLDER / "heads_of_decoders.npz"
MODELS = ("stories15m", "smollm2")
PATHS_KEPT = ("whole", "queries", "keys", "values", "all", "off")        # from which a head is kept, in later layers
TURNED = ("none", "slowest, quarter", "slowest, half", "slowest, three quarters", "fastest, one", "fastest, quarter",
          "all")                                    # which pairs do not turn


@dataclass(frozen=True)
class DecoderHeads:
    """What the heads of one model do, float16. Random tokens: eight texts of 40 that come twice, behind a start token.

    Texts: 16 stories, 100 tokens of each. Losses in nats per token, one for each text; those of random tokens are of
    the second 40: of all but the first, which nothing foretells, in `loss`, `loss_once`, `first` and `path_loss`, and
    of all of them elsewhere.
    """
    induction: Tensor
    """(8, layers, h), the mean weight on the token after the one before, where that came last."""
    induction_once: Tensor
    """(8, layers, h), the mean weight at the same offset where the second 40 tokens are others."""
    previous: Tensor
    """(8, layers, h), the mean weight on the token before."""
    same: Tensor
    """(8, layers, h), the mean weight on the same token where it came last."""
    loss: Tensor
    """(2, 8), of the first 40 tokens and of the second."""
    loss_once: Tensor
    """(8,), of the second 40 where they are others."""
    first: Tensor
    """(8,), the share of the second 40 that are the likeliest token."""
    off: Tensor
    """(3, 2, 4), with the 1, 3 and 9 heads of the highest induction score off, by zero and by the mean; four texts."""
    off_others: Tensor
    """(3, 4, 4), with as many other heads off, by zero, four draws."""
    off_texts: Tensor
    """(3, 16), of stories: whole, and with the three off by zero and by the mean."""
    used_heads: Tensor
    """(24, 2), eight heads of the highest induction score, then of the token before, then others: layer and head."""
    used: Tensor
    """(2, 24, 4), with each off, by zero and by the mean; four texts."""
    each_off: Tensor
    """(2, layers, h), by how much the mean loss rises with each head off, by zero and by the mean; four texts."""
    path_loss: Tensor
    """(2, PATHS_KEPT, 4), with each of two heads that look at the token before kept from what later layers read."""
    path_looks: Tensor
    """(2, PATHS_KEPT, 4, 4), the induction scores of four heads, each of four texts."""
    path_heads: Tensor
    """(4, 2), these four: layer and head."""
    sink: Tensor
    """(2, layers, h), in stories the mean weight on the first token, with the start token and without it."""
    stream: Tensor
    """(2, layers, 2), the length of the stream that each layer reads: at the first token, and the median of others."""
    one_coordinate: Tensor
    """(1,), the share of one coordinate in the square of the first token's vector, in the layer where it is longest
    against others; four stories."""
    sink_loss: Tensor
    """(2, 16), of the last 80 tokens of stories, with the start token and without it."""
    apart_same: Tensor
    """How far the maps of two heads of one layer are apart, total variation without the first token: same keys."""
    apart_other: Tensor
    """The same of heads with keys of their own."""
    pairs_texts: Tensor
    """(TURNED, 8), of stories, where some pairs of rotary positions do not turn."""
    pairs_twice: Tensor
    """(TURNED, 4), of random tokens."""
    fastest: Tensor | None = None
    """smollm2: (4, 2, 4), of random tokens, the loss and what 16.0 gives to the token before: whole, and where the
    fastest pair does not turn in any layer, in layer 16, and in any other; four texts."""
    own_tokens: Tensor | None = None
    """stories15m: (3, 32), losses of the second 40 random tokens, of those that its stories have: the first 40 again,
    the same in another order, and others."""
    own_induction: Tensor | None = None
    """(layers, h), the induction scores on these tokens."""
    apart: Tensor | None = None
    """stories15m: (3, 36, 36), where the lead of the name's score in 5.1 comes from, three openings: the query's parts
    in rows, the key's in columns (embedding, then six heads and the network of each layer below)."""
    apart_whole: Tensor | None = None
    """(3, 45), the weight of 5.1 on the name."""
    apart_without: Tensor | None = None
    """(3, 36), the same with one part left out of all keys that 5.1 reads."""
    apart_keys: Tensor | None = None
    """smollm2: (171,), where the lead of 17.4's score comes from, by parts of the key."""
    apart_queries: Tensor | None = None
    """(171,), by parts of the query."""
    apart_16_0: Tensor | None = None
    """(171,), what each part of the query adds together with head 16.0 in the key."""
    apart_spread: Tensor | None = None
    """(3,), the lead at three positions."""


@cache
def decoder_heads(name: str) -> DecoderHeads:
    """What the heads of "stories15m" or "smollm2" do: DecoderHeads.

    Read once and then shared by all who ask, so change none of its tensors in place.
    """
    return DecoderHeads(**arrays(DECODERS, f"{name}_"))


def parts(layers: int, heads: int) -> list[str]:
    """The names of what is added to the stream below a layer, in the order in which `apart` has them."""
    return ["embedding", *(name for layer in range(layers)
                           for name in (*(f"{layer}.{head}" for head in range(heads)), f"network {layer}"))]
