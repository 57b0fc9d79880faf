"""The pictures of chapter 11b: one head, before and after the changes that models since 2024 have made."""
import torch

import mha
from mha import viz

TOKENS, WIDTH = 16, 8


def one_change_each():
    """The weights of one head, sixteen tokens under a causal mask, as they are and after one change each.

    Returns:
        dict, title -> (n, n) weights.
    """
    generator = torch.Generator().manual_seed(3)
    Q, K, gate = (torch.randn(TOKENS, width, generator=generator).double() for width in (WIDTH, WIDTH, 1))
    Q = 2 * Q
    past, scores = mha.masks.causal(TOKENS), Q @ K.mT / WIDTH ** 0.5
    plain = weights(scores, past)
    sunk = torch.cat([scores.masked_fill(~past, -torch.inf), scores.new_full((TOKENS, 1), 2.0)], -1)
    blocks = K.unflatten(0, (-1, 4)).mean(1)                                       # (4 blocks, d_k)
    own = torch.arange(TOKENS)[:, None] // 4
    at = torch.arange(4)
    rank = (Q @ blocks.mT).masked_fill(at > own, -torch.inf).masked_fill(at == own, torch.inf)
    chosen = torch.zeros(TOKENS, 4, dtype=torch.bool).scatter_(1, rank.topk(2).indices, True).repeat_interleave(4, 1)
    unit = [torch.nn.functional.rms_norm(x, x.shape[-1:]) for x in (Q, K)]
    fed = [torch.nn.functional.elu(x) + 1 for x in (Q, K)]
    linear = (fed[0] @ fed[1].mT) * past
    return {"as before": plain, "a sink logit": sunk.softmax(-1)[:, :-1], "a gate": (2 * gate).sigmoid() * plain,
            "softcap": weights(torch.tanh(scores), past), "QK-norm": weights(unit[0] @ unit[1].mT / WIDTH ** 0.5, past),
            "a window": weights(scores, mha.masks.window(TOKENS, left=3, right=0)),
            "two blocks": weights(scores, past & chosen), "linear": linear / linear.sum(-1, keepdim=True)}


def weights(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def eight_maps() -> viz.Picture:
    """The maps of `one_change_each`."""
    maps = one_change_each()
    return viz.heatmaps(torch.stack([*maps.values()]), [f"token {i}" for i in range(1, TOKENS + 1)], titles=[*maps])

