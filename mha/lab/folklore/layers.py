"""Claims about layers of several heads: what they are, what they cost, how many there should be."""
import torch

from mha import Head, MultiHeadAttention, MultiHeadLoop, attention, merge_heads, split_heads
from mha.lab.assets import HEADS, RELATIONS, trained_heads, trained_qk
from mha.lab.data import KeyTask
from mha.lab.folklore.claim import HERE, READING, RIGHT, ROUNDING, SETTINGS, SIZES, WRONG, claim
from mha.lab.train import fit_heads, fit_layers, fit_output, prune_heads

SIX, SEVEN = "06_multi_head", "07_how_many_heads"
D_MODEL, H = 512, 8                                              # of the original transformer


# --- What several heads are -------------------------------------------------------------------------------------------

@claim("layers",
       '"It can only focus on one type of relationship or pattern in the data", of a single head.', SIZES, SEVEN)
def one_thing():
    stuck, solved = 0.4, 0.2
    one_layer, two_layers = (fit_layers(layers, 1, steps=300, runs=2, batch=48)[0] for layers in (1, 2))
    mixed = [float(torch.tensor([0.5, 0.5]) @ torch.tensor(values)) for values in ([2.0, 6], [4.0, 4])]
    return ("A head may attend to many tokens, but it returns one weighted mean of them: half of 2 and half of 6 is "
            f"{mixed[0]:.0f}, as half of 4 and half of 4 is. Trained on two relations, one layer of one head keeps an "
            f"error above {stuck}, and two such layers end below {solved}, in both runs.",
            mixed[0] == mixed[1] and one_layer.min() > stuck and two_layers.max() < solved)


def maps(trained, num_heads=None):
    """The weights of a trained layer whose columns are cut into this many heads: (h, n, n)."""
    Q, K = trained.heads(num_heads)
    return attention(Q, K, K, need_weights=True)[1]


def decided_by(trained, tokens=slice(None)):
    """How many rows of the wide head would look at another of the tokens without each of the heads in it: (h,)."""
    Q, K = trained.heads()
    scores = (Q @ K.mT)[:, tokens, tokens]  # (h, n, n)
    return ((scores.sum(0) - scores).argmax(-1) != scores.sum(0).argmax(-1)).sum(-1)


@claim("layers", "One wide head would see the average of what several heads see.", WRONG, f"{SIX}_lab")
def average():
    first, last = (trained_qk("tired", layer=layer) for layer in (0, 5))
    it, because = first.tokens.index("it"), first.tokens.index("because")
    wide, mean = maps(first, 1)[0, it, because], maps(first)[:, it, because].mean()
    lost, none, rows = decided_by(first), decided_by(last).max(), len(first.tokens)
    tip, to_start = decided_by(last, slice(1, -1)), maps(last).mean(0).argmax(-1).eq(0).sum()
    return ("Scores add, so up to the scale weights multiply. With the twelve heads of our encoder's layer 0 in one "
            f"softmax, \"it\" gives \"because\" {wide:.2f}, where the mean of the heads is {mean:.2f}; in layer 5 "
            f"{last.tokens[0]} gets most in {to_start} of {rows} rows either way.",
            wide > 2 * mean and lost.max() > rows / 2 and none == 0 and to_start == rows
            and maps(last, 1)[0].argmax(-1).eq(0).all() and tip.max() > 3)


@claim("layers",
       '"Finally, we concatenate the output vectors coming from the different heads together into a single output '
       'vector."',
       WRONG, SIX)
def ends_with_concatenation():
    layer, heads = MultiHeadAttention(D_MODEL, H, bias=False), torch.randn(3, D_MODEL, requires_grad=True)
    reach = [torch.autograd.grad(out[0, 0], heads)[0][0].view(H, -1).any(-1).sum()
             for out in (heads * 1, layer.W_O(heads))]
    return (f"W_O is missing. Without it the first coordinate of the output depends on {reach[0]} of {H} heads, and "
            f"with it on {reach[1]}.",
            reach == [1, H])


@claim("layers",
       '"This ensures that the output from the Multi-Head Attention layer has the same dimension as the input", of '
       'W_O.',
       SIZES, SIX)
