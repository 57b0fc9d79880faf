"""The questions of chapter 10 that need no code."""
import math

from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

EARLIER = 10

two_before = Number(
    id="10.5", title="The two before, without positions", chapter="10_position_lab", stars=2, minutes=5,
    after="section 1", tolerance=0.005,
    statement=f"One causal layer has no positions. The tokens hold contents of variance 1, independent and "
              f"identically distributed, and nothing else. The token with {EARLIER} others before it wants the sum "
              "of two contents: those of the two tokens right before it. What is the least mean squared error, for "
              "any weights and any use of what the layer returns?",
    answer=2 - 4 / EARLIER,
    mistakes=(
        (0, Mistake("sees-order", "For that it must tell the two before from the others. In one layer without "
                                  f"positions all orders of the {EARLIER} give the same output.")),
        (2, Mistake("knows-nothing", f"It knows something: the two wanted are among the {EARLIER} that it sees, and "
                                     "their mean goes with each of them a little.")),
        (2 - 2 / EARLIER, Mistake("errors-added", "That is the error of one, twice. But the two errors are not "
                                                  "independent: where one wanted content is above the mean, the other "
                                                  "is rather below.")),
        (2 - 3 / EARLIER, Mistake("mean-not-doubled", "That is what the mean itself makes of it, as a guess. Two are "
                                                      "wanted, so twice the mean is better.")),
        (4 / EARLIER, Mistake("explained-share", "That is what can be explained. The error is what is left.")),
        (1 - 2 / EARLIER, Mistake("per-variance", "That is the part of the variance that is left. The sum of two "
                                                  "contents has variance 2.")),
        (1 - 1 / EARLIER, Mistake("one-wanted", "That is the error for one of them. The sum of two is wanted.")),
        (2 - 4 / (EARLIER + 1), Mistake("itself-counted", "The token itself is not among those that could be meant, "
                                        f"and its own content is known. There are {EARLIER} others.")),
    ),
    hints=(f"If the {EARLIER} earlier tokens change places, what becomes of the output?",
           "The best guess is the mean of what the sum could be, over all pairs. How much of the sum's variance does "
           "it explain?"),
    note="The output depends on the set of the earlier tokens, not on their order. So each pair could be the one "
         f"meant, and the best guess is twice the mean of all {EARLIER}, whose variance is 4/{EARLIER}: of the "
         "variance 2 of the sum that much is explained. In general the sum of the k before leaves k - k²/i, with i "
         "tokens before; for k = i nothing.",
)

two_words = Choice(
    id="10.6", title="Six times one token, six times another", chapter="10_position_lab", stars=2, minutes=6,
    after="section 1", several=True,
    statement="A deep causal transformer has no positions: layers of attention, networks that work on each token, "
              "norms and residual sums. It reads a text of twelve tokens, X X X X X X Y Y Y Y Y Y. Some pairs of "
              "outputs are equal whatever the weights are. Which of these pairs can differ? Pick all.",
    options=(
        Option("The third and the fifth, both X.",
               "Both see nothing but X. Weights sum to 1, so what they mix is the same, in every layer.", "equal-past"),
        Option("The eighth and the eleventh, both Y.",
               "The eighth sees six X and two Y, the eleventh six X and five Y: the mixtures differ."),
        Option("The fifth here, and the fifth of a text of twelve X.",
               "The mask hides all that comes later, so up to the sixth token the texts are the same.", "later-tokens"),
        Option("The last here, and the last of X Y X Y X Y X Y X Y X Y.",
               "They see the same set, so one layer cannot part them. But the Y before them are mixed from other "
               "sets, and a second layer reads those."),
        Option("The last here, and the last of a text of five X and seven Y.",
               "The same two kinds, in other numbers: one layer can already tell the shares apart."),
    ),
    hints=("For each pair: what do the two tokens see? The same set, in the same shares?",
           "And where the sets are equal: were those in the set made from equal sets themselves?"),
    note="In one layer an output depends on which tokens stand before, and on their shares, not on their order. In the "
         "next layer each of those tokens has itself seen something: the last Y of X Y X Y ... has before it a Y that "
         "saw one X, one that saw two, and so on. That is how order comes in. Equal tokens from the start stay equal "
         "at any depth (up to rounding); from a single one that differs on, there is something to count by.",
)


SPEED = 2


def again(distance, near=0.999):
    """The next distance at which a pair that turns by SPEED radians a token scores nearly its most once more."""
    return next(later for later in range(distance + 1, 10**6) if math.cos(SPEED * (later - distance)) > near)


