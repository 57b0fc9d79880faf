"""3.8: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="3.8", title="Explain it: why two matrices", chapter="03_query_and_key", stars=1, minutes=5, after="the chapter",
    core=True,
    statement="In an interview: \"Query and key are both made from the same tokens. Why not with the same matrix?\" "
              "Answer in a minute, then open the checklist.",
    checklist=("With one matrix the scores are symmetric: i asks j as much as j asks i.",
               "An example that needs direction, such as a cycle in which each beats the next.",
               "With one matrix the score of two tokens is at most the mean of their scores with themselves: tokens "
               "like themselves.",
               "A limit that was proved, such as the loss on a cycle, not only a training that failed.",
               "Only the product of W_Q and W_K transposed counts; it has rank at most d_k.",
               "When symmetric scores are enough: the softmax is taken by rows, so even symmetric scores give weights "
               "that are not symmetric."),
    hints=(), note="The last line is easily missed.",
)
