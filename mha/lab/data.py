"""Small worlds that the chapters share: a library, a circle of three, names that point to names."""
import itertools

import torch
from torch import Tensor

from mha.attention import attention

BOOKS = {  # title: key, value
    "Machine Learning Fundamentals": ([1.0, 0.0], [2.6, 0.6]),
    "Deep Learning Basics": ([1.3, -0.8], [1.2, -2.4]),
    "Cooking Recipes": ([-0.8, 1.4], [-2.5, 1.4]),
    "Garden Birds": ([-1.4, -0.9], [-2.0, -1.8]),
    "Encyclopedia of Everything": ([3.0, 3.0], [0.4, 2.8]),
}


def library() -> tuple[list[str], Tensor, Tensor]:
    """Five books in the plane.

    Returns:
        titles: a list of 5.
        keys: (5, 2), what each title promises.
        values: (5, 2), what is inside.
    """
    keys, values = zip(*BOOKS.values())
    return list(BOOKS), torch.tensor(keys), torch.tensor(values)


def follow_gradient(query: Tensor, keys: Tensor, values: Tensor, wanted: Tensor, steps=50, temperature=1.0,
                    rate=0.1) -> tuple[Tensor, Tensor]:
    """Move a query against the gradient of the squared error of what it looks up.

    Args:
        query: (d_k,), where it starts.
        keys: (m, d_k).
        values: (m, d_v).
        wanted: (d_v,), what the lookup should return.
        steps: number of moves.
        temperature: of the softmax.
        rate: length of a move per unit of gradient.
    Returns:
        path: (steps + 1, d_k), the queries visited.
        errors: (steps + 1,), their squared errors.
    """
    path, errors = [query], []
    for step in range(steps + 1):
        asked = path[-1].clone().requires_grad_()
        error = (attention(asked[None], keys, values, scale=1 / temperature)[0][0] - wanted).square().sum()
        errors.append(error.detach())
        if step < steps:
            path.append(asked.detach() - rate * torch.autograd.grad(error, asked)[0])
    return torch.stack(path), torch.stack(errors)


def rock_paper_scissors() -> tuple[list[str], Tensor]:
    """Three tokens in the plane, a third of a turn apart. Token i + 1 beats token i, and the first beats the last.

    Returns:
        names: a list of 3.
        x: (3, 2) in float64, each of length 1.
    """
    angle = torch.tensor([90.0, 210.0, 330.0], dtype=torch.float64).deg2rad()
    return ["rock", "paper", "scissors"], torch.stack([angle.cos(), angle.sin()], -1)


def turn(degrees: float) -> Tensor:
    """The matrix R (2, 2) in float64 that turns a row vector x by so many degrees, against the clock: x @ R."""
    angle = torch.tensor(float(degrees), dtype=torch.float64).deg2rad()
    return torch.stack([torch.stack([angle.cos(), angle.sin()]), torch.stack([-angle.sin(), angle.cos()])])


POINTERS = ("circle of 3", "circle of 7", "line of 7", "circle of 3 under a causal mask", "random pointers",
            "pointers to earlier tokens")


