"""Room 4, the night house: bugs that no sum shows, and the layer that leaks only when it is watched."""
import functools
import math

import torch

from mha.exercises.zoo.kinds import Case, Check, WhichBug, WhichPicture, WhichTest
from mha.exercises.zoo.staged import (
    CAUSAL, GITHUB, KINDS, LENGTH, N, STEPS, TOKENS, W_K, W_O, W_Q, W_V, WIDE, WORDS, D, X, attend,
    equals_with_one_head, hides_the_future, hides_the_future_without_a_cache, influence, keeps_sentences_apart,
    keeps_the_shape, layer, like_without_a_cache, merge_by_view, numbers, own_gradients, reader, run, training,
)

ROOM = "section 4"
THREE, FIVE = tuple("123"), tuple("12345")
PAST = torch.ones(LENGTH, LENGTH).tril() > 0


def gradients(line):
    """How much each weight of a new head moves with its own score, after a line that makes the scores."""
    return own_gradients(run(line, Q=WIDE[0], K=WIDE[1], scale=64**-0.5)["scores"])


def even(*divisors):
    """The weights of a head whose scores are divided by a number; once more through the softmax for each other."""
    found = 2 * WIDE[0] @ WIDE[1].mT / divisors[0]
    for _ in divisors:
        found = found.softmax(-1)
    return found[None]


@functools.cache
def learned(line):
    """The loss of a head in training, after a line that should mask its scores; (1, 1, steps)."""
    return training(lambda scores: run(line, scores=scores, causal=PAST)["scores"])[None, None]


def drawn_losses(made):
    """Three curves, and what nobody who is blind to the future gets below."""
    from mha import viz
    dice = torch.full((STEPS,), math.log(KINDS) / 2)
    return viz.curves(torch.arange(STEPS), "step", "loss", points=4, **{"the dice": dice},
                      **{letter: maps[0, 0] for letter, maps in made.items()})


def both(plain, asked):
    """Who depends on whom on the two paths of a layer, with the mask that each of them uses."""
    return torch.cat([influence(layer(mask)) for mask in (plain, asked)])


HALVES, EVERY_SECOND = (slice(0, 4), slice(4, 8)), (slice(0, 8, 2), slice(1, 8, 2))
BIAS = 0.4 * numbers(930, D)


def apart(columns=HALVES, rows=HALVES, biases=1, machines=(0, 1)):
    """By how much the sum over two machines, a head on each, is off the layer with its bias, sizes (1, n, d).

    Args:
        columns: of W_Q, W_K and W_V on each. rows: of W_O. biases: how many of them the sum holds. machines: whose
            outputs are summed.
    """
    parts = [attend(*(X[0] @ W[:, columns[i]] for W in (W_Q, W_K, W_V))) @ W_O[rows[i]] for i in machines]
    return (sum(parts) + biases * BIAS - (layer()(X)[0] + BIAS)).abs()[None]


merged_by_view = layer(CAUSAL, merge=merge_by_view)
kept_unmasked = reader(False)

