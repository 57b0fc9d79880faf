"""The numbers of one text's tokens: what is taken for them, what is refused, and what a model has rows for."""
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

WANTED = "look reads one text, or the numbers of its tokens"


def as_ids(given) -> list[int]:
    """The numbers of one text's tokens, from a list, an array or a tensor, (n,) or (1, n).

    Raises:
        TypeError, ValueError: anything else; the message says what came and what to write.
    """
    if isinstance(given, Mapping):
        raise TypeError(f"{WANTED}, and got a {type(given).__name__}; give its input_ids, such as "
                        f"tokenizer(text).input_ids")
    if not isinstance(given, (list, tuple, range)) and not hasattr(given, "shape"):
        raise TypeError(f"{WANTED}, and got {'None' if given is None else f'a {type(given).__name__}'}")
    if len(given) and all(isinstance(part, str) for part in given):
        raise TypeError(f"{WANTED}, and got a list of {len(given)} of type str; give one text as it is, or names of "
                        f"tokens as numbers: tokenizer.convert_tokens_to_ids(names)")
    texts = [part for part in given if isinstance(part, (list, tuple))] if isinstance(given, (list, tuple)) else []
    try:
        ids = torch.as_tensor(given) if len(set(map(len, texts))) < 2 else None
    except (TypeError, ValueError, RuntimeError):
        kinds = ", ".join(sorted({type(part).__name__ for part in given}))
        raise TypeError(f"{WANTED}, and got a {type(given).__name__} of {kinds}; the numbers are integers, such as "
                        f"tokenizer(text).input_ids") from None
    if ids is None or ids.ndim > 2 or ids.ndim == 2 and len(ids) != 1:
        came = f"{len(given)} lists" if ids is None else f"numbers of the shape {tuple(ids.shape)}"
        raise ValueError(f"{WANTED}, and got {came}; give those of one text, such as ids[0]")
    if ids.numel() and (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool):
        raise TypeError(f"numbers of tokens are integers, got {str(ids.dtype).removeprefix('torch.')}; if these are "
                        f"whole, give [int(number) for number in ids]")
    ids = ids.flatten().tolist()
    if ids and min(ids) < 0:
        raise ValueError(f"numbers of tokens are 0 or more, got {min(ids)}")
    return ids


def beginning(text, tokenizer, most: int) -> str:
    """What to write for the first tokens of a text."""
    if not isinstance(text, str):
        return f"ids[:{most}]"
    cut = "tokenizer(text).input_ids" if callable(tokenizer) else "tokenizer.encode(text)"
    return f"{cut}{'.ids' if type(tokenizer).__module__.startswith('tokenizers') else ''}[:{most}]"


@contextmanager
def refusing(model: nn.Module, ids: list[int]) -> Iterator[list[int]]:
    """Within this context an embedding refuses in a sentence what it has no row for.

    Yields:
        how many positions the model has, as soon as it ran, of each embedding that was asked for 0, 1, 2, ...
    """
    own, positions = torch.tensor(ids), []

    def ask(embedding: nn.Embedding, given: tuple[Tensor, ...]):
        rows, has = given[0].detach().flatten(), embedding.num_embeddings
        if rows.numel() and int(rows.max()) >= has:
            if torch.equal(rows[:len(own)].cpu(), own):
                raise ValueError(f"the tokens' numbers go up to {max(ids)}, and the model's embedding has {has} rows, "
                                 f"0 to {has - 1}; a model and its tokenizer must be of one kind")
            raise ValueError(f"an embedding of the model has {has} rows, 0 to {has - 1}, and was asked for "
                             f"{int(rows.max())}; if it is that of positions, give fewer tokens: ids[:{has}]")
        if len(rows) == len(own) and torch.equal(rows.cpu(), torch.arange(len(own))):
            positions.append(has)

    hooks = [module.register_forward_pre_hook(ask) for module in model.modules() if isinstance(module, nn.Embedding)]
    try:
        yield positions
    finally:
        for hook in hooks:
            hook.remove()
