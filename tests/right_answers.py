"""Right answers in many styles, as learners write them: none of them may raise an alarm. name -> sources that define
it.
"""
from right_styles import STYLES

ATTENTION = [
    "def attention(q, k, v):\n    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1) @ v",
    "def attention(q, k, v):\n    d_k = k.shape[-1]\n    scores = torch.einsum('...id,...jd->...ij', q, k) * d_k ** "
    "-0.5\n    return torch.einsum('...ij,...jv->...iv', F.softmax(scores, dim=-1), v)",
    "def attention(q, k, v):\n    q = q / q.shape[-1] ** 0.5\n    s = torch.matmul(q, k.mT)\n    e = torch.exp(s - "
    "s.max(dim=-1, keepdim=True).values)\n    return (e / e.sum(-1, keepdim=True)) @ v",
    "def attention(q, k, v):\n    s = q @ k.mT / math.sqrt(k.shape[-1])\n    return torch.exp(s - torch.logsumexp(s, "
    "-1, keepdim=True)) @ v",
    "def attention(q, k, v):\n    s = q.double() @ k.double().mT / math.sqrt(k.shape[-1])\n    return (s.softmax(-1) "
    "@ v.double()).to(q.dtype)",
    "def attention(q, k, v):\n    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, "
    "None])[0, 0] if q.ndim == 2 else F.scaled_dot_product_attention(q, k, v)",
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
    "attention = lambda q, k, v: mha.attention(q, k, v)[0] if q.ndim == 2 else mha.attention(q.unsqueeze(-3), "
    "k.unsqueeze(-3), v.unsqueeze(-3))[0].squeeze(-3)",
    "class Attention(torch.nn.Module):\n    def forward(self, q, k, v):\n        return (q @ k.mT / q.shape[-1] ** "
    "0.5).softmax(-1) @ v\nattention = Attention()",
]

CAUSAL = [
    "def causal_weights(scores):\n    n = scores.size(-1)\n    mask = torch.triu(torch.ones(n, n, dtype=torch.bool), "
    "diagonal=1)\n    return torch.softmax(scores.masked_fill(mask, float('-inf')), dim=-1)",
    "def causal_weights(scores):\n    n = scores.size(-1)\n    i, j = torch.arange(n)[:, None], torch.arange(n)\n    "
    "return torch.where(j <= i, scores, -math.inf).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return (scores + torch.full((n, n), "
    "-math.inf).triu(1).to(scores)).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return scores.masked_fill(torch.ones(n, n).tril() == "
    "0, torch.finfo(scores.dtype).min).softmax(-1)",
    "def causal_weights(scores):\n    n = scores.shape[-1]\n    return scores.masked_fill(torch.ones(n, n).tril() == "
    "0, -1e9).softmax(-1)",
    "def causal_weights(scores):\n    seen = torch.ones_like(scores).tril()\n    s = scores.masked_fill(seen == 0, "
    "-math.inf)\n    e = (s - s.amax(-1, keepdim=True)).exp()\n    return e / e.sum(-1, keepdim=True)",
    "def causal_weights(scores):\n    rows = [F.pad(scores[..., i, :i + 1].softmax(-1), (0, scores.shape[-1] - i - "
    "1)) for i in range(scores.shape[-1])]\n    return torch.stack(rows, -2)",
    "def causal_weights(scores):\n    out = torch.zeros_like(scores)\n    for i in range(scores.shape[-1]):\n        "
    "out[..., i, : i + 1] = scores[..., i, : i + 1].softmax(-1)\n    return out",
]

SPLIT = [
    "def split_heads(x, h):\n    B, n, d = x.shape\n    return x.view(B, n, h, d // h).transpose(1, 2)",
    "def split_heads(x, h):\n    return x.reshape(x.shape[0], x.shape[1], h, -1).permute(0, 2, 1, 3)",
    "def split_heads(x, h):\n    return torch.stack(x.chunk(h, dim=-1), dim=1)",
    "def split_heads(x, h):\n    d = x.shape[-1] // h\n    return torch.stack([x[..., i * d:(i + 1) * d] for i in "
    "range(h)], 1)",
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
    "def softmax(s):\n    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)\n    return e / e.sum(dim=-1, "
    "keepdim=True)",
    "def softmax(s):\n    return (s - torch.logsumexp(s, -1, keepdim=True)).exp()",
    "def softmax(s):\n    s = s - s.amax(-1)[..., None]\n    return s.exp() / s.exp().sum(-1)[..., None]",
    "def softmax(s):\n    return 1 / (s[..., None, :] - s[..., :, None]).exp().sum(-1)",
    "def softmax(s):\n    return s.log_softmax(-1).exp()",
    "def softmax(s):\n    e = (s.double() - s.double().amax(-1, keepdim=True)).exp()\n    return (e / e.sum(-1, "
    "keepdim=True)).to(s.dtype)",
]