def score(distance):
    """The score at a distance, as a part of C."""
    return math.cos(SPEED * (distance - 1))


AGAIN = again(1)

next_peak = Number(
    id="10.7", title="One hand is not enough", chapter="10_position", stars=2, minutes=5, after="section 3", core=True,
    tolerance=0,
    statement=f"A rotary head has d_k = 2: one pair, which rotates by {SPEED} radians a token. All tokens are alike, "
              f"and the head looks one back: its score at distance t is C cos({SPEED} (t - 1)), largest at t = 1. What "
              "is the next whole distance at which the score is again above 0.999 C?",
    answer=AGAIN,
    mistakes=(
        (AGAIN - 1, Mistake("counted-from-zero", f"After {AGAIN - 1} more steps the hand is back. But it started at "
                                                 "distance 1.")),
        (4, Mistake("three-steps", f"A turn is 2 π = {2 * math.pi:.3f} radians. At distance 4 the hand has turned by "
                                   f"6, and the score is {score(4):.3f} C.")),
        (5, Mistake("four-steps", f"A turn is 2 π = {2 * math.pi:.3f} radians. After 4 steps the hand has turned by "
                                  f"8, and the score is {score(5):.3f} C.")),
        (12, Mistake("half-turn", "11 steps are 22 radians, nearly 7 π: seven half turns. The hand then points the "
                                  "other way, and the score is nearly -C. It takes twice these steps.")),
        (2 * AGAIN - 1, Mistake("one-radian", "That is where a hand of one radian comes round. This one is twice as "
                                              f"fast: there, too, it is back ({score(2 * AGAIN - 1):.4f} C), but there "
                                              "is a place before.")),
        (4 * AGAIN - 3, Mistake("half-a-radian", "That is where a hand of half a radian comes round. This one is four "
                                                 "times as fast.")),
        (356, Mistake("much-later", "355 steps are 710 radians, nearly 113 turns: better still, but there is one "
                                    "before.")),
    ),
    hints=("The hand is back after whole turns, of 2 π radians each. Which multiples of 2 π are nearly even numbers?",
           "22/7 is nearly π, so 7 turns, 14 π, are nearly what? How many steps is that?"),
    note=f"π is nearly 22/7, so {AGAIN - 1} steps of {SPEED} radians are nearly seven turns: the score is "
         f"{score(AGAIN):.5f} C. The head that looks one back also looks {AGAIN} back. A second pair, of 1 radian "
         "say, tells the two apart.",
)

D_MODEL, HEADS, BASE = 512, 8, 10000


def waves(head, d_model=D_MODEL, h=HEADS, base=BASE):
    """The shortest and the longest wave in a head, in tokens, if d_model columns are turned before they are cut."""
    first, end = head * d_model // h, (head + 1) * d_model // h
    return [2 * math.pi * base ** (column / d_model) for column in (first, end - 2)]


before_the_cut = Choice(
    id="10.8", title="Rotated before the split", chapter="10_position_lab", stars=3, minutes=6, after="section 4",
    several=True,
    statement=f"A layer has d_model = {D_MODEL} and h = {HEADS}. Its pairs are neighbouring columns. By mistake it "
              f"rotates the pairs of all {D_MODEL} columns of x W_Q and x W_K, from the fastest in the first columns "
              "to the slowest in the last, and then splits the heads. Which of these tests would have caught it? Pick "
              "all.",
    options=(
        Option("All positions are shifted by 7; no score changes.",
               "None does: every pair is still rotated by the same angle in queries and keys, so each head still sees "
               "differences of positions alone.", "shift"),
        Option("Rotated queries have the length that they had before.",
               "They have: whichever angles are taken, a rotation keeps lengths.", "length"),
        Option("Two heads with the same columns in W_Q and W_K give the same scores.",
               "They do not: head 1 has the fast pairs and the last head the slow ones."),
        Option("With h = 1 it gives what a right layer with the same pairs gives.",
               "It does: with one head there is nothing to split.", "one-head"),
        Option("With h = 8 it gives what a right layer with the same pairs gives.",
               "All heads differ, the first one in every pair but its first."),
        Option("Token by token, with earlier keys and values kept, it gives what it gives at once.",
               "It does, if each token is rotated by its own position. A wrong angle is kept like a right one.",
               "cache"),
    ),
    hints=("Which angle has a column of head 1, and which has the same column of the last head?",
           "A test catches it if right code passes and this code fails. Which of the six compare two heads, or this "
           "code with another?"),
    note=f"In the last head no turn is shorter than {waves(HEADS - 1)[0]:,.0f} tokens, 2 π 10000^(7/8), so "
         "with scores of ordinary size it hardly tells neighbours apart; in the first none is longer than "
         f"{waves(0)[1]:.1f}. Rotated after the split, every head has both. That an encoding is relative is one "
         "property, and a test of it sees no other.",
)


