"""A figure of heads as one file: its numbers packed small, and the script and style that draw them beside."""
import base64
import gzip
import html
import json
import math
from collections import Counter
from pathlib import Path

import torch
from torch import Tensor

from mha.lab.look import scores

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "widgets"        # what all figures of the book share: colours, and how elements are made
STYLES = (SHARED / "common.css", HERE / "look.css")
SCRIPTS = (SHARED / "common.js", HERE / "maps.js", HERE / "panels.js")
CELLS = 2_000_000                           # weights that a file keeps, at most; of a longer text, means of blocks
LABELS = {"previous": "previous token", "induction": "induction", "first": "first token", "itself": "itself"}
BASELINES = {"previous": "even", "induction": "shuffled", "first": "even", "itself": "even"}
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
<body>
<noscript>This figure is drawn by a script, which this browser does not run.</noscript>
<script type="application/json" id="data">{data}</script>
<script type="text/plain" id="maps">{maps}</script>
<script>{script}</script>
</body>
</html>
"""


def block_of(n: int, heads: int, causal: bool) -> int:
    """How many tokens stand in a row of a map that is kept: 1 where all weights of n tokens find room."""
    most = math.isqrt(int(CELLS * (2 if causal else 1) / heads))
    return math.ceil(n / most)


def in_blocks(weights: Tensor, size: int) -> Tensor:
    """Maps of blocks of tokens: what the queries of one give, on average, to all keys of another together.

    Args:
        weights: (..., n, n). size: tokens in a block; the last may have fewer.
    Returns:
        (..., b, b) with b = ceil(n / size); rows sum to 1.
    """
    if size == 1:
        return weights
    n = weights.shape[-1]
    member = (torch.arange(n)[:, None] // size == torch.arange(math.ceil(n / size))).to(weights.dtype)     # (n, b)
    return (member / member.sum(0)).mT @ weights @ member


def as_bytes(weights: Tensor) -> bytes:
    """Weights in 256 steps of their square root, so that small ones keep their digits: off by at most 0.004."""
    return (weights.clamp(0, 1).sqrt() * 255).round().to(torch.uint8).contiguous().numpy().tobytes()


def short(values, digits: int = 4) -> list[float | None]:
    """Numbers with so many digits; None where there is none, as where a model gives a token no chance at all."""
    values = torch.as_tensor(values).double().flatten().tolist()
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]


def shown(name: str) -> str:
    """A token without the space before it; what would be invisible has a sign."""
    return (name[1:] if name.startswith(" ") else name).replace("\n", "⏎").replace("\t", "⇥").replace(" ", "␣") or "␣"


def told_apart(reader, tokens) -> dict[int, str]:
    """Names of tokens; of those that would share one, such as "the" and " the", each keeps its space as a sign."""
    names = {token: reader.name(token) for token in tokens}
    count = Counter(map(shown, names.values()))
    return {token: shown(name if count[shown(name)] == 1 else name.replace(" ", "␣")) for token, name in names.items()}


def numbers(look) -> dict:
    """All that the page is told but the maps."""
    layers, heads, n = look.weights.shape[:3]
    reader, gone = look.reader, look.removals
    asked, by_offset = scores.offsets(look.weights, look.causal)
    told = {
        "name": look.name, "layers": layers, "heads": heads, "causal": look.causal,
        "kv": reader.kv_heads if reader else [heads] * layers,
        "tokens": [shown(name) for name in look.tokens],
        "begins": [int(name[:1] in (" ", "\n")) for name in look.tokens],
        "block": block_of(n, layers * heads, look.causal),
        "scores": [{"key": key, "label": LABELS[key], "against": BASELINES[key], "values": short(look.scores[key], 7),
                    "baselines": short(look.baselines[key], 7)} for key in LABELS if key in look.scores],
        "offsets": {"asked": asked, "values": short(by_offset),
                    "even": short(scores.offsets(look.even, look.causal)[1])},
        "off": [] if reader is None else (reader.base.flatten() == 0).nonzero().flatten().tolist(),
    }
    if gone:
        name = told_apart(reader, {token for one in [gone["whole"], *gone["without"]] for token, _ in one})
        told["gone"] = {"writes": reader.writes, "mean": reader.fill is not None, "change": short(gone["change"]),
                        "whole": [[name[token], *short([p]), token] for token, p in gone["whole"]],
                        "without": [[[name[token], *short([p]), token] for token, p in one] for one in gone["without"]]}
    return told


def written(look) -> str:
    """The page of a `Look`."""
    told = numbers(look)
    maps = in_blocks(look.weights, told["block"])
    packed = base64.b64encode(gzip.compress(as_bytes(maps), 6, mtime=0)).decode()
    style, script = ("".join(path.read_text("utf-8") for path in paths) for paths in (STYLES, SCRIPTS))
    title = html.escape(f"Every head of {look.name}")
    # Nothing in a text of tokens may end the script that holds it
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return PAGE.format(title=title, style=style, data=data, maps=packed, script=script)