HEAD = [
    "def head(x, W_Q, W_K, W_V):\n    Q = x @ W_Q\n    K = x @ W_K\n    V = x @ W_V\n    return torch.softmax(Q @ "
    "K.transpose(-2, -1) / math.sqrt(Q.shape[-1]), dim=-1) @ V",
    "def head(x, W_Q, W_K, W_V):\n    A = W_Q @ W_K.T / W_Q.shape[1] ** 0.5\n    return (x @ A @ x.mT).softmax(-1) @ "
    "x @ W_V",
    "def head(x, W_Q, W_K, W_V):\n    s = torch.einsum('...id,dk,ek,...je->...ij', x, W_Q, W_K, x) / "
    "math.sqrt(W_K.size(-1))\n    return s.softmax(-1) @ (x @ W_V)",
    "def head(x, W_Q, W_K, W_V):\n    q, k, v = (F.linear(x, W.T) for W in (W_Q, W_K, W_V))\n    return "
    "F.scaled_dot_product_attention(q[None], k[None], v[None])[0]",
    "def head(x, W_Q, W_K, W_V):\n    d_k = W_Q.shape[-1]\n    Q, K, V = (x @ torch.cat([W_Q, W_K, W_V], "
    "-1)).split([d_k, d_k, W_V.shape[-1]], -1)\n    return (Q * d_k ** -0.5 @ K.mT).softmax(-1) @ V",
    "def head(x, W_Q, W_K, W_V):\n    rows = [((x @ W_K) @ (x[..., i, :] @ W_Q)[..., None] / W_Q.shape[-1] ** "
    "0.5).softmax(-2) for i in range(x.shape[-2])]\n    return torch.stack([(w * (x @ W_V)).sum(-2) for w in rows], "
    "-2)",
]

PREVIOUS = [
    "def previous_token_score(weights):\n    return torch.diagonal(weights, offset=-1, dim1=-2, dim2=-1).mean(dim=-1)",
    "def previous_token_score(weights):\n    n = weights.shape[-1]\n    i = torch.arange(1, n)\n    return "
    "weights[..., i, i - 1].sum(-1) / (n - 1)",
    "def previous_token_score(weights):\n    return weights[..., 1:, :-1].diagonal(0, -2, -1).mean(-1)",
    "def previous_token_score(weights):\n    n = weights.size(-1)\n    total = 0\n    for i in range(1, n):\n        "
    "total = total + weights[..., i, i - 1]\n    return total / (n - 1)",
    "def previous_token_score(weights):\n    n = weights.shape[-1]\n    below = torch.diag(torch.ones(n - 1), "
    "-1).to(weights)\n    return torch.einsum('...ij,ij->...', weights, below) / below.sum()",
    "def previous_token_score(weights):\n    n = weights.shape[-1]\n    before = torch.ones(n, n, "
    "dtype=torch.bool).tril(-1).triu(-1)\n    return weights[..., before].mean(-1)",
    "def previous_token_score(weights):\n    n = weights.shape[-1]\n    wanted = torch.arange(n - 1)[:, "
    "None].expand(*weights.shape[:-2], n - 1, 1)\n    return weights[..., 1:, :].gather(-1, "
    "wanted).squeeze(-1).mean(-1)",
]

