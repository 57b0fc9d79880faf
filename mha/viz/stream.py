"""A picture of a layer: heads that read from a stream, and add to it."""
from mha.viz.picture import SLATE, INK, OCHRE, Picture, as_array, house_figure
from mha.viz.tables import table

READ, TOP, HEAD, STREAM = 2.7, 2.3, 1.75, 0.0                    # heights in the picture


def stream(token, parts):
    """What every head of a layer adds to the vector of one token.

    Each head reads the vector as it was before the layer; what all of them write is added to it.

    Args:
        token: (d_model,), the token's vector before the layer.
        parts: (h, d_model), what each head adds to it; the wider an arrow, the longer its part.
    """
    token, parts = as_array(token), as_array(parts)
    lengths, total = (parts**2).sum(-1) ** 0.5, parts.sum(0)
    h = len(parts)
    figure, (axis,) = house_figure(4.6, 2.9)
    axis.plot([0, h + 1.5], [STREAM, STREAM], color=SLATE, linewidth=6, solid_capstyle="butt")
    axis.annotate("", (h + 2.2, STREAM), (h + 1.2, STREAM),
                  arrowprops={"arrowstyle": "-|>", "color": SLATE, "lw": 6, "mutation_scale": 20})
    axis.plot([0.5, 0.5, h + 0.5], [STREAM, READ, READ], color=SLATE, linewidth=1.5)
    for i, length in enumerate(lengths):
        x = i + 1.5
        axis.annotate("", (x, TOP), (x, READ), arrowprops={"arrowstyle": "-|>", "color": SLATE, "lw": 1.2})
        axis.text(x, (TOP + HEAD) / 2, str(i + 1), ha="center", va="center", fontsize=9.2,
                  bbox={"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": INK, "linewidth": 0.8})
        axis.plot([x, x], [HEAD - 0.05, 0.2], color=OCHRE, linewidth=1 + 6 * length / lengths.max(),
                  solid_capstyle="butt", alpha=0.8)
        axis.plot(x, STREAM, "o", markersize=15, color=SLATE)
        axis.text(x, STREAM - 0.02, "+", ha="center", va="center", fontsize=13, color="white")
        axis.text(x, -0.5, f"{length:.1f}", ha="center", va="center", fontsize=9.2)
    axis.text(0.55, READ + 0.2, "read: every head gets whole tokens, x and the others", fontsize=9.2, color=SLATE)
    axis.text(0.6, (TOP + HEAD) / 2, "head", fontsize=9.2, va="center")
    axis.text(0.6, 1.05, "write", fontsize=9.2, color=OCHRE, va="center")
    axis.text(0, -0.5, "x", ha="left", va="center")
    axis.text(h + 2.3, -0.5, "x + sum", ha="right", va="center")
    axis.set(xlim=(-0.1, h + 2.4), ylim=(-0.75, READ + 0.45))
    axis.axis("off")
    alt = f"A token's vector runs through a layer as a stream; {h} heads read it, and what each writes is added to it."
    rows = [[f"head {i + 1}", float(length)] for i, length in enumerate(lengths)]
    ends = [("x, the token before the layer", token), ("the sum of the heads", total), ("x + sum", token + total)]
    rows += [[name, float((vector**2).sum() ** 0.5)] for name, vector in ends]
    return Picture(figure, table(alt, ["", "length"], rows, digits=1))
