"""Claims about position: what attention knows of it by itself, and what sinusoids, RoPE and ALiBi tell it."""
import torch

from mha import MultiHeadAttention, attention
from mha.lab.assets import alibi_runs, position_runs
from mha.lab.folklore.claim import READING, ROUNDING, SETTINGS, SOME, WRONG, claim, row
from mha.position import alibi_bias, rope, sinusoids

TEN = "10_position"
FAR = torch.arange(4097)  # distances
BOTH, TOLD_APART = ("offsets", "nearest"), ("sinusoids", "learned")  # tasks; positions that stand beside a token


# --- Without positions ------------------------------------------------------------------------------------------------

def deep(layers, x):
    """What comes out of layers one after the other, each adding to what it gets."""
    for layer in layers:
        x = x + layer(x)[0]
    return x


def stack(depth, causal=True):
    """Layers of three heads for tokens of 12 numbers."""
    return [MultiHeadAttention(12, 3, causal=causal).double() for _ in range(depth)]


def shuffled(depth, causal):
    """How far the last output of so many layers moves when the six tokens before it change places."""
    layers, x = stack(depth, causal), torch.randn(7, 12).double()
    return (deep(layers, x)[-1] - deep(layers, x[[3, 0, 5, 1, 2, 4, 6]])[-1]).abs().max()


@claim("position", '"Without an explicit position signal, the model cannot tell them apart", of two orders.',
       SETTINGS, TEN)
def order_of_the_past():
    blind = max(shuffled(1, False), shuffled(3, False), shuffled(1, True))
    deeper = shuffled(2, True)
    return ("The last output of one causal layer cannot, nor can that of three layers without a mask: shuffle the six "
            f"tokens before the last one, and it stays, to {ROUNDING:.0e}. With two causal layers it moves by up to "
            f"{deeper:.2f}, because the first marks each token by what is before it.",
            blind < ROUNDING and deeper > 0.01)


@claim("position", '"causal attention enables the model to infer the number of predecessors that each token can attend '
       'to"', SETTINGS, TEN)
def counting():
    same = deep(stack(2), torch.randn(1, 12).double().expand(64, 12))
    first = torch.eye(64)[:, :1].double()  # 1 marks the first token
    read = attention(0 * first, 0 * first, first, causal=True)[0][:, 0]  # equal scores, so even weights
    spread, gap = (same - same[0]).abs().max(), (read * torch.arange(1, 65) - 1).abs().max()
    return ("Its authors conjecture it of language models, and the tokens must differ: from one token, 64 times, two "
            f"causal layers make 64 equal outputs, to {ROUNDING:.0e}. Where the first token is marked, uniform weights "
            f"read 1 / (i + 1) from it: {row(read[[0, 1, 3, 63]])} for i = 0, 1, 3 and 63.",
            spread < ROUNDING and gap < ROUNDING)


# --- Waves, added or turned -------------------------------------------------------------------------------------------

def ends(task, positions):
    """The errors of trained layers on 24 tokens, as in training, on 96, and on 96 where each sees no further back than
    in training, as text: the mean, and the range.
    """
    runs = position_runs(task, positions)
    return [f"{one.mean():.2f} ({one.min():.2f} to {one.max():.2f})"
            for one in (runs.errors[:, 0], runs.errors[:, 2], runs.windowed[:, 2])]


@claim("position", 'Sinusoids "allow the model to easily learn to attend by relative positions".', READING, TEN)
def relative():
    rounding, runs, waves = 1e-4, position_runs("offsets", "sinusoids"), sinusoids(200, 32)
    shifted = rope(waves, 0 * FAR[:200] - 5, interleaved=True)  # one matrix for all positions: a turn by 5 places
    gap, (near, far, windowed) = (shifted[:-5] - waves[5:]).abs().max(), ends("offsets", "sinusoids")
    return ("Its authors call it a hypothesis. The encoding allows it, because one rotation moves all sinusoids on by "
            f"5 positions, to {rounding:.0e}. But our layers, which return the contents 1 and 3 back, have an error of "
            f"{near[:4]} on the 24 tokens of their training, of {far} on 96, and of {windowed} if no token sees "
            "further back than in training.",
            gap < rounding and runs.errors[:, 0].max() < 0.05 < 0.3 < runs.windowed[:, 2].min())


