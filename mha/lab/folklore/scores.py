"""Claims about scores, the softmax, the scale, and what attention is faster and farther than."""
import torch

from mha import MultiHeadAttention, attention
from mha.lab.data import library
from mha.lab.folklore.claim import READING, RIGHT, ROUNDING, SETTINGS, SIZES, WRONG, claim, row
from mha.lab.train import fit_lookup

ONE, TWO, TWO_LAB, BUYS = "01_soft_lookup", "02_one_head", "02_one_head_lab", "06b_what_attention_buys"


# --- The softmax ------------------------------------------------------------------------------------------------------

@claim("softmax", '"After softmax: [0.66, 0.24, 0.10]", of the scores 2.4, 1.2 and 0.3.', WRONG, ONE)
def first_example():
    scores, printed, rounding = torch.tensor([2.4, 1.2, 0.3]), torch.tensor([0.66, 0.24, 0.10]), 0.005
    weights, leads = scores.softmax(-1), -scores.diff()
    # a lead over a temperature is the logarithm of a ratio
    low = leads / ((printed[:-1] + rounding) / (printed[1:] - rounding)).log()
    high = leads / ((printed[:-1] - rounding) / (printed[1:] + rounding)).log()
    return (f"The weights are {row(weights)}. No temperature explains the printed ones: with these scores the first "
            f"two need one of at least {low[0]:.3f}, and the last two one of at most {high[1]:.3f}.",
            (weights - printed).abs().max() > rounding and low[0] > high[1])


@claim("softmax", '"Softmax: [0.3, 0.5, 0.2]", of the scaled scores 0.05, 0.11 and 0.06.', WRONG, TWO_LAB)
def second_example():
    scores, printed = torch.tensor([0.05, 0.11, 0.06]), torch.tensor([0.3, 0.5, 0.2])
    weights = scores.softmax(-1)
    return (f"The weights are {row(weights)}, almost uniform. A softmax keeps the order of its scores, but here the "
            f"third score is larger than the first, {scores[2]:.2f} against {scores[0]:.2f}, and gets the smaller "
            "weight.",
            torch.equal(scores.argsort(), weights.argsort()) and not torch.equal(scores.argsort(), printed.argsort()))


@claim("softmax", 'The example "Cat sat": the weights are [0.52, 0.48] and [0.46, 0.54].', RIGHT, TWO_LAB)
def two_words():
    Q, K, V = torch.tensor([[[0.9, 0.3], [0.6, 0.8]], [[0.8, 0.4], [0.5, 0.9]], [[1.2, 0.7], [0.9, 1.1]]])
    out, weights = attention(Q, K, V, need_weights=True)
    first = float(Q[0] @ K[0]) / 2**0.5
    return (f"From its queries and keys come {row(weights)}, so both rows are rounded correctly. On the way the first "
            f"scaled score, {first:.3f}, is printed as 0.60, because the root of 2 was rounded first.",
            torch.equal(weights.mul(100).round(), torch.tensor([[52.0, 48], [46, 54]])) and first < 0.595)


@claim("softmax", '"Sum to 1 for each query" and "Larger scores get larger probabilities", of the softmax.', RIGHT, ONE)
def rows_sum_to_one():
    scores = 2 * torch.randn(7, 11)
    weights = scores.softmax(-1)
    rows, columns = weights.sum(-1), weights.sum(-2)
    return (f"With 7 queries and 11 keys every row sums to {rows.min():.3f}, and its weights are in the order of its "
            f"scores, while the columns sum to {columns.min():.2f} to {columns.max():.2f}. Nothing is sampled, so "
            "read \"probabilities\" as shares.",
            torch.allclose(rows, torch.ones(7)) and (columns - 1).abs().max() > 0.1
            and torch.equal(scores.argsort(-1), weights.argsort(-1)))