LUCK = [
    "def best_by_luck(heads, questions, k):\n    p = sum(math.comb(questions, x) for x in range(k, questions + 1)) * "
    "0.5 ** questions\n    return 1 - (1 - p) ** heads",
    "def best_by_luck(heads, questions, k):\n    x = torch.arange(questions + 1, dtype=torch.float64)\n    log = "
    "math.lgamma(questions + 1) - torch.lgamma(x + 1) - torch.lgamma(questions - x + 1) - questions * math.log(2)\n   "
    " return 1 - log[:k].exp().sum() ** heads",
    "def best_by_luck(heads, questions, k):\n    coins = torch.distributions.Binomial(questions, torch.tensor(0.5, "
    "dtype=torch.float64))\n    p = coins.log_prob(torch.arange(k, questions + 1, "
    "dtype=torch.float64)).exp().sum().clamp(max=1)\n    return (1 - (1 - p) ** heads).item()",
    "def best_by_luck(heads, questions, k):\n    chances = [1.0]\n    for _ in range(questions):\n        chances = "
    "[(a + b) / 2 for a, b in zip(chances + [0.0], [0.0] + chances)]\n    below = sum(chances[:k])\n    stays = 1.0\n "
    "   for _ in range(heads):\n        stays *= below\n    return torch.tensor(1 - stays, dtype=torch.float64)",
    "from fractions import Fraction\ndef best_by_luck(heads, questions, k):\n    below = "
    "sum(Fraction(math.comb(questions, x), 2 ** questions) for x in range(k))\n    return float(1 - below ** heads)",
    "def best_by_luck(heads, questions, k):\n    p = sum(math.comb(questions, x) for x in range(k, questions + 1)) / "
    "2 ** questions\n    return -math.expm1(heads * math.log1p(-p)) if p < 1 else 1.0",
    "def best_by_luck(heads, questions, k):\n    p = sum(math.comb(questions, x) for x in range(k, questions + 1)) / "
    "2 ** questions\n    return sum(math.comb(heads, g) * p ** g * (1 - p) ** (heads - g) for g in range(1, heads + "
    "1))",
]

ABOVE_OFFSET = [
    "def above_offset(weights, asks, answers):\n    n = weights.shape[-1]\n    w = weights.masked_fill(torch.eye(n, "
    "dtype=torch.bool), -1.0)\n    share = (w.argmax(-1)[..., asks] == answers).to(weights.dtype).mean(-1)\n    "
    "offsets = answers - asks\n    return share - (offsets == offsets.mode().values).to(weights.dtype).mean()",
    "from collections import Counter\ndef above_offset(weights, asks, answers):\n    pairs = list(zip(asks.tolist(), "
    "answers.tolist()))\n    hits = 0\n    for i, j in pairs:\n        row = weights[..., i, :].clone()\n        "
    "row[..., i] = -math.inf\n        hits = hits + (row.argmax(-1) == j).to(weights.dtype)\n    best = Counter(j - i "
    "for i, j in pairs).most_common(1)[0][1]\n    return (hits - best) / len(pairs)",
    "def above_offset(weights, asks, answers):\n    n = weights.size(-1)\n    rows = weights[..., asks, :]\n    rows "
    "= rows.masked_fill(F.one_hot(asks, n).bool(), -1)\n    share = (rows.topk(1, -1).indices.squeeze(-1) == "
    "answers).double().mean(-1)\n    best = max(float(((asks + k) == answers).double().mean()) for k in range(1 - n, "
    "n))\n    return share - best",
    "def above_offset(weights, asks, answers):\n    answer = weights[..., asks, answers]\n    own = F.one_hot(asks, "
    "weights.shape[-1]).bool()\n    top = torch.where(own, 0.0, weights[..., asks, :]).amax(-1)\n    counts = "
    "torch.bincount(answers - asks + weights.shape[-1])\n    return (answer == top).double().mean(-1) - counts.max() "
    "/ asks.numel()",
    "def above_offset(weights, asks, answers):\n    others = weights * (1 - "
    "torch.eye(weights.shape[-1])).to(weights)\n    right = others.index_select(-2, "
    "asks).max(-1).indices.eq(answers)\n    d = answers - asks\n    best = (d[:, None] == d).sum(-1).max()\n    "
    "return (right.sum(-1) - best).to(weights.dtype) / len(d)",
    "def above_offset(weights, asks, answers):\n    order = weights.argsort(-1, descending=True)[..., asks, :2]\n    "
    "looked = torch.where(order[..., 0] == asks, order[..., 1], order[..., 0])\n    _, counts = torch.unique(answers "
    "- asks, return_counts=True)\n    return (looked == answers).float().mean(-1) - counts.max().item() / len(asks)",
    "def above_offset(weights, asks, answers):\n    w = weights.clone()\n    w.diagonal(dim1=-2, dim2=-1).fill_(0)\n  "
    "  flat = w.reshape(-1, *w.shape[-2:])\n    shares = torch.stack([(m[asks].argmax(1) == answers).double().mean() "
    "for m in flat]).reshape(w.shape[:-2])\n    offsets = (answers - asks).tolist()\n    return shares - "
    "max(offsets.count(k) for k in offsets) / len(offsets)",
]

