"""2.5: by what to divide."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

D_K, Q, K = 16, 3, 2

EXERCISE = Number(
    id="2.5", title="Queries that are too long", chapter="02_one_head", stars=2, minutes=5, after="section 2",
    core=True,
    statement=f"In a head with d_k = {D_K} the coordinates of queries have mean 0 and standard deviation {Q}, those of "
              f"keys mean 0 and standard deviation {K}, all independent. By what must the dot products be divided to "
              "have standard deviation 1?",
    answer=D_K**0.5 * Q * K,
    mistakes=(
        (D_K**0.5, Mistake("unit-variance",
                           "The root of d_k is right when every coordinate has standard deviation 1. Here one product "
                           f"of coordinates has standard deviation {Q * K}.")),
        (D_K, Mistake("no-root", "That is d_k itself, and the coordinates here are not of standard deviation 1.")),
        (D_K * Q * K, Mistake("no-root",
                              "The variances of the 16 products add up, not their standard deviations: 16 of them "
                              "give the root of 16.")),
        (Q * K, Mistake("one-product",
                        "That is the standard deviation of one product. A score is the sum of 16 of them.")),
        (Q**2 * K**2, Mistake("one-variance",
                              "That is the variance of one product. A score is the sum of 16 of them, and the "
                              "question is about the standard deviation.")),
        (D_K**0.5 * Q, Mistake("keys-forgotten", "That leaves out the standard deviation of the keys.")),
        (D_K**0.5 * K, Mistake("queries-forgotten", "That leaves out the standard deviation of the queries.")),
        (D_K * Q**2 * K**2, Mistake("variance", "That is the variance of a score. Divide by its root.")),
        (D_K**0.5 * (Q + K), Mistake("sum-for-product",
                                     "The standard deviations of independent factors of mean 0 multiply; they do not "
                                     "add.")),
    ),
    tolerance=0, hints=("What is the variance of one product q_1 k_1, for independent factors of mean 0?",
                        "The variances of the products add up. How many are there?"),
    note="One product has variance 9 times 4, sixteen of them 576, and its root is 24. The root of d_k is the special "
         "case in which queries and keys have unit spread, as the derivation assumes. Training keeps nothing so.",
)