def pointers(task: str, runs: int, generator: torch.Generator):
    """Tasks in which each token should attend to one other token, for `runs` independent runs.

    A name is a random vector of 16 numbers, drawn anew for each run.

    Args:
        task: one of `POINTERS`.
            "circle of 3" and "circle of 7": each name points to the next, and the last to the first.
            "line of 7": the same without the last step.
            "circle of 3 under a causal mask": the three names in each of their six orders, a batch of 6; the last token
            points to the next name of the circle, and so sees both others.
            "random pointers": 8 random names. Each token holds its own name and that of another token, to which it
            should attend.
            "pointers to earlier tokens": the same, but the named token stands before it, and none after it may be seen.
        runs: independent runs, R.
        generator: of all random numbers.
    Returns:
        draw: function of a batch size B -> x (R, B, n, d_model), target (R, B, n), and asked (up to n,), the numbers of
            the tokens that have a target.
        d_model: 16 or 32.
        no_future: whether the task comes with a causal mask.
    Raises:
        ValueError: an unknown task.
    """
    if task not in POINTERS:
        raise ValueError(f"task must be one of {', '.join(map(repr, POINTERS))}, got {task!r}")
    names = torch.randn(runs, 16, 16, generator=generator)
    if task == "circle of 3 under a causal mask":
        orders = torch.tensor(list(itertools.permutations(range(3))))                       # (6, 3)
        place_of_next = orders.argsort(-1).take_along_dim((orders + 1) % 3, -1)
        return lambda batch: (names[:, orders], place_of_next.expand(runs, -1, -1), torch.tensor([2])), 16, True
    kind, _, n = task.partition(" of ")
    if n:
        asked = torch.arange(int(n) if kind == "circle" else int(n) - 1)
        target = (torch.arange(int(n)) + 1) % int(n)
        # The names are the sentence, the same one in every batch: a batch of 1 is all there is.
        return lambda batch: (names[:, None, :int(n)], target.expand(runs, 1, -1), asked), 16, False

    earlier, n = kind != "random pointers", 8

    def draw(batch):
        drawn = torch.rand(runs, batch, 16, generator=generator).argsort(-1)[..., :n]
        own = names.take_along_dim(drawn.flatten(1)[..., None], 1).unflatten(1, (batch, n))  # (R, B, n, 16)
        step = torch.rand(runs, batch, n, generator=generator)
        target = (step * torch.arange(n)).long() if earlier else (torch.arange(n) + 1 + (step * (n - 1)).long()) % n
        return torch.cat([own, own.take_along_dim(target[..., None], 2)], -1), target, torch.arange(int(earlier), n)

    return draw, 32, earlier