GATED = [
    "def gated(y, gates, W_O):\n    B, h, n, d_v = y.shape\n    y = y * gates.view(1, h, 1, 1)\n    return "
    "y.transpose(1, 2).reshape(B, n, h * d_v) @ W_O",
    "def gated(y, gates, W_O):\n    return torch.einsum('bhnd,h,hdm->bnm', y, gates, W_O.unflatten(0, (y.shape[1], "
    "-1)))",
    "def gated(y, gates, W_O):\n    return torch.cat([gates[i] * y[:, i] for i in range(len(gates))], -1) @ W_O",
    "def gated(y, gates, W_O):\n    d_v = y.shape[-1]\n    return y.permute(0, 2, 1, 3).flatten(-2) @ "
    "(gates.repeat_interleave(d_v)[:, None] * W_O)",
    "def gated(y, gates, W_O):\n    merged = y.transpose(1, 2).flatten(2)\n    return torch.mul(merged, "
    "gates.repeat_interleave(y.shape[-1])) @ W_O",
    "def gated(y, gates, W_O):\n    blocks = W_O.chunk(y.shape[1])\n    return sum(g * (y_i @ W) for g, y_i, W in "
    "zip(gates, y.unbind(1), blocks))",
    "def gated(y, gates, W_O):\n    parts = y @ W_O.reshape(y.shape[1], y.shape[3], -1)\n    return "
    "torch.tensordot(parts, gates, dims=([1], [0]))",
]

REMOVAL_COSTS = [
    "def removal_costs(loss, h):\n    full = loss(torch.ones(h))\n    costs = torch.zeros(h)\n    for i in "
    "range(h):\n        gates = torch.ones(h)\n        gates[i] = 0\n        costs[i] = loss(gates) - full\n    "
    "return costs",
    "def removal_costs(loss, h):\n    gates, costs = torch.ones(h), []\n    full = loss(gates).item()\n    for i in "
    "range(h):\n        gates[i] = 0.0\n        costs.append(loss(gates).item() - full)\n        gates[i] = 1.0\n    "
    "return torch.tensor(costs)",
    "def removal_costs(loss, h):\n    return torch.stack([loss(row) for row in 1 - torch.eye(h)]) - "
    "loss(torch.ones(h))",
    "def removal_costs(loss, h):\n    return torch.vmap(loss)(1 - torch.eye(h)) - loss(torch.ones(h))",
    "def removal_costs(loss, h):\n    def without(i):\n        return loss(torch.tensor([float(j != i) for j in "
    "range(h)]))\n    with torch.no_grad():\n        return torch.stack([without(i) for i in range(h)]) - without(h)",
    "def removal_costs(loss, h):\n    off = torch.nn.functional.one_hot(torch.arange(h), h).bool()\n    losses = "
    "[loss(torch.ones(h, requires_grad=True).masked_fill(row, 0)) for row in off]\n    return (torch.stack(losses) - "
    "loss(torch.ones(h))).detach()",
    "def removal_costs(loss, h):\n    on = torch.ones(h, dtype=torch.long)\n    return "
    "torch.stack([loss(on.index_fill(0, i, 0)) - loss(on) for i in torch.arange(h)])",
]

