"""A world of journeys: facts such as "Ann Oslo Rome", then names, and for each name the two towns of its journey.

A document is 4 facts of three tokens, a name, the town it leaves and the town it reaches, then 8 questions of one token
each, names of the document. At a question the model fills two boxes, "from" and "to", each with one of 12 towns. All
names of a document differ, and so do its 8 towns; a name may be asked more than once. The answers are never told to the
model, so earlier questions say nothing about later ones.
"""
import torch
from torch import Tensor

NAMES = ("Ann", "Bob", "Cem", "Dora", "Eli", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kim", "Leo")
TOWNS = ("Oslo", "Rome", "Lima", "Cairo", "Paris", "Quito", "Delhi", "Accra", "Minsk", "Tunis", "Seoul", "Perth")
FACTS, QUESTIONS = 4, 8
VOCABULARY, TOKENS = len(NAMES) + len(TOWNS), 3 * FACTS + QUESTIONS


def draw(generator: torch.Generator, batch: int, *, facts=FACTS, questions=QUESTIONS) -> tuple[Tensor, Tensor]:
    """Fresh documents: tokens (batch, 3 facts + questions), answers (batch, questions, 2), towns as 0 to 11.

    In the tokens, names are 0 to 11 and towns 12 to 23.
    """
    names = torch.rand(batch, len(NAMES), generator=generator).argsort(-1)[:, :facts]
    towns = torch.rand(batch, len(TOWNS), generator=generator).argsort(-1)[:, :2 * facts].unflatten(-1, (facts, 2))
    asked = torch.randint(facts, (batch, questions), generator=generator)
    return document(names, towns, asked)


def document(names: Tensor, towns: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """Tokens and answers of names (..., facts), their towns (..., facts, 2), and which facts are asked (..., Q)."""
    told = torch.cat([names[..., None], towns + len(NAMES)], -1).flatten(-2)  # (..., 3 facts)
    tokens = torch.cat([told, names.gather(-1, asked)], -1)
    return tokens, towns.gather(-2, asked[..., None].expand(*asked.shape, 2))


def words(tokens) -> list[str]:
    """The words of one document."""
    return [(NAMES + TOWNS)[int(token)] for token in tokens]


def known(facts=FACTS) -> dict[str, float]:
    """How often a box is right if no more is known than this; exact, since all documents are equally likely.

    * "nothing": each of the 12 towns is as likely as any other.
    * "the towns": those of the document, 2 for each fact. Given the sets of its names and towns, all ways to join them
      are equally likely.
    * "the box": which of these towns stand in this box, but not whose they are.
    * "the fact": whose towns they are, but not which is "from" and which is "to".
    """
    return {"nothing": 1 / len(TOWNS), "the towns": 1 / (2 * facts), "the box": 1 / facts, "the fact": 1 / 2,
            "all": 1.0}


def best_possible(layers: int, heads: int, positions: str) -> float:
    """The largest share of right answers that is not ruled out: proved for one layer, and 1 for all others.

    **One layer, no positions: 1/8.** A question's output is a function of the multiset of the tokens it sees. Given
    those, all ways to join names and towns are equally likely, so each of the 8 towns is right equally often, whatever
    the number of heads.

    **One layer, one head: 3/4.** The model normalises by the root mean square, with no bias, so the logits at a
    question x are a positive factor times (x + N / Z) U, where N = sum_j e^{s_j} x_j W_V W_O, of normalised x_j, and
    Z = sum_j e^{s_j} > 0. The winner of the logits is the winner of (Z x + N) U, and that is a sum over tokens,

        A(y) = sum_j e^{s_j} [x U + x_j W_V W_O U]_y ,

    in which each token sees itself, its position, and the question. Let a be asked and b be another name, and let p and
    q be the towns of the two in one box. Take four documents (`squares`): as it is; a and b exchanged; p and q
    exchanged; both. In all of them D = A(p) - A(q) = n(names) + m(towns). If all four were answered right, D would be

        n + m > 0,    n' + m < 0,    n + m' < 0,    n' + m' > 0 ,

    but the first and the last have the same sum as the other two. So at most three of the four are right. All four are
    equally likely, and every document lies in such a square.

    With two heads, each sum has a Z of its own; multiplying by both leaves a sum over pairs of tokens, and the proof
    fails. It says nothing about an MLP, or about a LayerNorm with a bias.
    """
    if layers == 1 and positions == "none":
        return known()["the towns"]
    return 3 / 4 if layers == heads == 1 else 1.0


def squares(generator: torch.Generator, batch: int, *, facts=FACTS, box=0) -> tuple[Tensor, Tensor]:
    """Four documents each: as drawn, names a and b exchanged, their towns in one box exchanged, both.

    Returns:
        tokens (batch, 4, 3 facts + 1), with a asked last; the answers in that box (batch, 4).
    """
    names = torch.rand(batch, len(NAMES), generator=generator).argsort(-1)[:, :facts]
    towns = torch.rand(batch, len(TOWNS), generator=generator).argsort(-1)[:, :2 * facts].unflatten(-1, (facts, 2))
    swapped = [1, 0, *range(2, facts)]
    other_towns = towns.clone()
    other_towns[..., box] = towns[:, swapped, box]
    first, second = torch.zeros(batch, 1, dtype=torch.long), torch.ones(batch, 1, dtype=torch.long)
    four = [document(some, places, asked) for places in (towns, other_towns)
            for some, asked in ((names, first), (names[:, swapped], second))]
    tokens, answers = (torch.stack(part, 1) for part in zip(*four))
    return tokens, answers[:, :, 0, box]