class KeyTask:
    """Bring back the contents of the tokens to which a token is related.

    A token is [name, content]. A name is a random vector, fixed for each run; a content is a few standard normal
    numbers, fresh in each sentence. There are r hidden relations, which are random permutations of the names. For each
    of them the sentence holds one token whose name is the relation's image of the asking token's name; the other tokens
    are distractors. Wanted are the r contents, so that a model that knows nothing gets an error of 1.

    Args:
        runs: independent runs, each with its own names and relations.
        r: number of relations.
        names: how many names there are.
        d_name: width of a name.
        n: tokens in a sentence.
        content: numbers in a content.
        seed: of everything that is drawn.
    Raises:
        ValueError: more related tokens than the sentence has room for, or more tokens than names.
    """

    def __init__(self, runs, r, *, names=16, d_name=16, n=8, content=4, seed=0):
        if r > n:
            raise ValueError(f"{r} related tokens do not fit into a sentence of n={n}")
        if n > names:
            raise ValueError(f"n={n} tokens need different names, and there are {names}")
        self.n, self.r, self.content, self.d_model = n, r, content, d_name + content
        self.generator = torch.Generator().manual_seed(seed)
        vectors = torch.randn(runs, names, d_name, generator=self.generator)
        self.vectors = vectors * (d_name**0.5 / vectors.norm(dim=-1, keepdim=True))
        self.relations = torch.stack([self._relations(names) for _ in range(runs)])  # (R, r, names)

    def _relations(self, names: int) -> Tensor:
        """r permutations of the names that agree with each other, and with the identity, nowhere: (r, names)."""
        found = [torch.arange(names)]
        while len(found) <= self.r:
            order = torch.randperm(names, generator=self.generator)
            if not any((order == other).any() for other in found):
                found.append(order)
        return torch.stack(found[1:])

    def draw(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        """A batch of B fresh sentences for each run.

        Returns:
            asking: (R, B, d_model), the tokens that ask.
            x: (R, B, n, d_model), their sentences; the related tokens stand first, in the order of the relations.
            contents: (R, B, r, content), what is wanted.
        """
        runs, names = self.vectors.shape[:2]
        asking = torch.randint(names, (runs, batch), generator=self.generator)
        related = self.relations.gather(2, asking[:, None].expand(-1, self.r, -1)).mT  # (R, B, r)
        lots = torch.rand(runs, batch, names, generator=self.generator).scatter(2, related, -1.0)
        lowest = lots.topk(self.n, largest=False).indices
        chosen = torch.cat([related, lowest[..., self.r:]], -1)  # (R, B, n), the related first
        contents = torch.randn(runs, batch, self.n + 1, self.content, generator=self.generator)
        everyone = torch.cat([chosen, asking[..., None]], -1)
        named = self.vectors[torch.arange(runs)[:, None, None], everyone]
        tokens = torch.cat([named, contents], -1)
        return tokens[:, :, -1], tokens[:, :, :-1], contents[:, :, :self.r]


class SliceTask(KeyTask):
    """`KeyTask`, with another part of the content wanted from each related token.

    A content has r slices, and of the token of relation k slice k is wanted. So a value that serves all r relations has
    to hold the whole content.

    Args:
        wanted: numbers in a slice.
        runs, r and the others: as in KeyTask.
    """

    def __init__(self, runs, r, *, wanted=4, **others):
        super().__init__(runs, r, content=r * wanted, **others)

    def draw(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        """As in KeyTask, but the third are the slices that are wanted: (R, B, r, wanted)."""
        asking, x, contents = super().draw(batch)
        slices = contents.unflatten(-1, (self.r, -1))  # (R, B, r, r, wanted): token, slice, number
        return asking, x, slices.diagonal(dim1=2, dim2=3).mT


class FieldTask:
    """Bring back the contents of the tokens that share a name with the asking token, each in another field.

    A token is [r names, content], one name for each field; names and contents are those of KeyTask. The first r tokens
    of a sentence are the related ones: token k has the asking token's name in field k. No other name of the sentence
    is the asking token's. Wanted are the r contents. So a key that serves all r relations has to hold all r names.

    Args:
        runs: independent runs, each with its own names.
        r: number of fields, and of related tokens.
        names: how many names there are in a field.
        d_name: width of a name.
        n, content, seed: as in KeyTask.
    Raises:
        ValueError: more related tokens than the sentence has room for, or fewer than two names in a field.
    """

    def __init__(self, runs, r, *, names=8, d_name=8, n=8, content=4, seed=0):
        if r > n:
            raise ValueError(f"{r} related tokens do not fit into a sentence of n={n}")
        if names < 2:
            raise ValueError(f"names must be at least 2, for other tokens need other names; got {names}")
        self.n, self.r, self.content, self.d_model = n, r, content, r * d_name + content
        self.generator = torch.Generator().manual_seed(seed)
        vectors = torch.randn(runs, r, names, d_name, generator=self.generator)
        self.vectors = vectors * (d_name**0.5 / vectors.norm(dim=-1, keepdim=True))

    def draw(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        """As in KeyTask."""
        runs, r, names = self.vectors.shape[:3]
        asking = torch.randint(names, (runs, batch, 1, r), generator=self.generator)  # the numbers of its names
        others = torch.randint(names - 1, (runs, batch, self.n, r), generator=self.generator)
        others = others + (others >= asking)  # any name of the field but the asking token's
        related = torch.eye(self.n, r, dtype=torch.bool)
        everyone = torch.cat([torch.where(related, asking, others), asking], 2)  # (R, B, n + 1, r)
        run, field = torch.arange(runs)[:, None, None, None], torch.arange(r)
        named = self.vectors[run, field, everyone].flatten(3)  # (R, B, n + 1, r d_name)
        contents = torch.randn(runs, batch, self.n + 1, self.content, generator=self.generator)
        tokens = torch.cat([named, contents], -1)
        return tokens[:, :, -1], tokens[:, :, :-1], contents[:, :, :r]


def uniform(i, seed):
    """The i-th numbers, evenly from 0 to 1, of the generator mulberry32 (Ettinger 2017). common.js makes the same."""
    def times(a, b):
        return a * b & 0xFFFFFFFF

    t = times(i + 1 + seed, 0x6D2B79F5)
    t = times(t ^ t >> 15, t | 1)
    t = t ^ (t + times(t ^ t >> 7, t | 61) & 0xFFFFFFFF)
    return (t ^ t >> 14).double() / 2**32


def normal(i, seed):
    """The i-th standard normal numbers, from two even ones each (Box and Muller 1958)."""
    radius, angle = uniform(2 * i, seed), uniform(2 * i + 1, seed)
    return (-2 * (1 - radius).log()).sqrt() * (2 * torch.pi * angle).cos()
