"""From what is stored of a trained model (`mha.lab.assets.real_heads`) to right and wrong answers: which head finds
which relation, and whom a pronoun is given to.

Heads are numbered layer by layer, 0 to 71; `name_of(37)` is "3.1", the second head of the fourth layer.
"""
from dataclasses import dataclass

import torch
from torch import Tensor

from mha.lab import measure, sentences
from mha.lab.assets import real_heads

HEADS = 12                                                       # in each of the six layers


def name_of(head: int) -> str:
    """A head's name, layer.head, both counted from 0."""
    return f"{head // HEADS}.{head % HEADS}"


def number_of(name: str) -> int:
    """The number of a head, from its name: "3.1" is 37."""
    layer, head = name.split(".")
    return int(layer) * HEADS + int(head)


@dataclass(frozen=True)
class Found:
    """How well each head finds one relation. A head is right on a word when it gives most, of all other words, to a
    word that stands in the relation.

    right: (72, N), bool, a column for each asking word. untrained: (5, 72, N), the same for models whose layers were
    never trained. learned: (2, 72, N), the same for the models with one learned matrix in each head, and with two
    (`mha.lab.surgery.learned_like`). offset: the rule "always k words away" that is right most often, and its share.
    by_offset: (K, N), on which words each such rule is right that ever is. sentence: (N,), the number of each word's
    sentence.
    """
    right: Tensor
    untrained: Tensor
    learned: Tensor
    offset: tuple[int, float]
    by_offset: Tensor
    sentence: Tensor

    @property
    def unseen(self) -> Tensor:
        """(N,), True for the words of every second sentence: the learned models did not learn on these."""
        return self.sentence % 2 == 1

    @property
    def shares(self) -> Tensor:
        """(72,), the share of words on which each head is right."""
        return self.right.double().mean(-1)

    @property
    def best(self) -> str:
        """The name of the head with the largest share."""
        return name_of(int(self.shares.argmax()))

    @property
    def held_out(self) -> Tensor:
        """(200,), shares of a head that was chosen on the other half of the sentences (`mha.lab.measure.held_out`)."""
        return measure.held_out(self.right, self.sentence)

    @property
    def lead(self) -> tuple[float, float]:
        """Where 95 % of the best head's leads over the best offset lie when the sentences are drawn anew
        (`mha.lab.measure.leads`).
        """
        drawn = measure.leads(self.right, self.by_offset, self.sentence)
        return float(drawn[25]), float(drawn[-26])

    @property
    def missed(self) -> Tensor:
        """(N,), True for the words on which the best offset is wrong."""
        return ~self.by_offset[self.by_offset.double().mean(-1).argmax()]

    @property
    def beyond(self) -> tuple[int, int, int]:
        """Of the words that the best offset misses: on how many the best head is right, and any one head at most, and
        how many there are.
        """
        right = self.right[:, self.missed].sum(-1)
        return int(right[number_of(self.best)]), int(right.max()), int(self.missed.sum())

    @property
    def best_untrained(self) -> Tensor:
        """(5,), the largest share of 72 heads of each model that was never trained."""
        return self.untrained.double().mean(-1).amax(-1)


def relation(kind: str, backwards: bool = False) -> Found:
    """How well each head finds a relation of `mha.lab.sentences.KINDS`, from the dependent word to its head word;
    `backwards` the other way.

    Backwards a word may have several answers (a noun with two adjectives): each counts as right, for heads and for the
    rule of the best offset.
    """
    if kind not in sentences.KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, sentences.KINDS))}, got {kind!r}")
    answers = {}
    for mark in sentences.relations()[1]:
        if mark.kind == kind:
            asks, answer = (mark.head, mark.dependent) if backwards else (mark.dependent, mark.head)
            answers.setdefault((mark.sentence, asks), set()).add(answer)
    return _found(answers)


def _found(answers):
    """(sentence, asking word) -> words that count as right, in those of `sentences.relations`: a Found."""
    starts, (k, share) = _starts(sentences.relations()[0]), measure.best_offset(answers)
    looked_at = real_heads().looked_at

    def right(others):
        return torch.stack([torch.isin(others[..., starts[sentence] + word], torch.tensor(list(wanted)))
                            for (sentence, word), wanted in answers.items()], -1)

    offsets = sorted({answer - word for (_, word), wanted in answers.items() for answer in wanted})
    by_offset = torch.tensor([[word + other in wanted for (_, word), wanted in answers.items()] for other in offsets])
    return Found(right(looked_at.trained), right(looked_at.untrained), right(looked_at.learned), (k, share), by_offset,
                 torch.tensor([sentence for sentence, _ in answers]))


