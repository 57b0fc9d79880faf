"""One attention head, in the three attempts of the story: one matrix, then two, then three.

Vectors are rows. A layer `W` computes x W^T + b, as nn.Linear does: the book's matrix W, which stands to the
right of a row vector, is the transpose of the tensor `W.weight`.
"""

import torch
from torch import Tensor, nn

from mha import _check as check
from mha._result import pair
from mha.attention import attention
from mha.position import positions_from


@check.calls
class SymmetricHead(nn.Module):
    """The first attempt: one matrix W makes queries and keys, and the values are the inputs themselves.

        out = softmax(x W (x W)^T / sqrt(d_k)) x

    The scores are symmetric: token i scores j as j scores i.

    Args:
        d_model: size of a token. d_k: size of its query, which is also its key.
        exclude_self: no token attends to itself (the sum over j != i). One token alone then sees nothing: zeros.
        bias: add one in W.
    """

    def __init__(self, d_model: int, d_k: int, *, exclude_self: bool = False, bias: bool = False,
                 device=None, dtype=None):
        super().__init__()
        check.positive_ints(d_model=d_model, d_k=d_k)
        check.truths(exclude_self=exclude_self, bias=bias)
        check.layer_dtype(dtype)
        self.d_model, self.exclude_self = d_model, exclude_self
        self.W = nn.Linear(d_model, d_k, bias, device, dtype)

    def forward(self, x: Tensor, *, mask: Tensor | None = None,
                need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """x (..., n, d_model) -> out (..., n, d_model), weights (..., n, n) or None."""
        check.layer_input("x", x, self.d_model, "d_model", self.W)
        if self.exclude_self:
            check.mask_and_bias(mask, None, x, (*x.shape[:-2], 1, x.shape[-2], x.shape[-2]))
            others = ~torch.eye(x.shape[-2], dtype=torch.bool, device=x.device)  # (n, n)
            mask = others if mask is None else mask & others
        Q = K = self.W(x)  # (..., n, d_k)
        return _attend(Q, K, x, mask=mask, need_weights=need_weights)


@check.calls
class AsymmetricHead(nn.Module):
    """The second attempt: W_Q makes queries, W_K makes keys, and the values are still the inputs.

        out = softmax(x W_Q (x W_K)^T / sqrt(d_k)) x

    Args:
        d_model: size of a token. d_k: size of a query and of a key.
        bias: add one in each layer.
    """

    def __init__(self, d_model: int, d_k: int, *, bias: bool = False, device=None, dtype=None):
        super().__init__()
        check.positive_ints(d_model=d_model, d_k=d_k)
        check.truths(bias=bias)
        check.layer_dtype(dtype)
        self.d_model = d_model
        self.W_Q = nn.Linear(d_model, d_k, bias, device, dtype)
        self.W_K = nn.Linear(d_model, d_k, bias, device, dtype)

    def forward(self, x: Tensor, *, mask: Tensor | None = None,
                need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """x (..., n, d_model) -> out (..., n, d_model), weights (..., n, n) or None."""
        check.layer_input("x", x, self.d_model, "d_model", self.W_Q)
        return _attend(self.W_Q(x), self.W_K(x), x, mask=mask, need_weights=need_weights)


@check.calls
class Head(nn.Module):
    """The head of the literature: W_Q asks, W_K answers to the question, W_V says what is carried.

        head(x, context) = softmax(x W_Q (context W_K)^T / sqrt(d_k)) context W_V

    Args:
        d_model: size of a token that asks. d_k: size of a query and of a key.
        d_v: size of a value; d_k by default.
        d_context: size of a token that is asked; d_model by default.
        bias: add one in each layer. The paper has none.
        dropout: probability of losing a weight while training. causal: no query sees a later key.
        on_qk: as in `mha.MultiHeadAttention`, on queries (..., n, d_k) and keys (..., m, d_k).
    Source:
        Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, *, d_context: int | None = None,
                 bias: bool = False, dropout: float = 0.0, causal: bool = False, on_qk=None, device=None, dtype=None):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        check.positive_ints(d_model=d_model, d_k=d_k, d_v=d_v, d_context=d_context)
        check.truths(bias=bias, causal=causal)
        check.probability("dropout", dropout)
        check.layer_dtype(dtype)
        check.on_qk(on_qk)
        self.d_model, self.d_k, self.d_v, self.d_context = d_model, d_k, d_v, d_context
        self.dropout, self.causal, self.on_qk = dropout, causal, on_qk
        self.W_Q = nn.Linear(d_model, d_k, bias, device, dtype)
        self.W_K = nn.Linear(d_context, d_k, bias, device, dtype)
        self.W_V = nn.Linear(d_context, d_v, bias, device, dtype)

    def forward(self, x: Tensor, context: Tensor | None = None, *more, mask: Tensor | None = None,
                bias: Tensor | None = None, need_weights: bool = False, **unknown) -> tuple[Tensor, Tensor | None]:
        """Attend from x to context, or from x to itself.

        Args:
            x: (..., n, d_model). context: (..., m, d_context); x by default.
            mask, bias: as in `mha.attention`, for weights of shape (..., 1, n, m): this head is the only one.
        Returns:
            out (..., n, d_v), weights (..., n, m) or None.
        """
        check.call_style(more, unknown, "mask=, bias= and need_weights=")
        context = x if context is None else context
        check.layer_inputs(x, context, self)
        Q = self.W_Q(x)  # (..., n, d_k)
        K = self.W_K(context)  # (..., m, d_k)
        V = self.W_V(context)  # (..., m, d_v)
        if self.on_qk is not None:
            Q, K = check.turned(self.on_qk(Q, K, positions_from(0, x), positions_from(0, context)))
        return _attend(Q, K, V, mask=mask, bias=bias, causal=self.causal,
                       dropout=self.dropout if self.training else 0.0, need_weights=need_weights)


def _attend(Q: Tensor, K: Tensor, V: Tensor, **options) -> tuple[Tensor, Tensor | None]:
    """Attention of one head: give it a head axis of size 1, and take that away again."""
    out, weights = attention(*(t.unsqueeze(-3) for t in (Q, K, V)), **options)  # (..., 1, n, d_v)
    return pair(out.squeeze(-3), None if weights is None else weights.squeeze(-3))
