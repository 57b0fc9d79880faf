"""Room 3: who depends on whom. Here the weights may all be right."""
import torch

from mha.exercises.engine.question import Option
from mha.exercises.zoo.kinds import Case, Check, WhichBug, WhichLine, WhichPicture, WhichTest
from mha.exercises.zoo.staged import (
    GITHUB, N, TOKENS, W_O, attend, follows_the_batch, influence, keeps_sentences_apart, keeps_the_shape, layer,
    listens, merge_by_view, over_batch, run, split_by_view,
)

ROOM = "section 3"
IN_OUT = "Two sentences of four tokens, a and b, go through a layer of two heads, without a mask."
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
        statement=f"{IN_OUT} Which bug made the map on the right?",
        options=(Case("The mask of a sliding window was left in.",
                      "A window moves with the token: where 1 sees 2, 2 sees 3. Here the sentence falls into fixed "
                      "halves.", "window", makes=lambda: influence(layer(WINDOW))),
                 Case("The heads were cut with view, without a transpose.",
                      "Each head holds all columns of half of the tokens.",
                      makes=lambda: influence(layer(split=split_by_view, merge=merge_by_view))),
                 Case("The heads were cut right, and merged with view.",
                      "In each head every token has met every other by then, so every output would depend on its whole "
                      "sentence.", "merge-by-view", makes=lambda: influence(layer(merge=merge_by_view))),
                 Case("The softmax runs over the queries.",
                      "Then every output would still depend on every token of its sentence.", "softmax-axis-queries",
                      makes=lambda: influence(layer(axis=-2)))),
        note="Two heads, four tokens: head 1 gets tokens 1 and 2 with all their columns, head 2 the others, and a view "
             "puts them back in the same way. Shapes, row sums and even a causal mask look right. Reported for three "
             f"click-rate models, whose source was a blog post: {GITHUB}reczoo/FuxiCTR/issues/30 (2022); the same "
             f"line stood in {GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 for two "
             "years."),
    WhichPicture(
        id="B.4", title="Every token for itself", after=ROOM, rows=TOKENS, columns=TOKENS,
        line="Q, K, V = ((x @ W).unflatten(-1, (h, d)) for W in (W_Q, W_K, W_V))",
        statement=f"{IN_OUT} It cuts its heads by `Q, K, V = ((x @ W).unflatten(-1, (h, d)) for W in (W_Q, W_K, "
                  "W_V))`, and takes `(Q @ K.mT / d**0.5).softmax(-1) @ V`. Which map is it? Write down the shape of "
                  "`Q @ K.mT` first.",
        makes=heads, sound=lambda: influence(layer()),
        options=(Case("Every output depends on its sentence.",
                      "That needs a product over tokens: (B, h, n, d), a transpose away from what the line makes.",
                      "as-meant", makes=lambda: influence(layer())),
                 Case("Every output depends on its own token only.",
                      "The tensors stand as (B, n, h, d), and the product over the last two axes makes h by h scores: "
                      "the heads attend to each other, inside one token."),
                 Case("Every output depends on its half of the sentence.",
                      "That comes of view(B, h, n, d). Here the last axis is cut, and tokens stay whole.",
                      "split-by-view",
                      makes=lambda: influence(layer(split=split_by_view, merge=merge_by_view)))),
        note="The function expected (b, h, n, d) and got (b, n, h, d): \"totally wrong\", says the report, "
             f"{GITHUB}kyegomez/FlashMHA/issues/1 (2024). No information passes between tokens, and every shape is as "
             "it should be."),
    WhichTest(
        id="B.5", title="Neighbours in the batch", after=ROOM, rows=TOKENS, columns=TOKENS,
        buggy=lambda: influence(over_batch), sound=lambda: influence(layer()), layer=over_batch, healthy=layer(),
        statement=f"{IN_OUT} This one takes the first axis for the tokens, and attends over the batch. Which of these "
                  "tests would have caught it? Pick all.",
        options=(Check("The output has the shape of the input.", "It has: only who meets whom is exchanged.", "shape",
                       passes=keeps_the_shape),
                 Check("Exchange the two sentences; the outputs are exchanged.",
                       "They are. What treats all sentences alike may still mix them.", "batch-order",
                       passes=follows_the_batch),
                 Check("Change every word of sentence b; no output of a moves.", "Each moves: a1 depends on b1.",
                       passes=keeps_sentences_apart),
                 Check("Change a1; output a3 moves.", "It does not: a3 hears of a3 and b3 alone.", passes=listens)),
        note="One test changes what should not matter, one what should. torch's encoder layers take the tokens first "
             "unless batch_first=True. Given (batch, tokens, d) they attend across the batch; in a batch of one each "
             f"token sees only itself. {GITHUB}IBM/TabFormer/pull/14 (2021)."),
    WhichLine(
        id="B.3", title="Sentences that talk to each other", stars=3, after=ROOM, rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} It lays the heads before the batch. Which line is wrong? Sizes stand behind the lines: "
                  "batch `B`, tokens `n`, heads `h`, and `d` for each head.",
        makes=whole, mended="out = out.unflatten(0, (h, B)).permute(1, 2, 0, 3).flatten(2)  # (B, n, h d)",
        options=(Option("`Q, K, V = (split(x @ W) for W in (W_Q, W_K, W_V))  # (B, h, n, d)`",
                        "Were the heads cut wrongly, the sentences would still stay apart.", "split"),
                 Option("`Q, K, V = (t.transpose(0, 1) for t in (Q, K, V))  # (h, B, n, d)`",
                        "All three are turned alike. Whoever lays the heads first must remember it later.",
                        "transpose"),
                 Option("`Q, K, V = (t.flatten(0, 1) for t in (Q, K, V))  # (h B, n, d)`",
                        "Now head 1 of a, head 1 of b, head 2 of a, head 2 of b: each still by itself.", "flatten"),
                 Option("`weights = (Q @ K.mT / d**0.5).softmax(-1)  # (h B, n, n)`",
                        "The first axis is never summed over: here no sentence meets another.", "softmax"),
                 Option("`out = weights @ V  # (h B, n, d)`", "Still one sentence and one head in each.", "values"),
                 Option("`out = out.view(B, n, h * d)`", "view takes (h B, n, d) for (B, n, h d): the numbers are as "
                        "many, and stand elsewhere."),
                 Option("`out = out @ W_O`", "It works on each output by itself.", "output")),
        note="With the heads stacked in front, half of the outputs of sentence a come from sentence b. Right for one "
             f"head only. {GITHUB}jadore801120/attention-is-all-you-need-pytorch/issues/7 (2017), mended a day later. "
             "Predictions that change with the rest of the batch are the symptom to test for."),
]
