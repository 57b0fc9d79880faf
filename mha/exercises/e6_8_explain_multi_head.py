"""6.8: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="6.8", title="Explain it: what the heads are for", chapter="06_multi_head", stars=1, minutes=5,
    after="the chapter", core=True,
    statement="In an interview: \"Explain multi-head attention. What do several heads give that one wide head does "
              "not, and what do they cost?\" Answer in a minute, then open the checklist.",
    checklist=("Each head has its own projections and its own softmax: its own recipe for each token.",
               "One softmax gives one set of weights, so one head carries everything in the same mixture.",
               "The outputs stand side by side and W_O mixes them: a sum over heads, each with its own block of "
               "rows.",
               "With d_k = d_model / h, parameters and multiplications of the projections do not depend on h.",
               "More heads are narrower: lower rank of the scores, and more tables of scores.",
               "In code: project once, cut the last axis, move the head axis in front, one product for all heads."),
    hints=(), note="A good answer names a cost as well as a gain.",
)