@claim("position", '"each token\'s embedding gets "rotated" based on its position in the sequence", by RoPE.', WRONG,
       TEN)
def turned_tokens():
    x, W_Q, W_K = torch.randn(50, 16).double(), torch.randn(16, 16).double() / 4, torch.randn(16, 16).double() / 4
    inside, before = ([rope(x @ W_Q, i) @ rope(x @ W_K, i).T for i in (FAR[:50], FAR[7:57])],
                      [rope(x, i) @ W_Q @ (rope(x, i) @ W_K).T for i in (FAR[:50], FAR[7:57])])
    stay, move = ((there - here).abs().max() for here, there in (inside, before))
    return ("RoPE rotates queries and keys inside each head, so a text of 50 tokens may start 7 positions later and "
            f"its scores stay, to {ROUNDING:.0e}. With rotated embeddings, before W_Q and W_K, the scores move by up "
            f"to {move:.1f}, and their standard deviation is {before[0].std():.1f}.",
            stay < ROUNDING and move > before[0].std())


@claim("position", '"there is maybe a bug in the rotate_half function", which pairs number i with i + d_k / 2.', WRONG,
       f"{TEN}_lab")
def halves():
    q, k, order = torch.randn(50, 16).double(), torch.randn(50, 16).double(), torch.arange(16).view(8, 2).T.flatten()
    def mixed(i):
        return rope(q, i) @ rope(k, i, interleaved=True).T
    gap = (rope(q[:, order], FAR[:50]) - rope(q, FAR[:50], interleaved=True)[:, order]).abs().max()
    moved = (mixed(FAR[7:57]) - mixed(FAR[:50])).abs().max()
    return ("The paper pairs neighbours, but with the columns of W_Q and W_K in another order, the same for both, "
            f"halves give the same scores, to {ROUNDING:.0e}. The bug is to mix the two: with halves in the query and "
            f"neighbours in the key, a shift by 7 positions moves scores by up to {moved:.0f}.",
            gap < ROUNDING and moved > 5)


def angles(i, dtype):
    """The angles of a pair of numbers at positions i, (n, 16), rounded to this dtype on the way."""
    return (i[:, None].to(dtype) * (10000 ** (-torch.arange(0, 32, 2).double() / 32)).to(dtype)).double()


def off_by(first, dtype):
    """The root of the mean squared error of scores between 50 positions, as a share of their spread, by such angles."""
    q, k = torch.randn(2, 50, 16, 2).double()
    exact, rounded = ((turn(q, a).flatten(1) @ turn(k, a).flatten(1).T)
                      for a in (angles(FAR[first:first + 50], kind) for kind in (torch.double, dtype)))
    return (rounded - exact).square().mean().sqrt() / exact.std()


def turn(x, a):
    """Pairs of numbers (n, 16, 2), each turned by its angle (n, 16)."""
    return torch.view_as_real(torch.view_as_complex(x) * torch.polar(torch.ones_like(a), a))


@claim("position", "A model of 16 bits may compute RoPE in 16 bits.", SETTINGS, TEN)
def sixteen_bits():
    firsts, last, small = (0, 200, 950), FAR[950:1000], 1e-4
    brain, half, full = (torch.stack([off_by(first, dtype) for first in firsts])
                         for dtype in (torch.bfloat16, torch.float16, torch.float32))
    left, wrong = len(last.bfloat16().unique()), (last.bfloat16().double() - last).abs().max()
    q, k = (rope(x, last) for x in torch.randn(2, 50, 32).double())
    exact, rounded = q @ k.T, q.bfloat16().double() @ k.bfloat16().double().T
    after = (rounded - exact).square().mean().sqrt() / exact.std()
    return (f"In bfloat16 the angles must not be rounded: from position {firsts[2]} on that puts scores off by "
            f"{brain[2]:.3f} of their standard deviation, and at the start by {brain[0]:.3f}. In float16 it is "
            f"{half[2]:.3f}, in float32 less than {small}, and after the rotation bfloat16 costs only {after:.3f}.",
            brain[2] > 0.3 > 0.2 > brain[1] > 10 * after and half[2] > 0.02 and full.max() < small and left < 25
            and wrong > 1)