@claim("softmax", "Ten queries and ten keys of 64 numbers give a table of 10 x 10 scores.", RIGHT, ONE)
def shapes():
    scores, unequal = torch.randn(10, 64) @ torch.randn(10, 64).T, torch.randn(7, 64) @ torch.randn(11, 64).T
    return (f"The table is {tuple(scores.shape)}. With queries and keys exchanged it would have the same shape, which "
            f"tells the two apart only for unequal numbers, such as 7 queries and 11 keys: {tuple(unequal.shape)}.",
            scores.shape == (10, 10) and unequal.shape == (7, 11))


@claim("softmax",
       "A soft lookup sees a set: permuting the keys together with their values changes nothing.", RIGHT, ONE)
def a_set():
    q = torch.randn(7, 5).double()
    k = torch.randn(11, 5).double()
    v = torch.randn(11, 3).double()
    order = torch.randperm(11)
    out, together, alone = attention(q, k, v)[0], attention(q, k[order], v[order])[0], attention(q, k[order], v)[0]
    return (f"Permute 11 keys with their values, and the outputs move by less than {ROUNDING:.0e}. Permute only the "
            f"keys, and they move by up to {(alone - out).abs().max():.2f}.",
            (together - out).abs().max() < ROUNDING and (alone - out).abs().max() > 0.1)


@claim("softmax",
       '"Closeness between vectors in the query and keys spaces is used to compute attention weights"', SETTINGS, ONE)
def closeness():
    q, near, far = torch.tensor([1.0, 0]), torch.tensor([1.0, 0]), torch.tensor([3.0, 3])
    scores = torch.stack([near, far]) @ q
    weights = scores.softmax(-1)
    return ("It holds for keys of equal length. Otherwise a far key can win: here the key that equals the query "
            f"scores {scores[0]:.0f}, and one {(q - far).norm():.2f} away scores {scores[1]:.0f} and gets "
            f"{weights[1]:.2f} of the weight.",
            (q - near).norm() == 0 and weights[1] > weights[0])


@claim("softmax", "Attention finds the book that fits the question, and returns what stands in it.", SETTINGS, ONE)
def a_book():
    _, keys, values = library()
    query = torch.tensor([[2.0, -1.2]])
    warm, cold, none = (attention(q, keys, values, scale=scale, need_weights=True)[1].max()
                        for q, scale in ((query, 1.0), (query, 4.0), (0 * query, 1.0)))
    return (f"It returns a weighted mean of all books, in which the best of our five gets {warm:.2f} for one query "
            f"and {none:.2f} for the query 0. With scores four times as large the best gets {cold:.2f}, so one book "
            "needs a sharp softmax.",
            warm < 0.9 < 0.98 < cold and (none - 0.2).abs() < 1e-6)


# --- The scale --------------------------------------------------------------------------------------------------------

def pulls(d_k, scale=None, sets=500, m=64):
    """How long the gradients are that reach queries of random numbers, 40 at each of these sets of m random keys:
    (40 sets,). A few long ones make much of their mean, so it needs many.

    The scale is 1 / sqrt(d_k) by default.
    """
    q = torch.randn(sets, 1, 40, d_k, requires_grad=True)
    out, _ = attention(q, torch.randn(sets, 1, m, d_k), torch.randn(sets, 1, m, 1), scale=scale)
    return torch.autograd.grad(out.sum(), q)[0].norm(dim=-1).flatten()


def slopes(d_k, scale=None, queries=500, m=64):
    """How long the gradients are that reach the scores in `pulls`, the numbers that the softmax gets: (queries,)."""
    q, k, v = torch.randn(queries, 1, 1, d_k), torch.randn(queries, 1, m, d_k), torch.randn(queries, 1, m, 1)
    out, weights = attention(q, k, v, scale=scale, need_weights=True)
    return (weights * (v.mT - out)).norm(dim=-1).flatten()  # out is the mean of v, its derivative by a score is this


