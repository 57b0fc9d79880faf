"""Room 3, the aviary: who depends on whom. Here the weights may all be right."""
import torch

from mha.exercises.engine.question import Option
from mha.exercises.zoo.kinds import Case, Check, WhichBug, WhichLine, WhichPicture, WhichTest
from mha.exercises.zoo.staged import (
    GITHUB, N, TOKENS, W_O, attend, follows_the_batch, influence, keeps_sentences_apart, keeps_the_shape, layer,
    listens, merge_by_view, over_batch, run, split_by_view,
)

ROOM = "section 3"
WINDOW = torch.ones(N, N).tril(1).triu(-1) > 0


def heads(line):
    """Who depends on whom, with the heads that a line makes of x."""
    def through(x):
        out = attend(*(run(line, x=x)[name] for name in "QKV"))
        return out.reshape(x.shape) @ W_O                       # (B, n, h, d) -> (B, n, h d)
    return influence(through)


def whole(program):
    """Who depends on whom, after a program that makes out of x."""
    return influence(lambda x: run(program, x=x)["out"])


SPECIMENS = [
    WhichBug(
        id="B.1", title="Halves that never meet", core=True, after=ROOM, sound=lambda: influence(layer()), rows=TOKENS,
        columns=TOKENS,
        statement="Which bug made the map on the right?",
        options=(Case("The mask of a sliding window was left in.",
                      "A window moves with the token, so 2 would see 3. Here the sentence falls into fixed halves.",
                      "window", makes=lambda: influence(layer(WINDOW))),
                 Case("The heads were split with view, without a transpose.",
                      "Each head gets all columns of half of the tokens.",
                      makes=lambda: influence(layer(split=split_by_view, merge=merge_by_view))),
                 Case("The heads were split right, and merged with view.",
                      "Each head has mixed all tokens by then, so every output would depend on its whole sentence.",
                      "merge-by-view", makes=lambda: influence(layer(merge=merge_by_view))),
                 Case("The softmax runs over the queries.",
                      "Then every output would still depend on every token of its sentence.", "softmax-axis-queries",
                      makes=lambda: influence(layer(axis=-2)))),
        note="With two heads and four tokens, head 1 gets tokens 1 and 2 with all their columns, head 2 the others, "
             "and a view puts them back in the same way. Shapes, row sums and even a causal mask look right. Reported "
             "for three "
             f"click-rate models, whose source was a blog post: {GITHUB}reczoo/FuxiCTR/issues/30 (2022); the same "
             f"line stood in {GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 for two "
             "years."),
    WhichPicture(
        id="B.4", title="Every token for itself", after=ROOM, rows=TOKENS, columns=TOKENS,
        line="Q, K, V = ((x @ W).unflatten(-1, (h, d)) for W in (W_Q, W_K, W_V))",
        statement="This layer splits its heads by `Q, K, V = ((x @ W).unflatten(-1, (h, d)) for W in (W_Q, W_K, "
                  "W_V))`, and takes `(Q @ K.mT / d**0.5).softmax(-1) @ V`. Which map does this layer make? Write down "
                  "the shape of `Q @ K.mT` first.",
        makes=heads, sound=lambda: influence(layer()),
        options=(Case("Every output depends on its sentence.",
                      "That needs tensors of shape (B, h, n, d), which are a transpose away from what the line makes.",
                      "as-meant", makes=lambda: influence(layer())),
                 Case("Every output depends on its own token only.",
                      "The tensors are (B, n, h, d), so scores are h by h: heads attend to heads, inside one token."),
                 Case("Every output depends on its half of the sentence.",
                      "That comes from view(B, h, n, d). Here only the last axis is split, and tokens stay whole.",
                      "split-by-view",
                      makes=lambda: influence(layer(split=split_by_view, merge=merge_by_view)))),
        note="The function expected (b, h, n, d) and got (b, n, h, d): \"totally wrong\", says the report, "
             f"{GITHUB}kyegomez/FlashMHA/issues/1 (2024). No information passes between tokens, and every shape is as "
             "it should be."),
    WhichTest(
        id="B.5", title="Neighbours in the batch", after=ROOM, rows=TOKENS, columns=TOKENS,
        buggy=lambda: influence(over_batch), sound=lambda: influence(layer()), layer=over_batch, healthy=layer(),
        statement="This layer takes the first axis for the tokens, so it attends over the batch. Which of these "
                  "tests would have caught it? Pick all.",
        options=(Check("The output has the shape of the input.", "It has that shape, because only the roles of the "
                                                                 "two axes are exchanged.", "shape",
                       passes=keeps_the_shape),
                 Check("Exchange the two sentences; the outputs are exchanged.",
                       "They are, because a layer that treats all sentences alike may still mix them.", "batch-order",
                       passes=follows_the_batch),
                 Check("Change every word of sentence b; no output of a moves.", "Each of them moves, because a1 "
                                                                                 "depends on b1, and so on.",
                       passes=keeps_sentences_apart),
                 Check("Change a1; output a3 moves.", "It does not move, because a3 depends on a3 and b3 alone.",
                       passes=listens)),
        note="One test changes what should not matter, one what should. torch's encoder layers take the tokens first "
             "unless batch_first=True. Given (batch, tokens, d) they attend across the batch; in a batch of one each "
             f"token sees only itself. {GITHUB}IBM/TabFormer/pull/14 (2021)."),
    WhichLine(
        id="B.3", title="Sentences that talk to each other", stars=3, after=ROOM, rows=TOKENS, columns=TOKENS,
        statement="This layer puts the heads before the batch. Which line is wrong?",
        makes=whole, mended="out = out.unflatten(0, (h, B)).permute(1, 2, 0, 3).flatten(2)  # (B, n, h d)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "If the heads were split wrongly, the sentences would still stay apart.", "split"),
                 Option("`Q, K, V = (t.transpose(0, 1) for t in (Q, K, V))  # (h, B, n, d)`",
                        "All three are transposed alike, which is fine if it is undone at the end.",
                        "transpose"),
                 Option("`Q, K, V = (t.flatten(0, 1) for t in (Q, K, V))  # (h B, n, d)`",
                        "Now the order is head 1 of a, head 1 of b, head 2 of a, head 2 of b.", "flatten"),
                 Option("`weights = (Q @ K.mT / d**0.5).softmax(-1)  # (h B, n, n)`",
                        "No sum runs over the first axis, so no sentence meets another here.", "softmax"),
                 Option("`out = weights @ V  # (h B, n, d)`", "Each matrix still belongs to one sentence and one head.",
                        "values"),
                 Option("`out = out.view(B, n, h * d)`", "view reads (h B, n, d) as (B, n, h d): as many numbers, but "
                        "in other cells."),
                 Option("`out = out @ W_O`", "It works on each token by itself.", "output")),
        note="With the heads stacked in front, half of the outputs of sentence a come from sentence b. It is right "
             "for one "
             f"head only. {GITHUB}jadore801120/attention-is-all-you-need-pytorch/issues/7 (2017), fixed a day later. "
             "Predictions that change with the rest of the batch are the symptom to test for."),
]
