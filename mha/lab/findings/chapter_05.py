"""What chapter 5 shows of four masks at once."""
import torch

from mha import attention, masks, viz

POSITIONS, REAL = 6, 3


def four_masks():
    """Maps of the weights under four masks, if all scores are equal: six positions, of which three are real words."""
    causal = masks.causal(POSITIONS)
    behind = masks.padding([REAL], POSITIONS)[0, 0].expand(POSITIONS, POSITIONS)
    kinds = {"causal": causal, "padding": behind, "both, behind": causal & behind,
             "both, in front": causal & behind.flip(1)}
    tokens = torch.zeros(POSITIONS, 1)
    weights = [attention(tokens, tokens, tokens, mask=mask, need_weights=True)[1] for mask in kinds.values()]
    picture = viz.heatmaps(torch.stack(weights), [str(i + 1) for i in range(POSITIONS)], [*kinds], columns=4)
    alt = f"Weights under four masks, {POSITIONS} queries by {POSITIONS} keys, scores equal; how many keys each sees."
    rows = [[name, *mask.sum(-1).tolist()] for name, mask in kinds.items()]
    picture.text = viz.table(alt, ["", *(f"row {i + 1}" for i in range(POSITIONS))], rows)
    return picture