@claim("scale", '"For random vectors, dot product grows with dimension"', READING, TWO)
def spread():
    near = 0.3
    widths = torch.tensor([1, 16, 64, 256])
    def products(draw):
        return torch.stack([(draw(20_000, d) * draw(20_000, d)).sum(-1) for d in widths.tolist()])
    std, mean = products(torch.randn).std(-1), products(torch.randn).mean(-1)
    grown = products(torch.rand).mean(-1)
    return (f"For coordinates of mean 0 the standard deviation grows like the root of d_k, to {std[-1]:.1f} at d_k = "
            f"{int(widths[-1])}, while the mean stays within {near} of 0. For coordinates between 0 and 1 the mean "
            f"grows as well, to {grown[-1]:.1f}.",
            mean.abs().max() < near and (std / widths.sqrt() - 1).abs().max() < 0.03
            and (grown / widths - 0.25).abs().max() < 0.02)


@claim("scale", '"scales down the values to prevent large gradients", of the root of d_k.', READING, TWO_LAB)
def large_gradients():
    cold, warm, wide = pulls(64, 1.0), pulls(64), pulls(1024, 1.0)
    few, calm = (pulls(64, scale, sets=5000, m=8) for scale in (1.0, None))
    return (f"On average it is so at a random query: with d_k = 64 and 64 keys the gradient is {cold.mean():.2f} "
            f"without the root and {warm.mean():.2f} with it. The median can say the opposite: with 8 keys it is "
            f"{few.median():.2f} without the root and {calm.median():.2f} with it.",
            min(cold.mean(), wide.mean()) > 4 * warm.mean() and cold.median() > 2 * warm.median()
            and few.mean() > calm.mean() and few.median() < calm.median() and wide.median() < 0.1 * warm.median())


@claim("scale",
       'Large dot products push the softmax "into regions where it has extremely small gradients".', SIZES, TWO_LAB)
