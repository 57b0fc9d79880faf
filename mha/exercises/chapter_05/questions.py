"""The questions of chapter 5 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

N, W = 10, 3

window = Number(
    id="5.5", title="Count what a window leaves", chapter="05_masks_lab", stars=1, minutes=5, after="section 1",
    statement=f"A causal mask with a window: each of {N} tokens may look at itself and at the {W - 1} tokens before "
              "it, as far as there are any. How many pairs (query, key) does the mask allow?",
    answer=sum(min(i, W) for i in range(1, N + 1)), tolerance=0,
    mistakes=(
        (N * W, Mistake("start-forgotten", "The first tokens have fewer tokens before them.")),
        (N * (N + 1) // 2, Mistake("no-window", "That is the causal mask without a window.")),
        (N * N, Mistake("no-mask", "That is all pairs.")),
        (sum(min(i, W - 1) for i in range(1, N + 1)), Mistake("itself-forgotten",
                                                              f"Each token may look at itself and {W - 1} others: {W} "
                                                              "in all.")),
        (sum(min(i, W + 1) for i in range(1, N + 1)), Mistake("one-too-many",
                                                              f"That is a window of {W + 1}. The token itself is one "
                                                              f"of the {W}.")),
        (N * (2 * W - 1) - W * (W - 1), Mistake("both-sides",
                                                "That is a window to both sides. A causal one looks back only.")),
        (sum(min(i, W - 1) for i in range(N)), Mistake("itself-forgotten", "The tokens themselves are missing.")),
    ),
    hints=("Write down the first three rows of the mask. From which row on are they full?",),
    note="1 + 2 + 8 times 3. For long texts it is about n times the window: the price grows with n, not with its "
         "square, if the other scores are never computed.",
)

true_means = Choice(
    id="5.6", title="True means ...", chapter="05_masks_lab", stars=1, minutes=5, after="section 6", several=True,
    statement="You have a boolean mask in which True says \"may attend\". To which of these can you pass it as it is? "
              "Pick all.",
    options=(
        Option("`F.scaled_dot_product_attention(q, k, v, attn_mask=mask)`", "There True takes part."),
        Option("`nn.MultiheadAttention(...)(q, k, v, attn_mask=mask)`",
               "There True means: not allowed to attend. Pass ~mask.", "mha-attn_mask"),
        Option("`nn.MultiheadAttention(...)(q, k, v, key_padding_mask=mask)`",
               "There True means: ignore this key. Pass ~mask.", "mha-key_padding_mask"),
        Option("`mha.attention(q, k, v, mask=mask)`", "In this book True means may attend, everywhere."),
        Option("`scores.masked_fill(mask, -torch.inf)`",
               "It fills where the mask is True, so it would hide what may be seen. Pass ~mask.", "masked_fill"),
    ),
    hints=("masked_fill fills where True stands.", "torch's two attention interfaces disagree."),
    note="Two interfaces of one library, two meanings. A test that shows the mask once, on three tokens, costs a "
         "minute; section 3 has an error that lived for two years.",
)

M = 4

mask_too_late = Number(
    id="5.7", title="A mask that comes too late", chapter="05_masks_lab", stars=1, minutes=5, after="section 2",
    predicted=True,
    statement=f"All scores of {M} tokens are equal. Somebody takes the softmax first, sets the future to 0 afterwards, "
              "and does nothing more. What does the first row of weights sum to? Guess.",
    answer=1 / M,
    mistakes=(
        (1, Mistake("as-if-before",
                    "It would be 1 with the mask before the softmax. Afterwards nothing makes up for what was taken "
                    "away.")),
        (0, Mistake("nothing-left", "The first token keeps its weight on itself.")),
        (1 / 2, Mistake("half", "Before the mask, each of the four keys has an equal share.")),
        (3 / 4, Mistake("what-was-hidden", "That is what was taken away.")),
    ),
    hints=("What is each weight before the mask?",),
    note="One key of four stays. And which share that is depends on the scores of the other three: the row has seen "
         "the future. Only the last row is right.",
)

explain_masks = Explanation(
    id="5.8", title="Explain it: what a mask does", chapter="05_masks", stars=1, minutes=5, after="the chapter",
    statement="In an interview: \"How does a decoder train on a whole sentence at once without seeing the future, and "
              "how would you test that it does not?\" Answer in a minute, then open the checklist.",
    checklist=("A mask hides the later keys from each query.",
               "It sets their scores to minus infinity, before the softmax.",
               "Afterwards would be too late: the sum has seen them, and the rows no longer sum to 1.",
               "So one pass over the sentence gives the prediction at every position.",
               "The test: change a later token, no earlier output may move; or take the gradient.",
               "What True means differs between interfaces; a row with nothing to see needs a decision."),
    hints=(), note="A test is worth more than a look at the code.",
)

QUESTIONS = [window, true_means, mask_too_late, explain_masks]
