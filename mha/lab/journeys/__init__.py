"""Chapter 14's world, its models and its board.

`world` has the documents, what can be known of them, and what is proved; `model` a small causal model of mha's layers;
`training` trains one, or many at once from different seeds; `roles` says what each head is for; `board` compares what
came of it, by rules of evidence; `told` says what a file may tell it.
"""
from mha.lab.journeys.board import LEVEL, Entry, Verdict, challenge, leak, play, welch
from mha.lab.journeys.model import Config, Heads, Model, config
from mha.lab.journeys.roles import ASKS, LOOKS, looks, right_in_squares, without_each_head
from mha.lab.journeys.training import Runs, Trained, fit_journeys, learn, right_answers
from mha.lab.journeys.world import (
    FACTS, NAMES, QUESTIONS, TOKENS, TOWNS, VOCABULARY, best_possible, draw, known, squares, words,
)

__all__ = [
    "FACTS", "NAMES", "QUESTIONS", "TOKENS", "TOWNS", "VOCABULARY", "draw", "words", "known", "squares",
    "best_possible",
    "Heads", "Config", "config", "Model",
    "Runs", "Trained", "fit_journeys", "learn", "right_answers",
    "LOOKS", "ASKS", "looks", "right_in_squares", "without_each_head",
    "LEVEL", "Entry", "Verdict", "play", "challenge", "leak", "welch",
]
