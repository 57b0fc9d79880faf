"""2.9: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="2.9", title="Explain it: why the root of d_k", chapter="02_one_head", stars=1, minutes=5, after="the chapter",
    core=True,
    statement="In an interview: \"Why does attention divide by the square root of d_k, and what happens if it does "
              "not?\" Answer in a minute, then open the checklist.",
    checklist=("A score is a sum of d_k products, so its variance grows with d_k and its spread with the root.",
               "That holds for independent coordinates of mean 0 and variance 1, which is assumed.",
               "A wide spread makes the softmax decided: most weight on few keys.",
               "The gradient of a decided row vanishes for almost every key.",
               "It is no law: the factor could stand in W_Q; what helps is that the head starts soft.",
               "How the effect was measured, not only the story of it."),
    hints=(), note="Many answers stop at the second line. The fourth and the fifth show that you tested it.",
)
