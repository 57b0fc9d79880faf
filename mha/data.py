"""Small worlds that the chapters share."""
import torch

from mha.attention import attention

BOOKS = {                                            # title: key, value
    "Machine Learning Fundamentals": ([1.0, 0.0], [2.6, 0.6]),
    "Deep Learning Basics": ([1.3, -0.8], [1.2, -2.4]),
    "Cooking Recipes": ([-0.8, 1.4], [-2.5, 1.4]),
    "Garden Birds": ([-1.4, -0.9], [-2.0, -1.8]),
    "Encyclopedia of Everything": ([3.0, 3.0], [0.4, 2.8]),
}


def library():
    """Five books in the plane.

    Returns:
        titles: list of 5; keys: (5, 2), what a title promises; values: (5, 2), what is inside.
    """
    keys, values = zip(*BOOKS.values())
    return list(BOOKS), torch.tensor(keys), torch.tensor(values)


def follow_gradient(query, keys, values, wanted, steps=50, temperature=1.0, rate=0.1):
    """Move a query against the gradient of the squared error of what it looks up.

    Args:
        query: (d_k,); keys: (m, d_k); values: (m, d_v); wanted: (d_v,), what the lookup should return.
        steps: number of moves; temperature: of the softmax; rate: length of a move per unit of gradient.
    Returns:
        path: (steps + 1, d_k), the queries visited; errors: (steps + 1,), their squared errors.
    """
    path, errors = [query], []
    for step in range(steps + 1):
        asked = path[-1].clone().requires_grad_()
        error = (attention(asked[None], keys, values, scale=1 / temperature)[0][0] - wanted).square().sum()
        errors.append(error.detach())
        if step < steps:
            path.append(asked.detach() - rate * torch.autograd.grad(error, asked)[0])
    return torch.stack(path), torch.stack(errors)
