"""Room 2, the insect house: a few lines of code, and one slip."""
import torch

from mha.exercises.engine.question import Option
from mha.exercises.zoo.kinds import Case, WhichLine, WhichPicture
from mha.exercises.zoo.staged import GITHUB, OLD, REAL, WORDS, X, run, weights

ROOM = "section 2"


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
        statement="These six lines are a layer of two heads, and the maps show its weights on four tokens. Which line "
                  "is wrong?",
        makes=lambda program: run(program, x=X)["weights"][0], mended="weights = scores.softmax(-1)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "If the heads were split wrongly, the weights of each row would still sum to 1.", "split"),
                 Option("`scores = Q @ K.mT / d**0.5  # (B, h, n, n)`",
                        "These scores are right. Add up the two heads' weights for one query and one key.", "scores"),
                 Option("`weights = scores.softmax(1)`", "Axis 1 is the heads, so they share each weight of 1 between "
                                                         "them."),
                 Option("`out = weights @ V  # (B, h, n, d)`", "By then the weights are made.", "values"),
                 Option("`out = merge(out)  # (B, n, h d)`", "By then the weights are made.", "merge"),
                 Option("`out = out @ W_O`", "By then the weights are made.", "output")),
        note="For each query and key, the two heads' weights sum to 1. nn.Softmax() without dim takes axis 1 of a "
             "tensor with four axes, and prints a warning. In (B, h, n, n) that is the heads. "
             f"{GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 (2021) fixed it."),
    WhichPicture(
        id="B.15", title="Who reads which", after=ROOM, columns=("kv 1", "kv 2"),
        words=("", "filled: the query head reads this KV head", None),
        rows=("query head 1", "query head 2", "query head 3", "query head 4"), line="k = k.repeat(1, 2, 1, 1)",
        statement="Four query heads share two KV heads: the first two should read kv 1, the others kv "
                  "2. So `k`, (B, 2, n, d), is made (B, 4, n, d) by `k = k.repeat(1, 2, 1, 1)`. Which KV head "
                  "does each query head get?",
        makes=reads, sound=lambda: reads("k = k.repeat_interleave(2, 1)"),
        options=(Case("1 1 2 2", "That was meant, and repeat_interleave(2, 1) makes it. repeat copies the whole axis "
                      "twice.", "as-meant", makes=lambda: reads("k = k.repeat_interleave(2, 1)")),
                 Case("1 2 1 2", "repeat puts kv 1, kv 2 twice in a row, so heads 1 and 2 read different KV heads."),
                 Case("2 2 1 1", "Nothing in the line reverses the order of the heads.", "exchanged",
                      makes=lambda: reads("k = k.flip(1).repeat_interleave(2, 1)"))),
        note="It is right with one KV head, and with as many as query heads, and wrong in between: "
             f"{GITHUB}ekzhang/jax-js/pull/180 (2026), and the same slip in {GITHUB}apple/axlearn/pull/842 (2024). A "
             "model trained elsewhere then reads the wrong heads."),
    WhichLine(
        id="B.11", title="The neighbour's mask", stars=3, after=ROOM, rows=WORDS, columns=WORDS,
        titles=("a, head 1", "a, head 2", "b, head 1", "b, head 2"),
        statement="Sentence a has four words, and sentence b has two and is padded to four. Batch and heads are merged "
                  "into one axis. Which line is wrong?",
        makes=lambda program: run(program, x=X, real=REAL)["weights"],
        mended="mask = mask.repeat_interleave(h, 0)  # (B h, 1, n)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "The heads are split as they should be. It is the mask that goes astray.", "split"),
                 Option("`Q, K, V = (t.flatten(0, 1) for t in (Q, K, V))  # (B h, n, d)`",
                        "This gives sentence a's two heads, then b's: a a b b. What else must have this order?",
                        "flatten"),
                 Option("`mask = real[:, None]  # (B, 1, n)`",
                        "It has one row for each sentence, which serves all its queries, and that is right.", "mask"),
                 Option("`mask = mask.repeat(h, 1, 1)  # (B h, 1, n)`",
                        "Batch and heads are one axis, in the order a a b b, and repeat makes a b a b."),
                 Option("`scores = (Q @ K.mT / d**0.5).masked_fill(~mask, -inf)`",
                        "It masks what the mask says, but some heads got the mask of the other sentence.", "fill"),
                 Option("`weights = scores.softmax(-1)  # (B h, n, n)`", "All rows sum to 1, as they should.",
                        "softmax")),
        note="repeat makes a b a b, repeat_interleave makes a a b b. So some heads use another sentence's mask, which "
             f"does not show with a batch of one, or with equal lengths. {GITHUB}ArrowLuo/CLIP4Clip/issues/22 (2021), "
             "and again "
             f"in {GITHUB}line/lighthouse/pull/77 (2026)."),
    WhichPicture(
        id="B.14", title="Only the oldest", core=True, after=ROOM, rows=("5", "6"), columns=tuple("123456"),
        line="mask = torch.ones(n, m).tril() > 0",
        statement="A decoder has the keys of tokens 1 to 4 in its cache, and reads tokens 5 and 6: n = 2 queries, m "
                  "= 6 keys. With `mask = torch.ones(n, m).tril() > 0`, True = may attend, which map are their "
                  "weights?",
        makes=late, sound=lambda: late("mask = torch.ones(n, m).tril(m - n) > 0"),
        options=(Case("5 reads 1 to 5, and 6 reads all.", "That was meant, and tril(m - n) makes it. But tril alone "
                      "starts at the top left.", "as-meant", makes=lambda: late("mask = torch.ones(n, m).tril(m - n) "
                                                                                "> 0")),
                 Case("5 reads all, and 6 all but the first.", "That is the upper triangle, triu.", "upper",
                      makes=lambda: late("mask = torch.ones(n, m).triu() > 0")),
                 Case("5 reads the first key, and 6 the first two.", "tril takes query 5 for token 1.")),
        note="Where the newest key stands last, a causal mask must end at the bottom right. \"The entire prompt "
             f"history is masked out\", says {GITHUB}hyprstream/hyprstream/pull/1521 (2026); is_causal of "
             "scaled_dot_product_attention starts at the top left by definition, "
             f"{GITHUB}pytorch/pytorch/issues/144858 (2025)."),
    WhichLine(
        id="B.20", title="Narrower than it looks", after=ROOM, rows=WORDS, columns=WORDS, titles=("head 1", "head 2"),
        statement="Two heads of latent attention cache one vector c of 16 coordinates for each token. From it each "
                  "head could make keys of d = 4 coordinates, with its own 4 columns of W_UK. Here W_UK is absorbed "
                  "into the queries instead, which should change nothing. But the weights come out too uniform. "
                  "Which line is wrong?",
        makes=lambda program: run(program, x=X)["weights"][0], mended="scores = Q @ c.mT / d**0.5  # (B, h, n, n)",
        options=(Option("`Q = split(x @ W_Q)  # (B, h, n, d)`", "These are the queries of any other layer.", "queries"),
                 Option("`c = (x @ W_DKV)[:, None]  # (B, 1, n, 16)`",
                        "One latent for each token, the same for all heads, is what the cache holds.", "latent"),
                 Option("`Q = Q @ W_UK.unflatten(1, (h, d)).permute(1, 2, 0)  # (B, h, n, 16)`",
                        "q (c W_UK)^T equals (q W_UK^T) c^T, for each head with its own columns of W_UK.", "absorbed"),
                 Option("`scores = Q @ c.mT / Q.shape[-1]**0.5  # (B, h, n, n)`",
                        "These are the sums of 4-wide queries and keys in another order: divide by the root of "
                        "4."),
                 Option("`weights = scores.softmax(-1)`", "All rows sum to 1, as they should.", "softmax"),
                 Option("`out = merge(weights @ c @ W_UV.unflatten(1, (h, d)).transpose(0, 1))  # (B, n, h d)`",
                        "By then the weights are made.", "values")),
        note=f"{GITHUB}ollama/ollama/pull/13893 (2026): with W_UK absorbed, the queries of a latent model meet 576 "
             "numbers of each token, so its scores were divided by the root of 576. But it had been trained with keys "
             "of 256 numbers, and so with the root of 256. Every shape is right, and so is the order of the keys. The "
             "fix \"improves tool calling and model looping issues\"."),
]