SPECIMENS = [
    WhichPicture(
        id="B.13", title="One key takes all", after=ROOM, rows=THREE, columns=FIVE, sums=False,
        words=("query", "key", "gradient"),
        line="scores = Q @ K.mT / scale",
        statement="An untrained head with d_k = 64 has `scale = d_k**-0.5`, and then `scores = Q @ K.mT / scale`. The "
                  "maps show gradients, three random queries by five random keys: how much each weight moves when its "
                  "own score does. Which map belongs to this head?",
        makes=gradients, sound=lambda: gradients("scores = Q @ K.mT * scale"),
        options=(Case("Nearly all weights have stopped moving.",
                      "Dividing by 1 / 8 multiplies by 8. The softmax is saturated, and little gradient passes."),
                 Case("Some weights move more than others.", "That is a head whose scores have a standard deviation "
                                                             "near 1.",
                      "as-meant", makes=lambda: gradients("scores = Q @ K.mT * scale")),
                 Case("All weights move about alike.",
                      "That is a head with scores divided by d_k. Dividing by a number below 1 makes them larger.",
                      "scale-d_k", makes=lambda: gradients("scores = Q @ K.mT * scale**2"))),
        note=f"scale = dim ** -0.5, and then the scores were divided by it: {GITHUB}esceptico/perceiver-io/issues/9 "
             "(2021). With d_k = 64 the scores of an untrained model have a standard deviation of 64, where 1 is "
             "meant."),
    WhichBug(
        id="B.12", title="A little too uniform", stars=3, minutes=5, after=ROOM, rows=THREE, columns=FIVE,
        sound=lambda: even(64**0.5),
        statement="One of eight heads, d_model = 512, attends from three queries to five keys. Its rows sum to 1, and "
                  "the order of the keys in each row is right. Which bug is it?",
        options=(Case("The scores were divided by the root of d_model.",
                      "It should be the root of d_k = 64. Differences of scores are smaller by the root of 8.",
                      makes=lambda: even(512**0.5)),
                 Case("The scores were not divided at all.", "Then the weights would be sharper, and not more uniform.",
                      "no-scale", makes=lambda: even(1)),
                 Case("The softmax was taken twice.", "Then no weight could be more than e times another.",
                      "softmax-twice", makes=lambda: even(64**0.5, 1)),
                 Case("The scores were divided by d_k.",
                      "Then differences of scores would be smaller by 8, and no weight here would reach a third.",
                      "scale-d_k",
                      makes=lambda: even(64))),
        hints=("Take one row and compare the logarithms of the ratios of two weights, right and wrong.",),
        note="No shape and no sum shows it, and with one head it is right. "
             f"{GITHUB}lucidrains/vit-pytorch/issues/65 (2021), where the author says that he still makes rookie "
             f"mistakes after nearly a year of attention; and {GITHUB}karpathy/ng-video-lecture/pull/6 (2023), from "
             "where it was copied."),
    WhichPicture(
        id="B.9", title="A mask that does nothing", after=ROOM, line="scores.masked_fill(~causal, -inf)",
        statement="Small heads learn to predict the next token. Each sentence is four throws of a die with eight "
                  "sides, and then the same four once more. Half of the tokens are throws that nothing predicts, so on "
                  "average only a head that sees the future gets below the line \"the dice\". Before its softmax one "
                  "head has the line `scores.masked_fill(~causal, -inf)`. Which curve is its loss?",
        makes=learned, sound=lambda: learned("scores = scores.masked_fill(~causal, -inf)"), draw=drawn_losses,
        options=(Case("Curve A", "That head guesses everything, half of it needlessly, because it sees only its own "
                                 "token.", "itself",
                      makes=lambda: learned("scores = scores.masked_fill(~(causal & causal.T), -inf)")),
                 Case("Curve B", "That head repeats what it can and guesses the rest, so its mask works. masked_fill "
                                 "returns a copy.",
                      "as-meant", makes=lambda: learned("scores = scores.masked_fill(~causal, -inf)")),
                 Case("Curve C", "Nobody can foresee a throw, so it reads the answer: the line's result is thrown "
                                 "away.")),
        note=f"Too good to be true. Found in {GITHUB}opendilab/DI-engine/issues/333 (2022), whose test had used a mask "
             f"that hides nothing; in {GITHUB}facebookresearch/ParlAI/pull/3068 (2020); and in "
             f"{GITHUB}lucidrains/flamingo-pytorch/issues/10 (2022). One underscore, three times."),
    WhichTest(
        id="B.2", title="A causal layer that sees ahead", core=True, stars=3, after=ROOM, rows=TOKENS, columns=TOKENS,
        buggy=lambda: influence(merged_by_view), sound=lambda: influence(layer(CAUSAL)), layer=merged_by_view,
        healthy=layer(CAUSAL),
        statement="A causal layer has the right weights, row by row. But it merges its heads with view, without a "
                  "transpose, so that a row of the output holds two tokens of one head. Which of these tests would "
                  "have caught it? Pick all.",
        options=(Check("The output has the shape of the input.", "view makes the right shape, so this test passes.",
                       "shape", passes=keeps_the_shape),
                 Check("Change every word of sentence b; no output of a moves.", "The sentences stay apart.",
                       "sentences", passes=keeps_sentences_apart),
                 Check("Change the last token of a; no earlier output moves.",
                       "One moves, because output 2 is made of tokens 3 and 4 of head 1.", passes=hides_the_future),
                 Check("With one head it gives what somebody else's layer gives.",
                       "It does, because with one head there is nothing to transpose.", "one-head",
                       passes=equals_with_one_head(layer(CAUSAL)))),
        note="Row 1 of the output is made of tokens 1 and 2 of head 1, and row 3 of head 2's. The training test had "
             f"passed, \"probably because the copy task is too easy\": {GITHUB}jsbaan/transformer-from-scratch/pull/6 "
             "(2026)."),
    WhichBug(
        id="B.18", title="A layer with two paths", core=True, stars=3, minutes=5, after=ROOM, rows=TOKENS,
        columns=TOKENS, titles=("plain", "weights asked for"), sound=lambda: both(CAUSAL, CAUSAL),
        statement="A causal layer can be asked to return its weights as well. Compare the two paths. Which bug is it?",
        options=(Case("The layer has no causal mask.", "Then the plain path would see the future as well.", "no-mask",
                      makes=lambda: both(None, None)),
                 Case("The layer forgets its causal mask unless its weights are asked for.",
                      "It is the other way round. Look at which map is the full one.", "plain-path",
                      makes=lambda: both(None, CAUSAL)),
                 Case("The layer forgets its causal mask on the path that returns weights.",
                      "The fast path has the mask built in. The other has to make it, and does not.",
                      makes=lambda: both(CAUSAL, None)),
                 Case("On the path that returns weights the diagonal of the mask is off by one.",
                      "Then output 1 would depend on tokens 1 and 2 only, and not on all four.", "off-by-one",
                      makes=lambda: both(CAUSAL, torch.ones(N, N).tril(1) > 0))),
        note="\"In particular, dropout=0 is not safe — a layer with no dropout still leaks the moment it is called "
             f"with return_attention_scores=True\", says {GITHUB}keras-team/keras/issues/23038 (2026), a regression. "
             "The specimen shows that one case. Two more lose the mask there, each by itself: dropout above 0, and "
             "inputs that have not four axes. With dropout, the layer that leaks is the layer that is trained. So "
             "test every path, not only the one you use."),
    WhichTest(
        id="B.19", title="A cache that needs no mask", stars=3, minutes=5, after=ROOM, rows=TOKENS, columns=TOKENS,
        buggy=lambda: influence(kept_unmasked), sound=lambda: influence(reader(True)), layer=kept_unmasked,
        healthy=reader(True),
        statement="A causal layer drops its mask when it has a KV cache, because a decoder that adds one token at a "
                  "time has nothing later to mask. The maps show a prompt of four tokens, read at once, with a cache. "
                  "Which of these tests would have caught it? Pick all.",
        options=(Check("Without a cache, change the last token of a; no earlier output moves.",
                       "Without a cache the layer still has its mask.", "without-cache",
                       passes=hides_the_future_without_a_cache),
                 Check("With a cache, token by token, it gives what it gives without one.",
                       "It does, because a single new token may see all that is there.", "token-by-token",
                       passes=like_without_a_cache(1, 1, 1, 1)),
                 Check("With a cache, the whole prompt at once, its last output is what it is without one.",
                       "In one layer it is, because the last token of a prompt may see all of it.", "last-output",
                       passes=like_without_a_cache(N, rows=slice(N - 1, None))),
                 Check("With a cache, the whole prompt at once, it gives what it gives without one.",
                       "It does not, because output 1 has seen tokens 2, 3 and 4.", passes=like_without_a_cache(N)),
                 Check("With a cache, two tokens and then two more, it gives what it gives without one.",
                       "It does not, because output 1 has seen token 2, and output 3 token 4.",
                       passes=like_without_a_cache(2, 2))),
        note=f"`if cache is None:` stood before the mask in {GITHUB}Mikyx-1/TinyLLM/pull/18 (2026). Training "
             "passes no cache, so it was not affected, while each prompt was read with one. In a model of several "
             "layers the last output is wrong too, because the layers below have spoilt what it reads. Four models of "
             "one "
             f"library had the same fault of their own, {GITHUB}lablup/mlxcel/pull/1001 (2026). So compare with and "
             "without a cache in parts of several tokens, not only token by token."),
    WhichBug(
        id="B.23", title="A layer on two machines", after=ROOM, rows=WORDS, columns=tuple("12345678"), sums=False,
        axes="Rows are tokens, columns coordinates of the output.", sound=apart,
        words=("token", "coordinate of the output", "error"),
        statement="A layer of two heads is split over two machines, a head on each, and their outputs are summed. The "
                  "maps show for four tokens how far each of the eight coordinates of the sum is from what the whole "
                  "layer gives. Which bug is it?",
        options=(Case("Each machine has every second column of W_Q, W_K and W_V.",
                      "Then both heads would have other scores, and each token would be off by numbers of its own.",
                      "strided", makes=lambda: apart(columns=EVERY_SECOND)),
                 Case("The output of one machine was not added.",
                      "Then what is missing is that head's output, which differs from token to token.", "not-summed",
                      makes=lambda: apart(machines=(0,))),
                 Case("The bias of W_O was added on both machines.",
                      "Every token is off by the same vector, and of these four only a bias added twice does that.",
                      makes=lambda: apart(biases=2)),
                 Case("Each machine has the rows of W_O of the other one.",
                      "Then each head would be read by the wrong rows, and tokens would be off differently.",
                      "rows-exchanged", makes=lambda: apart(rows=HALVES[::-1]))),
        hints=("Compare the rows of the map. What in a layer is the same for every token?",),
        note=f"{GITHUB}PaddlePaddle/Paddle/pull/35186 (2021), "
             f"{GITHUB}EleutherAI/gpt-neox/issues/962 (2023), and "
             f"{GITHUB}Wenyueh/MinivLLM/issues/80 (2026), which prints this difference: one bias too many on two "
             "machines. On one machine it is right, and with a bias of 0 everywhere, so test on two, with a bias that "
             "is not 0."),
]
