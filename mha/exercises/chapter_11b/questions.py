"""The questions of chapter 11b that need no code."""
import math

from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

HERE = "11b_heads_since_2024"
LAB = HERE + "_lab"
KEYS = 8

left_by_a_sink = Number(
    id="11b.2", title="What the sink leaves", chapter=HERE, stars=1, minutes=3, after="section 1", core=True,
    statement=f"A query scores each of its {KEYS} keys 0. The head's sink logit is ln {KEYS}, the natural logarithm. "
              f"What do the {KEYS} weights sum to?",
    answer=0.5,
    mistakes=(
        (1, Mistake("sink-forgotten", "That would be a softmax over the keys alone.")),
        (KEYS / (KEYS + 1), Mistake("sink-of-zero", "That is what a sink logit of 0 leaves: it counts like one key.")),
        (KEYS / (KEYS + math.log(KEYS)), Mistake("not-exponentiated",
                                                  "The sink logit is a score: its power of e enters the sum.")),
        (1 / (2 * KEYS), Mistake("one-weight", f"That is one weight. There are {KEYS}.")),
        (2, Mistake("turned-over", "Weights sum to 1 at most.")),
    ),
    hints=("Write the denominator: eight powers of e for the keys, and one for the sink.",
           f"e to the power ln {KEYS} is {KEYS}."),
    note="The sink weighs as much as all eight keys together, so half is left: sigmoid(ln Z - s) with ln Z = s.",
)

LAYERS, EVERY, WINDOW, N = 48, 6, 1024, 65536
SHARE = 1 / EVERY + (1 - 1 / EVERY) * WINDOW / N

smaller_by_windows = Number(
    id="11b.3", title="Windows beside full layers", chapter=LAB, stars=2, minutes=5, after="section 3",
    statement=f"A model has {LAYERS} layers. Every sixth sees all earlier tokens; each of the others keeps the last "
              f"{WINDOW} only. The text has {N} tokens. How many times smaller is the KV cache than it would be if "
              "every layer were full?",
    answer=1 / SHARE,
    mistakes=(
        (EVERY, Mistake("windows-forgotten", "That is without what the windowed layers keep. It is little, but not "
                                             "nothing.")),
        (SHARE, Mistake("turned-over", "That is the share that is left. How many times smaller is it?")),
        (N / WINDOW, Mistake("all-windows", "That would hold if every layer had a window.")),
        (1 / (1 / (EVERY - 1) + (1 - 1 / (EVERY - 1)) * WINDOW / N),
         Mistake("one-in-five", "Every sixth layer is full: five windows to one full layer.")),
        (1 / (1 - 1 / EVERY + WINDOW / N / EVERY), Mistake("exchanged", "That is with five full layers to one "
                                                                       "windowed.")),
    ),
    hints=("Count tokens kept, layer by layer, for six layers in a row.",
           f"One full layer keeps {N}, five windows keep {WINDOW} each; six full ones would keep six times {N}."),
    note="The longer the text, the nearer it comes to 6, and no further: what is left is the full layers.",
)

keeps_less = Choice(
    id="11b.4", title="Which of them makes the cache smaller?", chapter=HERE, stars=2, minutes=4, after="section 7",
    core=True, several=True,
    statement="Compare each change with a layer of full attention that has as many heads, of the same widths. Which "
              "of them cache fewer numbers of a long text?",
    options=(
        Option("A gate on the heads' outputs.",
               "The gate is computed from the new token alone, and used once. Keys and values stay as they were.",
               "gate"),
        Option("A window of 128 tokens.", "What has left the window is never read again, so it need not be kept."),
        Option("The 2048 best tokens, chosen anew for each query.",
               "Another query may choose other tokens, so all must stay, and the keys of the indexer come on top.",
               "selection"),
        Option("A linear layer with the delta rule.",
               "It keeps one state of fixed size, however long the text is."),
        Option("QK-norm.", "A normalised key has as many numbers as before.", "norm"),
        Option("Differential attention.",
               "Two maps need two sets of keys, of half the width or of the full one: there is no less to keep.",
               "differential"),
    ),
    hints=("Ask for each: what does the next query need of a token that was read long ago?",),
    note="What no later query can need may go: that holds of a window and of a state. A selection only saves reading.",
)

why_silent = Explanation(
    id="11b.5", title="Explain it: why let a head be silent?", chapter=LAB, stars=2, minutes=5, after="the chapter",
    statement="In an interview: \"Some new models have a sink logit in each head, others a sigmoid gate. What is that "
              "for, and are the two the same?\" Answer in a minute, then open the checklist.",
    checklist=("The weights of a softmax sum to 1, so a head that finds nothing must still attend to something.",
               "Many trained heads then put the weight on a token that does little harm, often the first: a sink.",
               "A sink logit is one more score in the softmax, without a value, so that rows may sum to less than 1.",
               "That multiplies the head's output by sigmoid(ln Z - s): a gate that is opened by the scores.",
               "A learned gate is sigmoid(x W) for each coordinate, opened by the token, whatever the scores are.",
               "Who ships them: gpt-oss and DeepSeek-V4 the sink logit, Qwen3-Next the gate.",
               "What we have not found: a table that compares the two at equal cost."),
    hints=(), note="The two can be had together; nothing in the formulas forbids it.",
)

QUESTIONS = [left_by_a_sink, smaller_by_windows, keeps_less, why_silent]