def two_together(ratio):
    """The weight on the two tokens before, deep in a text, if each step back keeps this ratio of the step before."""
    return (1 - ratio) * (ratio + ratio**2)


BEST = 3**-0.5

two_back = Number(
    id="10.9", title="The most that a slope can do", chapter="10_position_lab", stars=2, minutes=8, after="section 5",
    tolerance=0.005,
    statement="A causal head with ALiBi does not look at contents: its scores are minus its slope times the "
              "distance. Deep in a long text, what is the largest weight that it can give to the two tokens right "
              "before its own *together*, with a slope above 0 of your choice? Give three decimals.",
    answer=two_together(BEST),
    mistakes=(
        (1, Mistake("all", "Its own token is nearer and always gets more than either of them. So together they get "
                           "less than two thirds.")),
        (2 / 3, Mistake("a-third-each", "Then all three would have a third, and those before them nothing. But each "
                                        "step back keeps the same share of the step before.")),
        (1 / 4 + 4 / 27, Mistake("two-slopes", "That is the most for each of them, added. But each takes a slope of "
                                               "its own, and the head has one.")),
        (two_together(1 / 2), Mistake("best-for-one", "That is what both get with the slope that is best for one "
                                                      "back. A smaller slope gives them more together.")),
        (two_together(2 / 3), Mistake("best-for-two-back", "That is what both get with the slope that is best for two "
                                                           "back. A larger slope gives them more together.")),
        (1 / 4, Mistake("one-back", "That is the most for the one right before, alone.")),
        (4 / 27, Mistake("two-back", "That is the most for the one two back, alone.")),
        (BEST, Mistake("ratio-for-weight", "That is the ratio of two neighbours. Which weight do the two get?")),
        (-math.log(BEST), Mistake("slope-for-weight", "That is the slope. Which weight does it give?")),
        (BEST + BEST**2, Mistake("not-divided", "That is r + r^2. It is no weight yet: divide by the sum of the row.")),
    ),
    hints=("Write r for e^(-slope). From the own token backwards the powers are 1, r, r^2, ... What is their sum?",
           "The two get (1 - r)(r + r^2) = r - r^3. For which r is it largest?"),
    note="With r = e^(-slope) the weight is r - r^3, largest at r = 1/√3: 2 / (3 √3). In general the k "
         "tokens before get r - r^(k + 1) together, and the k-th alone at most k^k / (k + 1)^(k + 1): 1/4, 4/27, ... "
         "So by distance alone no single head with ALiBi looks at the token before, or at any one token but its own. "
         "Contents, or several heads together, can do more.",
)

explain_decay = Explanation(
    id="10.10", title="Explain it: does RoPE forget what is far?", chapter="10_position", stars=2, minutes=6,
    after="the chapter",
    statement="Somebody says: \"RoPE makes scores decay with the distance, so a head cannot look far back.\" But a "
              "query that is its key rotated back by 37 positions, q = k R_-37, has its largest score 37 tokens back. "
              "Explain how both can be. Then open the checklist.",
    checklist=("The score of a query at i and a key at j depends on i - j alone: (q R_(i - j)) · k.",
               "What falls is the mean over pairs of cos(angle times distance): the score of a query that equals its "
               "key. It falls by and large, not at every step.",
               "If queries and keys are independent and point everywhere alike, the mean score is 0 at every distance, "
               "and its standard deviation the same: nothing decays.",
               "With q = k R_-37 the score at distance t is the sum over pairs of |pair|^2 cos(angle times (t - 37)): "
               "every cosine is 1 at t = 37, and nowhere else all of them.",
               "Queries and keys come from two matrices, so a head can learn such a rotation: R_-37 is a "
               "matrix, and W_Q may contain it.",
               "How sharp the peak is, is another question. It takes long queries and keys to hold off the neighbours, "
               "and several pairs to hold off the offsets where one of them comes round."),
    hints=(), note="So decay belongs to queries that resemble their keys in many pairs, and not to the rotation. What "
                   "trained heads do is a measurement (Barbero et al. 2024).",
)

QUESTIONS = [two_before, two_words, next_peak, before_the_cut, two_back, explain_decay]