@claim("position", '"the dot product between queries and keys gradually diminishes for tokens that are distant from '
       'one another", with RoPE.', SETTINGS, TEN)
def decay():
    one, near = torch.ones(4097, 64).double(), 0.2
    like = rope(one, FAR) @ one[0] / 64                                                 # (4097,), query = key
    apart = (rope(torch.randn(500, 1, 64).expand(-1, 17, -1), FAR[::256]) * torch.randn(500, 1, 64)).sum(-1) / 8
    peak, rising = (rope(rope(one, 0 * FAR - 37), FAR) @ one[0]).argmax(), like.diff().gt(0).double().mean()
    return ("Su et al. (2021) prove an upper bound and plot how it falls, on the whole. If query and key are one "
            f"vector, as strong in each of 32 pairs, scores do likewise, to {like[32]:.2f} of the first at 32 back, "
            f"but beyond 100 they reach {like[100:].max():.2f} again. For independent random ones the "
            f"mean is within {near} of 0 at all {apart.shape[1]} distances tried, and for a query that is the key "
            f"rotated back by 37 positions the score is highest {peak} back.",
            peak == 37 and 0.4 < rising < 0.6 and like[:32].mean() > 0.5 > like[1024:].mean() and like[100:].max() > 0.5
            and apart.mean(0).abs().max() < near and (apart.std(0) - 1).abs().max() < near)


# --- Longer than in training ------------------------------------------------------------------------------------------

@claim("position", '"extrapolates better to longer sequences", of RoPE.', SOME, TEN)
def longer():
    ours = [position_runs(task, "rotary") for task in BOTH]
    theirs = [[position_runs(task, way).errors[:, 2].mean() for way in TOLD_APART] for task in BOTH]
    (near, far, windowed), (near_name, far_name, _) = (ends(task, "rotary") for task in BOTH)
    return ("After 800 steps on 24 tokens RoPE is ahead of sinusoidal and learned positions on 96, on average and on "
            f"both of our tasks. But its error grows, by name from {near_name[:4]} to {far_name} and on two fixed "
            f"offsets from {near[:4]} to {far}. What fails on the offsets are distances that training never weighed: "
            f"if no token sees further back than in training, the error is {windowed[:4]}.",
            all(run.errors[:, 2].mean() < min(other) and (run.errors[:, 2] > run.errors[:, 0] + 0.005).all()
            for run, other in zip(ours, theirs)) and ours[0].windowed[:, 2].max() < 0.005)


@claim("position", '"Max Extrapolation: 32×+ without drop!", of ALiBi.', READING, TEN)
def without_drop():
    slopes, runs = torch.linspace(0.01, 3, 300), position_runs("offsets", "ALiBi").errors  # (runs, 3 lengths)
    most = alibi_bias(300, 1, 2000, 1999, slopes=slopes).softmax(-1)[:, 0, -2].max()  # on the token before
    apart, run = alibi_runs().apart[:, 0].mean(0), position_runs("nearest", "ALiBi")  # of 1 and 3 back, on 24 tokens
    (near, far, _), (names, more, _) = (ends(task, "ALiBi") for task in BOTH)
    return ("At four times the length an error can stay level without being low. Trained on 24 tokens to return the "
            f"contents 1 and 3 back, layers have an error of {near[:4]} there, {apart[0]:.2f} for what is 1 back and "
            f"{apart[1]:.2f} for what is 3 back, and of {far} on 96. By name the error does grow, from {names[:4]} to "
            f"{more}.",
            (runs[:, 2] - runs[:, 0]).max() < 0.1 < 0.4 < runs.min() and 0.249 < most <= 0.25
            and apart[0] < 0.3 < 0.7 < apart[1] and (run.errors[:, 2] - run.errors[:, 0]).min() > 0.1)