def rare() -> Found:
    """How often each head looks at the rarest word of the sentence, asked by every other word.

    How rare a word is, is read from its number in the model's vocabulary, which is sorted roughly by frequency; a word
    of several pieces counts as its rarest piece.
    """
    texts, _ = sentences.relations()
    starts, numbers, answers = _starts(texts), real_heads().vocabulary, {}
    for sentence, words in enumerate(texts):
        here = numbers[starts[sentence]:starts[sentence] + len(words)]
        answers |= {(sentence, word): {int(here.argmax())} for word in range(len(words)) if word != int(here.argmax())}
    return _found(answers)


def relations() -> dict[str, Found]:
    """Every relation in both directions: "det" from the determiner to its noun, "from det" from the noun to its
    determiner, and so on.
    """
    return {"from " * back + kind: relation(kind, back) for kind in sentences.KINDS for back in (False, True)}


def _starts(texts):
    """Where each sentence begins when all words stand in a row."""
    lengths = torch.tensor([len(words) for words in texts])
    return (lengths.cumsum(0) - lengths).tolist()


def from_it(ending: str) -> Tensor:
    """(72, 2): what "it" gives to "animal" and to "street" in "The animal didn't cross the street because it was too"
    tired, or wide.

    The two sentences are the first of `mha.lab.sentences.twins`.
    """
    number = ("tired", "wide").index(ending)
    item = sentences.twins()[0][0]
    return real_heads().twins[:, number, [item.antecedent, *item.others]]


def mentions(rows: Tensor, items: list) -> Tensor:
    """Which mention gets most from each pronoun: (..., 72, N, longest sentence) -> (..., 72, N) bool, True where it is
    the antecedent.

    Args:
        rows: such as `pronouns.trained`, `twins` or `late` of `mha.lab.assets.real_heads`. items: the `Pronoun`s of
            `mha.lab.sentences`, as many.
    """
    return on_antecedent(rows, items) > torch.stack([rows[..., n, list(item.others)].amax(-1)
                                                     for n, item in enumerate(items)], -1)


def on_antecedent(rows: Tensor, items: list) -> Tensor:
    """The weight that each pronoun gives to its antecedent: (..., 72, N, longest sentence) -> (..., 72, N). rows,
    items: as in `mentions`.
    """
    return torch.stack([rows[..., n, item.antecedent] for n, item in enumerate(items)], -1)


@dataclass(frozen=True)
class Antecedents:
    """Whether the antecedent of each of N pronouns gets more than any other mention.

    right: (72, N), by the heads' weights. untrained: (5, 72, N), by models whose layers were never trained.
    embedding: (N,), by a rule without a head: the mention whose embedding has the largest cosine with the pronoun's,
    before any layer and without positions. bare: (72, N), by each head's weights when it reads the embeddings, with no
    layer before it and no positions.
    """
    right: Tensor
    untrained: Tensor
    embedding: Tensor
    bare: Tensor


def pronouns(again: bool = False) -> Antecedents:
    """The 30 pronouns that grammar decides, or `again` the 30 that were written after the heads had been chosen on the
    first.
    """
    items, rows = sentences.pronouns(again), real_heads().pronouns_again if again else real_heads().pronouns
    return Antecedents(*(mentions(each, items) for each in (rows.trained, rows.untrained, rows.embedding, rows.bare)))


def pronouns_learned() -> Tensor:
    """(2, 72, 30), whether the antecedent gets the most, on the pronouns written `again`, in the models with one
    learned matrix in each head, and with two.
    """
    return mentions(real_heads().pronouns_again.learned, sentences.pronouns(again=True))


def apart(kind: str) -> Tensor:
    """(72, items) bool: whether a head gives the word that stands in the relation more than the next noun, where the
    two are not the same.

    kind: "det", such as "the kitchen table", or "dobj", such as "gave the boy a book" (`mha.lab.sentences.apart`).
    """
    numbers, items = zip(*[(number, item) for number, (found, item) in enumerate(sentences.apart()) if found == kind])
    return mentions(real_heads().apart[:, list(numbers)], list(items))


def twins() -> Tensor:
    """Of the 16 twins: right (72, 16, 2), in the first sentence and in the second."""
    pairs = sentences.twins()
    return mentions(real_heads().twins, [item for pair in pairs for item in pair]).unflatten(-1, (len(pairs), 2))


def late() -> Tensor:
    """(72, 16), True where the pronoun of "The X called the Y because she was late" gives more to whom the stereotype
    suggests.
    """
    return mentions(real_heads().late, sentences.late())