def small_gradients():
    widths = (16, 64, 256, 1024)
    cold, warm = (torch.stack([slopes(d, scale, 128_000 // d).median() for d in widths]) for scale in (1.0, None))
    query, scaled = pulls(64, 1.0).median(), pulls(64).median()
    return (f"It is so at the scores for large d_k, as the authors suspect: among 64 keys the median gradient there is "
            f"{cold[1]:.3f} without the root and {warm[1]:.3f} with it at d_k = 64, and {cold[3]:.3f} against "
            f"{warm[3]:.3f} at 1024. At d_k = 16 it is {cold[0]:.3f} against {warm[0]:.3f}, and one step back, at the "
            f"query, it is larger without the root, {query:.2f} against {scaled:.2f} at 64.",
            cold[0] > 0.9 * warm[0] and (cold[1:] < 0.8 * warm[1:]).all() and cold[3] < 0.05 and query > 2 * scaled)


@claim("scale", "Without the root of d_k, training fails.", SIZES, TWO)
def training_without():
    easy, lower, low, high, close = 0.3, 0.03, 0.15, 0.4, 1e-4
    narrow, wide, scaled, more = (fit_lookup(d, scale=s) for d, s in ((4, 1.0), (64, 1.0), (64, None), (64, 1 / 64)))
    again = fit_lookup(64, scale=1.0, start=64**-0.25, rate=0.01 * 64**-0.25)
    on_weights = fit_lookup(64, scale=1.0, loss="weights")
    return (f"It does in wide heads that look up one of 32 assigned values, with the error of the mixture: at d_k = 64 "
            f"all {len(wide)} runs are above {high} after 300 steps without the root and below {low} with it, while "
            f"at 4 all learn without it, to errors below {easy}. With a loss on the weights themselves, at the same "
            f"rate of 0.01, those of 64 learn too, and end below {lower}. A smaller start with smaller steps does what "
            f"the root does, to {close:.0e}.",
            narrow.max() < easy and wide.min() > high and scaled.max() < low and more.max() < lower
            and on_weights.max() < lower and (again - scaled).abs().max() < close)


# --- Reach and speed --------------------------------------------------------------------------------------------------

def rounds(reads):
    """How many rounds news takes from the first word to the last.

    In each round word i hears from every word j with reads[i, j].
    """
    informed, count = torch.arange(len(reads)) == 0, 0
    while not informed[-1]:
        informed, count = informed | reads[:, informed].any(1), count + 1
    return count


def influence(layer, n=200):
    """How much the last output depends on the token t places before it, t = 0, 1, ...: (n,)."""
    x = torch.randn(n, 16, requires_grad=True)
    return torch.autograd.grad(layer(x)[-1].sum(), x)[0].norm(dim=-1).flip(0)


@claim("reach", '"RNN path length from word 1 to word 100: 99 steps", and one for attention.', RIGHT, ONE)
def path_lengths():
    everyone = torch.ones(100, 100, dtype=torch.bool)
    recurrent = everyone.tril(-1).triu(-1)                                                # word i hears from word i - 1
    slow, fast = rounds(recurrent), rounds(everyone)
    return (f"Word 1 reaches word 100 in {slow} steps of a recurrent network, and in {fast} of attention. The price "
            f"is {int(everyone.sum()):,} scores in place of {int(recurrent.sum())} steps from state to state.",
            (slow, fast) == (99, 1))


@claim("reach", "Attention is better with long distances, since any two words are joined directly.", SETTINGS, BUYS)
def long_distances():
    nothing = 1e-10
    W_Q, W_K, W_V = torch.randn(3, 16, 16) / 4
    lstm, opened = torch.nn.LSTM(16, 16), torch.nn.LSTM(16, 16)
    torch.nn.init.constant_(opened.bias_hh_l0[16:32], 5)                                       # of the forget gates
    layers = (lambda x: attention(x @ W_Q, x @ W_K, x @ W_V)[0], lambda x: lstm(x)[0], lambda x: opened(x)[0])
    head, recurrent, kept = (sum(influence(layer) for _ in range(20)) / 20 for layer in layers)
    return (f"Before training, a head's output depends on the word 100 back by {head[100]:.4f}, and that of torch's "
            f"LSTM by less than {nothing:.0e}. But an LSTM whose forget gates start open has {kept[100]:.4f}.",
            recurrent[100] < nothing < 1e-4 < min(head[100], kept[100]) and recurrent[1] > head[1])


@claim("reach", '"Training speed: 100x faster on GPUs!"', WRONG, BUYS)
def a_hundred_times():
    d, short, long = 256, 16, 1024
    lstm, head = (sum(p.numel() for p in layer.parameters())
                  for layer in (torch.nn.LSTM(d, d, bias=False), MultiHeadAttention(d, 1, bias=False)))
    # a product with a matrix multiplies once for each of its numbers
    ratio = {n: n * lstm / (n * head + 2 * n * n * d) for n in (short, long)}
    return (f"No constant is right, because the counts depend on the length. At width {d} an LSTM multiplies "
            f"{ratio[short]:.2f} times as often as attention for {short} tokens, and {ratio[long]:.2f} times for "
            f"{long:,}, but it needs as many sequential steps as there are tokens, against 1.",
            ratio[short] > 1 > ratio[long])


@claim("reach", '"Self-Attention was introduced as an alternative" to recurrent networks.', READING, f"{ONE}_lab")
def alternative():
    nothing, lstm = 1e-10, torch.nn.LSTM(16, 16)
    def looks_back(x):
        states = lstm(x)[0]
        return attention(states[-1:], states, states)[0]
    plain, with_attention = (sum(influence(layer)[100] for _ in range(20)) / 20
                             for layer in (lambda x: lstm(x)[0], looks_back))
    return ("Translation by attention alone dates from 2017, but Bahdanau, Cho and Bengio (2015) added attention to a "
            "recurrent translator, and Cheng, Dong and Lapata (2016) put self-attention inside an LSTM. It helps "
            "there: before training, the last state of torch's LSTM depends on the word 100 back by less than "
            f"{nothing:.0e}, and with attention over its 200 states by {with_attention:.4f}.",
            plain < nothing < 1e-4 < with_attention)
