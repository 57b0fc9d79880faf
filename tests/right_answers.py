"""Right answers in many styles, as learners write them: none of them may raise an alarm. name -> sources that define it."""
from right_styles import STYLES

ATTENTION = [
    "def attention(q, k, v):\n    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1) @ v",
    "def attention(q, k, v):\n    d_k = k.shape[-1]\n    scores = torch.einsum('...id,...jd->...ij', q, k) * d_k ** -0.5\n    return torch.einsum('...ij,...jv->...iv', F.softmax(scores, dim=-1), v)",
    "def attention(q, k, v):\n    q = q / q.shape[-1] ** 0.5\n    s = torch.matmul(q, k.mT)\n    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)\n    return (e / e.sum(-1, keepdim=True)) @ v",
    "def attention(q, k, v):\n    s = q @ k.mT / math.sqrt(k.shape[-1])\n    return torch.exp(s - torch.logsumexp(s, -1, keepdim=True)) @ v",
    "def attention(q, k, v):\n    s = q.double() @ k.double().mT / math.sqrt(k.shape[-1])\n    return (s.softmax(-1) @ v.double()).to(q.dtype)",
    "def attention(q, k, v):\n    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0] if q.ndim == 2 else F.scaled_dot_product_attention(q, k, v)",
    """def attention(q, k, v):
    rows = []
    for i in range(q.shape[-2]):
        s = (q[..., i:i + 1, :] * k).sum(-1) / q.shape[-1] ** 0.5
        rows.append((s.softmax(-1)[..., None] * v).sum(-2))
    return torch.stack(rows, -2)""",
    """def attention(q, k, v):
    top = torch.full(q.shape[:-1] + (1,), -math.inf, dtype=q.dtype)
    total = torch.zeros_like(top)
    out = torch.zeros(q.shape[:-1] + (v.shape[-1],), dtype=q.dtype)
    for j in range(k.shape[-2]):
        s = (q * k[..., j:j + 1, :]).sum(-1, keepdim=True) / math.sqrt(q.shape[-1])
        new = torch.maximum(top, s)
        total = total * (top - new).exp() + (s - new).exp()
        out = out * (top - new).exp() + (s - new).exp() * v[..., j:j + 1, :]
        top = new
    return out / total""",
    "attention = lambda q, k, v: mha.attention(q, k, v)[0] if q.ndim == 2 else mha.attention(q.unsqueeze(-3), k.unsqueeze(-3), v.unsqueeze(-3))[0].squeeze(-3)",
    "class Attention(torch.nn.Module):\n    def forward(self, q, k, v):\n        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v\nattention = Attention()",
]

CAUSAL = [
    "def causal_weights(scores):\n    n = scores.size(-1)\n    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)\n    return torch.softmax(scores.masked_fill(mask, float('-inf')), dim=-1)",
    "def causal_weights(scores):\n    n = scores.size(-1)\n    i, j = torch.arange(n)[:, None], torch.arange(n)\n    return torch.where(j <= i, scores, -math.inf).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return (scores + torch.full((n, n), -math.inf).triu(1).to(scores)).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return scores.masked_fill(torch.ones(n, n).tril() == 0, torch.finfo(scores.dtype).min).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return scores.masked_fill(torch.ones(n, n).tril() == 0, -1e9).softmax(-1)",
    "def causal_weights(scores):\n    seen = torch.ones_like(scores).tril()\n    s = scores.masked_fill(seen == 0, -math.inf)\n    e = (s - s.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)",
    "def causal_weights(scores):\n    rows = [F.pad(scores[..., i, :i + 1].softmax(-1), (0, scores.shape[-1] - i - 1)) for i in range(scores.shape[-1])]\n    return torch.stack(rows, -2)",
    "def causal_weights(scores):\n    out = torch.zeros_like(scores)\n    for i in range(scores.shape[-1]):\n        out[..., i, : i + 1] = scores[..., i, : i + 1].softmax(-1)\n    return out",
]