def output_matrix():
    loop, x = MultiHeadLoop([Head(D_MODEL, D_MODEL // H) for _ in range(H)]).double(), torch.randn(3, D_MODEL).double()
    outs = [head(x)[0] for head in loop.heads]
    total = sum(out @ W for out, W in zip(outs, loop.W_O.weight.T.split(D_MODEL // H)))
    return (f"It is needed for that only where h d_v is not d_model, and here {torch.cat(outs, -1).shape[-1]} "
            f"coordinates come in and {x.shape[-1]} stand before W_O. W_O mixes: the layer is the sum of its "
            f"heads, each times its own block of W_O, to {ROUNDING:.0e}.",
            torch.cat(outs, -1).shape == x.shape and (total - loop(x)[0]).abs().max() < ROUNDING)


@claim("layers", "But for the shape, W_O could be left out.", SETTINGS, SEVEN)
def without_output_matrix():
    stuck, solved = 0.7, 0.1
    layer = MultiHeadAttention(96, 6, bias=False).double()
    x = torch.randn(5, 96).double()
    next_map = torch.randn(96, 7).double()
    outs = merge_heads(torch.stack([layer.head(i)(x)[0] for i in range(6)]))
    gap = (layer(x)[0] @ next_map - outs @ (layer.W_O.weight.T @ next_map)).abs().max()
    without, with_it = (fit_output("mixed", W_O=W_O, steps=350, runs=2, batch=48) for W_O in (False, True))
    return (f"If a linear map follows directly, the two are one map, to {ROUNDING:.0e}. If nothing linear follows and "
            f"an answer mixes what several heads found, both runs without W_O end above {stuck}, and both with it "
            f"below {solved}, at equal parameters.",
            gap < ROUNDING and without.min() > stuck and with_it.max() < solved)


@claim("layers",
       '"multiple heads don\'t add parameters, they redistribute them": 8 x 98,304 + 512^2 = 1,048,576.', SIZES,
       SIX)
def parameters():
    def count(h, **options):
        return sum(p.numel() for p in MultiHeadAttention(D_MODEL, h, device="meta", **options).parameters())
    plain, biased = count(H, bias=False), count(H)
    wide = count(H + 1, d_k=64, bias=False) - count(H, d_k=64, bias=False)
    return (f"With d_k = d_model / h, {H} heads have as many parameters as one, {plain:,} without biases and "
            f"{biased:,} with. With d_k kept at 64 each further head adds {wide:,}.",
            plain == count(1, bias=False) == 1_048_576 and biased == count(1) > plain and wide > 0)


@claim("layers", '"d_model / h = 512 / 8 = 64 per head", for d_k and d_v.', SIZES, SIX)
def width_of_a_head():
    x, default = torch.randn(3, D_MODEL), MultiHeadAttention(D_MODEL, H)
    shapes = [tuple(MultiHeadAttention(D_MODEL, H, d_k=d_k, d_v=d_v)(x)[0].shape)
              for d_k, d_v in ((64, 64), (50, 64), (7, 13))]
    return (f"64 is the default here too, d_k = {default.d_k}. But d_k = 50, or d_k = 7 with d_v = 13, give the same "
            f"output shape, {shapes[1]}, so only a convention makes d_k, d_v and d_model / h equal.",
            default.d_k == default.d_v == 64 and set(shapes) == {tuple(x.shape)})


@claim("layers", "Input and output have the same shape, so layers can be stacked.", RIGHT, SIX)
def stacking():
    layers, x = [MultiHeadAttention(D_MODEL, H) for _ in range(3)], torch.randn(2, 5, D_MODEL)
    y = x
    for layer in layers:
        y, weights = layer(y, need_weights=True)
    return (f"{tuple(x.shape)} goes into three layers, and {tuple(y.shape)} comes out. The weights are "
            f"{tuple(weights.shape)}, at any width.",
            y.shape == x.shape)


@claim("layers", "Multi-head attention cuts the embedding into slices, one for each head.", WRONG, SIX)
def slices():
    layer = MultiHeadAttention(D_MODEL, H, bias=False).double()
    x = torch.randn(3, D_MODEL, dtype=torch.double, requires_grad=True)
    seen, = torch.autograd.grad(split_heads(layer.W_Q(x), H)[0, 0].sum(), x)
    apart = merge_heads(torch.stack([layer.head(i)(x)[0] for i in range(H)]))
    return ("It projects first, and splits the projection, so the query of the first head depends on "
            f"{int((seen[0] != 0).sum())} of {D_MODEL} coordinates of its token. With {H} separate projections the "
            f"layer is the same, to {ROUNDING:.0e}.",
            bool((seen[0] != 0).all()) and (layer.W_O(apart) - layer(x)[0]).abs().max() < ROUNDING)


@claim("layers", '"head_i = Attention(Q·W_i^A, K·W_i^K, V·W_i^V)"', WRONG, SIX)
def a_letter():
    layer, x = MultiHeadAttention(D_MODEL, H, bias=False).double(), torch.randn(3, D_MODEL).double()
    names, before = sorted(name.partition(".")[0] for name, _ in layer.named_parameters()), layer(x)[0]
    layer.W_Q = layer.W_K
    return (f"The paper writes W_i^Q, and a layer has {', '.join(names)}. The letter matters: with the matrix of the "
            f"keys in its place, the outputs move by up to {(layer(x)[0] - before).abs().max():.2f}.",
            names == ["W_K", "W_O", "W_Q", "W_V"] and (layer(x)[0] - before).abs().max() > 0.01)


@claim("layers", '"Q_i = X W_i^Q" and "head_i = Attention(QW_i^Q, KW_i^K, VW_i^V)", in one text.', READING, SIX)
def projected_twice():
    layer, one = (MultiHeadAttention(D_MODEL, h, bias=False).double() for h in (H, 1))
    x = torch.randn(3, D_MODEL).double()
    try:
        answer = str(layer.head(0).W_Q(layer.head(0).W_Q(x)))
    except RuntimeError:
        answer = "refuses"
    gap = (attention(one.W_Q(x), one.W_K(x), one.W_V(x))[0] @ one.W_O.weight.T - one(x)[0]).abs().max()
    twice = attention(*(W(W(x)) for W in (one.W_Q, one.W_K, one.W_V)))[0] @ one.W_O.weight.T
    return ("Both hold if Q in the second is the input that the first calls X, and then they agree to "
            f"{ROUNDING:.0e}. Taken as the query, it is projected twice: with 8 heads torch {answer}, and with one "
            f"head the outputs move by up to {(twice - one(x)[0]).abs().max():.2f}.",
            answer == "refuses" and gap < ROUNDING and (twice - one(x)[0]).abs().max() > 0.01)


@claim("layers", '"W^O is a matrix with dimensions h d_k by d_model"', SIZES, SIX)
def rows_of_the_output_matrix():
    plain, unequal = MultiHeadAttention(D_MODEL, H), MultiHeadAttention(D_MODEL, H, d_k=7, d_v=13)
    rows = [layer.W_O.in_features for layer in (plain, unequal)]
    return (f"It has h d_v rows, which are {rows[0]} where d_v = d_k = 64. With d_k = 7 and d_v = 13 it has "
            f"{rows[1]} rows, and h d_k is {H * 7}.",
            rows == [H * 64, H * 13])


@claim("layers", '"representational diversity that a single head cannot achieve"', SIZES, HERE)
def diversity():
    ranks, x = [], torch.randn(7, 64).double()
    for h in (1, 2, 8):
        layer = MultiHeadAttention(64, h, bias=False).double()
        where = layer(x, need_weights=True)[1].flatten(1)  # (h, n n)
        what = torch.stack([layer.ov(i).flatten() for i in range(h)])  # (h, d d)
        ranks.append(int(torch.linalg.matrix_rank(where.T @ what)))
    return (f"In one layer with its weights held fixed, 1, 2 and 8 heads need {ranks[0]}, {ranks[1]} and {ranks[2]} "
            "products of a map over positions with one over contents. Several layers of one head get further: Liu et "
            "al. (2021) report that 384 of them did better than 24 layers of 16 heads, once they could be trained.",
            ranks == [1, 2, 8])


# --- How many ---------------------------------------------------------------------------------------------------------

@claim("how many", "More heads capture more relations.", SIZES, SEVEN)
def best_number():
    margin = 0.2
    errors = torch.stack([torch.stack([trained_heads(r, h)[0] for h in HEADS]) for r in RELATIONS])  # (r, h, runs)
    best = torch.tensor(HEADS)[errors.argmin(1)]  # (r, runs)
    hits = best.eq(torch.tensor(RELATIONS)[:, None]).sum()
    return ("It holds up to the number of relations, r. At equal parameters, one rate and 600 steps, the best h of "
            f"{list(HEADS)} is r in {hits} of {best.numel()} runs, and with h = {HEADS[-1]} every run is worse than "
            f"at its best by more than {margin}.",
            hits >= 0.9 * best.numel() and (errors[:, -1] - errors.amin(1)).min() > margin)


@claim("how many", "With fewer heads than relations, the unexplained variance is 1 - h / r.", SETTINGS, SEVEN)
def floor():
    near, under, task = 0.03, 0.1, KeyTask(2, 2, names=8, d_name=15, n=3, content=1, seed=4)
    gaps = torch.stack([trained_heads(r, h)[0] - (1 - h / r) for r in RELATIONS for h in HEADS if h < r])
    through, _ = fit_heads(1, 2, task=task, steps=800, runs=2, batch=32, seed=4)
    return (f"Where scores do not see what they retrieve and the output is read linearly, all {gaps.numel()} runs "
            f"with h < r end within {near} of it. Where scores see it, in a small task of two relations, at least one "
            f"of {len(through)} runs of one head ends below {under}, though 1 - h / r is {1 - 1 / 2}.",
            gaps.abs().max() < near and through.min() < under)


@claim("how many", "Too many heads are bad.", SIZES, SEVEN)
def too_many():
    bound, low = 0.1, 0.05
    shared, wide = trained_heads(4, 16)[0], trained_heads(4, 16, d_k=16)[0]
    patient = trained_heads(4, 16, long=True)[0]
    return ("Heads that are too narrow are slow. Of 16 heads on four relations, all runs with d_k = 4 stay above "
            f"{bound} after 600 steps and end below {low} after five times as many, and with d_k = 16 all end below "
            f"{bound} after 600.",
            shared.min() > bound > wide.max() and patient.max() < low)


@claim("how many", "Each head learns a relation of its own.", SIZES, SEVEN)
def own_relation():
    four, eight, late = trained_heads(4, 4)[1], trained_heads(8, 8)[1], trained_heads(8, 8, long=True)[1]
    clean, most, all_ = ((shares.argmax(-1).sort(-1).values == torch.arange(shares.shape[-1])).all(-1).sum()
                         for shares in (four, eight, late))  # (runs, h, r) each
    busy, then = ((trained_heads(4, 16, long=long)[1] > 0.5).any(-1).sum(-1) for long in (False, True))
    return (f"With as many heads as relations, up to eight, each ends with its own in time: four on four in {clean} "
            f"of {len(four)} runs after 600 steps, and eight on eight in {most}, after 3000 steps in {all_}. Of 16 "
            f"heads on four relations, {then.min()} to {then.max()} give one relation more than half of their weight "
            "after 3000 steps, so several share one.",
            clean == all_ == len(four) and most < all_ and busy.max() < 8 and then.min() > 4)


@claim("how many", "There are always heads to spare.", SIZES, SEVEN)
def to_spare():
    rise, free = 0.1, 0.05
    # (2, h + 1): the error with 0, 1, ... heads left
    needed, spare = (prune_heads(h, r, steps=400, runs=2)[0] for h, r in ((4, 4), (8, 2)))
    return ("In both runs, and without further training, three of eight heads on two relations can be ablated for an "
            f"error less than {free} larger. But of four heads on four relations even the most dispensable one raises "
            f"the error by more than {rise}.",
            (needed[:, 3] - needed[:, 4]).min() > rise and (spare[:, 5] - spare[:, 8]).max() < free)
