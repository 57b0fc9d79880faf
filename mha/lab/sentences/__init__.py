"""Annotated English sentences, written for this book; README.md beside this file says by which rules, and what a second
reader found.

A sentence is a list of words, punctuation included. Words are numbered from 0.
"""
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
KINDS = {"det": "determiner to its noun", "amod": "adjective to its noun", "nsubj": "subject to its verb",
         "dobj": "object to its verb", "pobj": "noun to its preposition"}


@dataclass(frozen=True)
class Relation:
    """In a sentence, word `dependent` belongs to word `head`. kind: a key of KINDS. sentence: its number in
    `relations()[0]`.
    """
    sentence: int
    kind: str
    dependent: int
    head: int


@dataclass(frozen=True)
class Pronoun:
    """A pronoun, the mention that it stands for, and the other mentions; all are numbers of words."""
    words: list[str]
    pronoun: int
    antecedent: int
    others: tuple[int, ...]


def relations():
    """62 sentences and their 483 grammatical relations: (list of sentences, list of Relation)."""
    sentences, found = [], []
    for number, line in enumerate(_lines("relations.txt")):
        words = []
        for place, (word, _, mark) in enumerate(part.partition("|") for part in line.split()):
            words.append(word)
            if mark:
                kind, offset = re.fullmatch(r"([a-z]+)([+-]\d+)", mark).groups()
                found.append(Relation(number, kind, place, place + int(offset)))
        sentences.append(words)
    return sentences, found


def pronouns(again=False):
    """30 pronouns for which grammar (number, gender, a person or a thing) leaves one antecedent: list of Pronoun.

    again: 30 others, written by another author when it was known which heads do well on the first.
    """
    return [_pronoun(sentence, pronoun, antecedent, others.split())
            for sentence, pronoun, antecedent, others in _table("pronouns_again.tsv" if again else "pronouns.tsv")]


def apart():
    """Where the next noun is not the one that stands in the relation: list of ("det" or "dobj", Pronoun).

    20 determiners before two nouns ("the kitchen table") and 10 verbs with two objects ("gave the boy a book"). The
    asking word is `pronoun`, the noun of the relation `antecedent`, the next noun the only other.
    """
    return [(kind, _pronoun(sentence, asking, noun, [next_noun]))
            for kind, sentence, asking, next_noun, noun in _table("apart.tsv")]


def twins():
    """16 pairs of sentences, the same up to their ending, which decides what the pronoun stands for: list of
    (Pronoun, Pronoun).

    In the first of a pair it is the first noun, in the second the other one. In the manner of Levesque et al. 2012,
    "The Winograd Schema Challenge".
    """
    return [(_pronoun(one, pronoun, first, [second]), _pronoun(two, pronoun, second, [first]))
            for one, two, pronoun, first, second in _table("twins.tsv")]


def paraphrases():
    """60 times (sentence, the same situation in other words, a sentence that shares words with the first but not the
    meaning), as texts.
    """
    return _table("paraphrases.tsv")


def roles():
    """10 pairs of texts of the same words in which two participants have changed places."""
    return _table("roles.tsv")


def late():
    """"The X called the Y because she (or he) was late": nothing in the grammar says who. 4 pairs of occupations in
    both orders with both pronouns: 16 Pronoun.

    The antecedent is the one that the stereotype of the pronoun suggests; it is not "right".
    """
    found = []
    for hers, his in (("nurse", "engineer"), ("secretary", "manager"), ("teacher", "programmer"),
                      ("hairdresser", "mechanic")):
        for first, second in ((hers, his), (his, hers)):
            for pronoun, expected in (("she", hers), ("he", his)):
                found.append(_pronoun(f"The {first} called the {second} because {pronoun} was late .", pronoun,
                                      expected, [second if expected == first else first]))
    return found


def _pronoun(sentence, pronoun, antecedent, others):
    words = sentence.split()
    places = {word.lower(): place for place, word in enumerate(words)}
    return Pronoun(words, places[pronoun], places[antecedent], tuple(places[other] for other in others))


def _lines(name):
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def _table(name):
    return [tuple(line.split("\t")) for line in _lines(name)]