SPLIT = [
    "def split_heads(x, h):\n    B, n, d = x.shape\n    return x.view(B, n, h, d // h).transpose(1, 2)",
    "def split_heads(x, h):\n    return x.reshape(x.shape[0], x.shape[1], h, -1).permute(0, 2, 1, 3)",
    "def split_heads(x, h):\n    return torch.stack(x.chunk(h, dim=-1), dim=1)",
    "def split_heads(x, h):\n    d = x.shape[-1] // h\n    return torch.stack([x[..., i * d:(i + 1) * d] for i in range(h)], 1)",
    "def split_heads(x, h):\n    return x.unflatten(-1, (h, -1)).swapaxes(1, 2).contiguous()",
    "def split_heads(x, h):\n    return torch.einsum('bnhd->bhnd', x.reshape(*x.shape[:2], h, x.shape[-1] // h))",
    "def split_heads(x, h):\n    B, n, wide = x.shape\n    return x.mT.reshape(B, h, wide // h, n).mT",
]

MERGE = [
    "def merge_heads(y):\n    B, h, n, d = y.shape\n    return y.transpose(1, 2).reshape(B, n, h * d)",
    "def merge_heads(y):\n    B, h, n, d = y.shape\n    return y.permute(0, 2, 1, 3).contiguous().view(B, n, -1)",
    "def merge_heads(y):\n    return torch.cat([y[:, i] for i in range(y.shape[1])], dim=-1)",
    "def merge_heads(y):\n    return torch.cat(y.unbind(1), -1)",
    "def merge_heads(y):\n    return y.swapaxes(1, 2).flatten(-2)",
    "def merge_heads(y):\n    return torch.einsum('bhnd->bnhd', y).flatten(2)",
]

SOFTMAX = [
    "def softmax(s):\n    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)\n    return e / e.sum(dim=-1, keepdim=True)",
    "def softmax(s):\n    return (s - torch.logsumexp(s, -1, keepdim=True)).exp()",
    "def softmax(s):\n    s = s - s.amax(-1)[..., None]\n    return s.exp() / s.exp().sum(-1)[..., None]",
    "def softmax(s):\n    return 1 / (s[..., None, :] - s[..., :, None]).exp().sum(-1)",
    "def softmax(s):\n    return s.log_softmax(-1).exp()",
    "def softmax(s):\n    e = (s.double() - s.double().amax(-1, keepdim=True)).exp()\n    return (e / e.sum(-1, keepdim=True)).to(s.dtype)",
]

HEAD = [
    "def head(x, W_Q, W_K, W_V):\n    Q = x @ W_Q\n    K = x @ W_K\n    V = x @ W_V\n    return torch.softmax(Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]), dim=-1) @ V",
    "def head(x, W_Q, W_K, W_V):\n    A = W_Q @ W_K.T / W_Q.shape[1] ** 0.5\n    return (x @ A @ x.mT).softmax(-1) @ x @ W_V",
    "def head(x, W_Q, W_K, W_V):\n    s = torch.einsum('...id,dk,ek,...je->...ij', x, W_Q, W_K, x) / math.sqrt(W_K.size(-1))\n    return s.softmax(-1) @ (x @ W_V)",
    "def head(x, W_Q, W_K, W_V):\n    q, k, v = (F.linear(x, W.T) for W in (W_Q, W_K, W_V))\n    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]",
    "def head(x, W_Q, W_K, W_V):\n    d_k = W_Q.shape[-1]\n    Q, K, V = (x @ torch.cat([W_Q, W_K, W_V], -1)).split([d_k, d_k, W_V.shape[-1]], -1)\n    return (Q * d_k ** -0.5 @ K.mT).softmax(-1) @ V",
    "def head(x, W_Q, W_K, W_V):\n    rows = [((x @ W_K) @ (x[..., i, :] @ W_Q)[..., None] / W_Q.shape[-1] ** 0.5).softmax(-2) for i in range(x.shape[-2])]\n    return torch.stack([(w * (x @ W_V)).sum(-2) for w in rows], -2)",
]

RIGHT = {"softmax": SOFTMAX, "attention": ATTENTION, "head": HEAD, "causal_weights": CAUSAL, "split_heads": SPLIT, "merge_heads": MERGE, **STYLES}