WITHOUT_HEADS = [
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h\n    k = [i "
    "* d_k + c for i in keep.tolist() for c in range(d_k)]\n    v = [i * d_v + c for i in keep.tolist() for c in "
    "range(d_v)]\n    return W_Q[:, k], W_K[:, k], W_V[:, v], W_O[v]",
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    Q, K, V = ([W.chunk(h, 1)[i] for i in keep] for W in (W_Q, "
    "W_K, W_V))\n    return torch.cat(Q, 1), torch.cat(K, 1), torch.cat(V, 1), torch.cat([W_O.chunk(h)[i] for i in "
    "keep])",
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    cut = lambda W: W.reshape(W.shape[0], h, "
    "-1).index_select(1, keep).reshape(W.shape[0], -1)\n    return [cut(W_Q), cut(W_K), cut(W_V), cut(W_O.T).T]",
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    k = torch.arange(W_Q.shape[1]).view(h, "
    "-1)[keep].flatten()\n    v = torch.arange(W_V.shape[1]).view(h, -1)[keep].flatten()\n    return W_Q[:, k], "
    "W_K[:, k], W_V[:, v], W_O[v, :]",
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    pick = torch.nn.functional.one_hot(keep, h).to(W_Q.dtype)\n "
    "   k = torch.kron(pick, torch.eye(W_Q.shape[1] // h, dtype=W_Q.dtype))\n    v = torch.kron(pick, "
    "torch.eye(W_V.shape[1] // h, dtype=W_Q.dtype))\n    return W_Q @ k.T, W_K @ k.T, W_V @ v.T, v @ W_O",
    "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    B = W_V.shape[1] // h\n    small = "
    "[torch.einsum('mhd->hmd', W.unflatten(-1, (h, -1)))[keep] for W in (W_Q, W_K, W_V)]\n    return "
    "*(torch.cat(tuple(W), 1) for W in small), W_O.view(h, B, -1)[keep].flatten(0, 1)",
]

TWO_FROM_ONE = [
    "def two_from_one(error):\n    b = 0.8 * error\n    W_K = torch.tensor([0, 0, b]).view(3, 1)\n    W_V = "
    "torch.tensor([[1 / b, -1 / b], [-1 / b, 1 / b], [1, 1]])\n    return W_K, W_V, torch.eye(2)",
    "def two_from_one(error):\n    b = error / 4\n    W_K = torch.zeros(3, 1)\n    W_K[2] = b\n    W_V = "
    "torch.eye(3)\n    W_O = torch.stack([torch.tensor([1 / b, -1 / b, 1]), torch.tensor([-1 / b, 1 / b, 1])], 1)\n   "
    " return W_K, W_V, W_O",
    "def two_from_one(error):\n    b = 0.005\n    return torch.tensor([[0.0], [0.0], [b]]), torch.eye(3), "
    "torch.tensor([[1 / b, -1 / b], [-1 / b, 1 / b], [1.0, 1.0]])",
    "def two_from_one(error):\n    b = torch.tensor(-error / 3, dtype=torch.float64)\n    one, nil = "
    "torch.ones_like(b), torch.zeros_like(b)\n    W_V = torch.stack([torch.stack([one, nil]), torch.stack([-one, "
    "nil]), torch.stack([nil, one])])\n    W_O = torch.stack([torch.stack([1 / b, -1 / b]), torch.stack([one, "
    "one])])\n    return torch.stack([nil, nil, b])[:, None], W_V, W_O",
    "def two_from_one(error):\n    b = error / 10\n    W_K = torch.tensor([[0.1], [0.1], [b]], dtype=torch.float64)\n "
    "   W_V = torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 3.0]], dtype=torch.float64)\n    W_V[:2, 1] = 1.0\n    W_O "
    "= torch.tensor([[1.0, -1.0], [0.0, 0.0]], dtype=torch.float64) / b\n    third = torch.tensor([[1 / 3, 1 / 3], "
    "[-1 / b - 1 / 3, 1 / b - 1 / 3]], dtype=torch.float64)\n    W_V = torch.cat([W_V, torch.tensor([[1.0], [1.0], "
    "[0.0]], dtype=torch.float64)], 1)\n    return W_K, W_V, torch.cat([W_O[:1], third])",
    # fitted, where the weights see little: least squares over a grid of contents
    """def two_from_one(error):
    b = error / 2
    a = torch.linspace(-1, 1, 5, dtype=torch.float64)
    c = torch.cartesian_prod(a, a)
    w = (b * c).softmax(-1)
    brought = torch.cat([w, (w * c).sum(-1, keepdim=True)], -1)
    W_O = torch.linalg.lstsq(brought, c).solution
    return torch.tensor([[0.0], [0.0], [b]]), torch.eye(3), W_O""",
]

RIGHT = {"softmax": SOFTMAX, "attention": ATTENTION, "head": HEAD, "causal_weights": CAUSAL, "split_heads": SPLIT,
         "merge_heads": MERGE,
         "previous_token_score": PREVIOUS, "best_by_luck": LUCK, "above_offset": ABOVE_OFFSET, "gated": GATED,
         "removal_costs": REMOVAL_COSTS, "without_heads": WITHOUT_HEADS, "two_from_one": TWO_FROM_ONE, **STYLES}
