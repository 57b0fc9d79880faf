"""1.9: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="1.9", title="Explain it: a dictionary that mixes", chapter="01_soft_lookup", stars=1, minutes=5,
    after="the chapter", core=True,
    statement="A friend knows Python's dictionaries. In a minute: what does attention do in their place, and what is "
              "that good for? Write it or say it aloud, then open the checklist.",
    checklist=("A query is compared with every key, by a dot product.",
               "A softmax turns the scores into weights that sum to 1.",
               "The output is the mean of the values with these weights.",
               "It cannot fail, and with finite scores it never returns one value exactly.",
               "The temperature leads from choosing the best key to the plain mean.",
               "The weights change smoothly, so an error can say how query and keys should move."),
    hints=(), note="If you missed one, read its section again tomorrow and explain it once more.",
)
