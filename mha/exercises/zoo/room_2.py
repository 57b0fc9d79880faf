"""Room 2: a few lines of code, and one slip."""
import torch

from mha.exercises.engine.question import Option
from mha.exercises.zoo.kinds import Case, WhichLine, WhichPicture
from mha.exercises.zoo.staged import GITHUB, OLD, REAL, WORDS, X, run, weights

ROOM = "section 2"
SHAPES = "Sizes stand behind the lines: batch `B`, tokens `n`, heads `h`, and `d` for each head."


def late(line):
    """The weights of tokens 5 and 6 on keys 1 to 6, under the mask that a line makes."""
    return weights(OLD, run(line, n=2, m=6)["mask"])[None]


def reads(line):
    """Which of 2 key-value heads each of 4 query heads gets: the heads are marked, and the marks are read."""
    marked = torch.eye(2, dtype=torch.float64)[None, :, None]                  # (1, 2 heads, n = 1, 2)
    return run(line, k=marked)["k"][0, :, 0][None]


SPECIMENS = [
    WhichLine(
        id="B.7", title="Two heads that share", after=ROOM, rows=WORDS, columns=WORDS, titles=("head 1", "head 2"),
        statement="The maps show the weights of two heads on four tokens: as they should be, and as these six lines "
                  f"make them. Which line is wrong? {SHAPES}",
        makes=lambda program: run(program, x=X)["weights"][0], mended="weights = scores.softmax(-1)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "Were the heads cut wrongly, the weights of each row would still sum to 1.", "split"),
                 Option("`scores = Q @ K.mT / d**0.5  # (B, h, n, n)`",
                        "These are the right scores. Add up the two heads' weights of one pair.", "scores"),
                 Option("`weights = scores.softmax(1)`", "Axis 1 is the heads."),
                 Option("`out = weights @ V  # (B, h, n, d)`", "By then the weights are made.", "values"),
                 Option("`out = merge(out)  # (B, n, h d)`", "By then the weights are made.", "merge"),
                 Option("`out = out @ W_O`", "By then the weights are made.", "output")),
        note="For each pair of tokens the two heads' weights sum to 1. nn.Softmax() without dim takes axis 1 of a "
             "tensor with four axes, and prints a warning. In (B, h, n, n) that is the heads. "
             f"{GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 (2021) mended it."),
    WhichPicture(
        id="B.15", title="Who reads which", after=ROOM, columns=("kv 1", "kv 2"),
        rows=("query head 1", "query head 2", "query head 3", "query head 4"), line="k = k.repeat(1, 2, 1, 1)",
        statement="Four query heads share two heads of keys and values: the first two should read kv 1, the others kv "
                  "2. So `k`, (B, 2, n, d), is made (B, 4, n, d) by `k = k.repeat(1, 2, 1, 1)`. Which head of keys "
                  "does each query head get?",
        makes=reads, sound=lambda: reads("k = k.repeat_interleave(2, 1)"),
        options=(Case("1 1 2 2", "That was meant, and repeat_interleave(2, 1) makes it. repeat lays the whole axis "
                      "down twice.", "as-meant", makes=lambda: reads("k = k.repeat_interleave(2, 1)")),
                 Case("1 2 1 2", "repeat lays the two heads down one after the other, and then both again."),
                 Case("2 2 1 1", "Nothing turns the heads round.", "exchanged",
                      makes=lambda: reads("k = k.flip(1).repeat_interleave(2, 1)"))),
        note="Right with one kv head, and right with as many as query heads; wrong only in between: "
             f"{GITHUB}ekzhang/jax-js/pull/180 (2026), and the same slip in {GITHUB}apple/axlearn/pull/842 (2024). A "
             "model trained elsewhere then reads the wrong heads."),
    WhichLine(
        id="B.11", title="The neighbour's mask", stars=3, after=ROOM, rows=WORDS, columns=WORDS,
        titles=("a, head 1", "a, head 2", "b, head 1", "b, head 2"),
        statement="Sentence a has four words, sentence b has two, filled up to four. Batch and heads are laid together "
                  f"into one axis. Which line is wrong? {SHAPES}",
        makes=lambda program: run(program, x=X, real=REAL)["weights"],
        mended="mask = mask.repeat_interleave(h, 0)  # (B h, 1, n)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "The heads are cut as they should be; what they may read is not.", "split"),
                 Option("`Q, K, V = (t.flatten(0, 1) for t in (Q, K, V))  # (B h, n, d)`",
                        "Sentence a's two heads, then sentence b's: a a b b. Who else has to stand in this order?",
                        "flatten"),
                 Option("`mask = real[:, None]  # (B, 1, n)`",
                        "One row for each sentence, the same for all its queries: columns are hidden, and that is "
                        "right.", "mask"),
                 Option("`mask = mask.repeat(h, 1, 1)  # (B h, 1, n)`",
                        "Batch and heads are one axis, a a b b. repeat makes a b a b."),
                 Option("`scores = (Q @ K.mT / d**0.5).masked_fill(~mask, -inf)`",
                        "What is hidden is hidden well: for the wrong sentence.", "fill"),
                 Option("`weights = scores.softmax(-1)  # (B h, n, n)`", "All rows sum to 1, as they should.",
                        "softmax")),
        note="repeat makes a b a b, repeat_interleave makes a a b b. Some heads use another sentence's mask; with a "
             f"batch of one, or equal lengths, nothing shows. {GITHUB}ArrowLuo/CLIP4Clip/issues/22 (2021), and again "
             f"in {GITHUB}line/lighthouse/pull/77 (2026)."),
    WhichPicture(
        id="B.14", title="Only the oldest", core=True, after=ROOM, rows=("5", "6"), columns=tuple("123456"),
        line="mask = torch.ones(n, m).tril() > 0",
        statement="A model writes a text. The keys of tokens 1 to 4 are kept, and tokens 5 and 6 ask: n = 2 queries, m "
                  "= 6 keys. With `mask = torch.ones(n, m).tril() > 0`, True = may attend, which map are their "
                  "weights?",
        makes=late, sound=lambda: late("mask = torch.ones(n, m).tril(m - n) > 0"),
        options=(Case("5 reads 1 to 5, and 6 reads all.", "That was meant, and tril(m - n) makes it. tril alone starts "
                      "at the top left.", "as-meant", makes=lambda: late("mask = torch.ones(n, m).tril(m - n) > 0")),
                 Case("5 reads all, and 6 all but the first.", "That is the upper triangle.", "upper",
                      makes=lambda: late("mask = torch.ones(n, m).triu() > 0")),
                 Case("5 reads the first key, and 6 the first two.", "tril takes query 5 for token 1.")),
        note="A causal mask with more keys than queries must end at the bottom right. \"The entire prompt history is "
             f"masked out\", says {GITHUB}hyprstream/hyprstream/pull/1521 (2026); is_causal of "
             "scaled_dot_product_attention starts at the top left by definition, "
             f"{GITHUB}pytorch/pytorch/issues/144858 (2025)."),
    WhichLine(
        id="B.20", title="Narrower than it looks", after=ROOM, rows=WORDS, columns=WORDS, titles=("head 1", "head 2"),
        statement="Two latent heads: all that is kept of a token is c, 16 numbers, from which the keys c W_UK could be "
                  "made, d = 4 numbers for each head. Here W_UK is absorbed into the queries instead, which should "
                  f"change nothing. The weights come out too even. Which line is wrong? {SHAPES}",
        makes=lambda program: run(program, x=X)["weights"][0], mended="scores = Q @ c.mT / d**0.5  # (B, h, n, n)",
        options=(Option("`Q = split(x @ W_Q)  # (B, h, n, d)`", "The queries are those of any other layer.", "queries"),
                 Option("`c = (x @ W_DKV)[:, None]  # (B, 1, n, 16)`",
                        "One latent for each token, the same for all heads: that is what is kept.", "latent"),
                 Option("`Q = Q @ W_UK.unflatten(1, (h, d)).permute(1, 2, 0)  # (B, h, n, 16)`",
                        "q (c W_UK)^T is (q W_UK^T) c^T, for each head with its own columns of W_UK.", "absorbed"),
                 Option("`scores = Q @ c.mT / Q.shape[-1]**0.5  # (B, h, n, n)`",
                        "The query is 16 wide by now. But these are the scores of keys that are 4 wide: the same sums "
                        "in another order, to be divided by the root of 4."),
                 Option("`weights = scores.softmax(-1)`", "All rows sum to 1, as they should.", "softmax"),
                 Option("`out = merge(weights @ c @ W_UV.unflatten(1, (h, d)).transpose(0, 1))  # (B, n, h d)`",
                        "By then the weights are made.", "values")),
        note=f"{GITHUB}ollama/ollama/pull/13893 (2026): the scores of a latent model were scaled by the root of 576, "
             "the width of what its queries meet when W_UK is absorbed, where it had been trained with that of 256. "
             "Every shape is right, and the order of the keys too; the mending \"improves tool calling and model "
             "looping issues\"."),
]
