"""Chapter 2: what dividing the scores does to a head's start, to its steps, and to where its training ends."""
import matplotlib
import torch

from mha.attention import attention
from mha.lab.assets import LOOKUP_POWERS, LOOKUP_RATES, LOOKUP_WIDTHS, lookup_runs
from mha.lab.data import KeyTask
from mha.lab.train import fit, normal
from mha.viz.picture import OCHRE, ROSE, SLATE, STYLE, TEAL, WIDTH, Picture, house_figure
from mha.viz.tables import table

DIVIDED_BY = {"nothing": 0, "root of d_k": 0.5, "d_k": 1}
LEAST = 1e-6                                                           # a smaller loss is drawn as this
DRAWN = (16, 64, 256, 1024)                                            # the widths of a picture, each a line


def rates_and_widths(learned="matrices", loss="mixture"):
    """`lookup_runs` as three panels, one for each division: the loss after training against the rate, a line a width.

    A line joins means over the eight runs; the dots are the runs. Losses on the weights are drawn in powers of ten.
    """
    runs = lookup_runs(learned, loss)                                                        # (3, 5, 5, 8)
    text = [[f"{name}, d_k = {d_k}", *map(float, runs[i, LOOKUP_WIDTHS.index(d_k)].mean(-1))]
            for i, name in enumerate(DIVIDED_BY) for d_k in DRAWN]
    what = "error" if loss == "mixture" else "loss, in nats"
    with matplotlib.rc_context(fname=STYLE):
        figure, panels = house_figure(WIDTH, 2.9, columns=len(LOOKUP_POWERS), sharey=True)
        for panel, name, of_power in zip(panels, DIVIDED_BY, runs):
            for d_k, colour in zip(DRAWN, (SLATE, OCHRE, TEAL, ROSE)):
                each = of_power[LOOKUP_WIDTHS.index(d_k)].clamp(min=LEAST)
                panel.plot(LOOKUP_RATES, each.mean(-1), color=colour, label=f"d_k = {d_k}")
                panel.plot(LOOKUP_RATES, each, ".", color=colour, alpha=0.35, markersize=4, markeredgewidth=0)
            panel.set(title=f"divided by {name}", xlabel="learning rate", xscale="log")
            panel.set(ylim=(0, 1.02 * float(runs[:, 1:].amax()))) if loss == "mixture" else panel.set(yscale="log")
        panels[0].set_ylabel(f"{what}, after 300 steps")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    alt = (f"Three panels, scores divided by {', '.join(DIVIDED_BY)}: {what}, after 300 steps against the learning "
           "rate, a line for each d_k. The table gives means over 8 runs.")
    return Picture(figure, table(alt, ["", *(f"rate {rate:g}" for rate in LOOKUP_RATES)], text))


def first_step(d_k, power, *, start=(1.0, 1.0), rate=0.01, adam=True, tokens=64, m=32, runs=16, seed=0):
    """How far the scores of a head lie apart at the start, and how far Adam's first step moves them: two numbers.

    Both are root mean squares of divided scores, of heads as `fit_lookup` starts them on tokens of that width; `start`
    has the standard deviations of queries and of keys. Without `adam` it is a step of plain gradient descent.
    """
    g = torch.Generator().manual_seed(seed)
    asking, asked = torch.randn(2, runs, m, tokens, generator=g)
    W_Q, W_K = (normal(g, runs, tokens, d_k, std=std * tokens**-0.5) for std in start)
    values, wanted = torch.randn(2, runs, m, 8, generator=g)

    def scores():
        return (asking @ W_Q) @ (asked @ W_K).mT * d_k**-power                                # (runs, m, m)

    before = scores().detach()
    out, _ = attention(asking @ W_Q, asked @ W_K, values, scale=d_k**-power, need_weights=True)
    (out - wanted).square().mean((1, 2)).sum().backward()
    learned = [W_Q, W_K]
    (torch.optim.Adam(learned, lr=rate, eps=1e-12) if adam else torch.optim.SGD(learned, lr=rate)).step()
    with torch.no_grad():
        return before.square().mean().sqrt(), (scores() - before).square().mean().sqrt()


def starts_and_steps():
    """`first_step` in two panels: how far the scores lie apart, and how far Adam's first step moves them, by width."""
    found = torch.tensor([[first_step(d_k, power) for d_k in DRAWN] for power in LOOKUP_POWERS])   # (3, 4, 2)
    with matplotlib.rc_context(fname=STYLE):
        figure, panels = house_figure(WIDTH, 2.6, columns=2, sharey=True)
        for panel, what, lines in zip(panels, ("scores at the start", "moved by the first step"), found.unbind(-1)):
            for line, name, colour in zip(lines, DIVIDED_BY, (SLATE, OCHRE, TEAL)):
                panel.plot(DRAWN, line, marker="o", markersize=4, color=colour, label=f"divided by {name}")
            panel.set(title=what, xlabel="d_k", xscale="log", yscale="log", ylim=(0.02, 100))
        panels[0].set_ylabel("root mean square")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    rows = [[f"{what}, divided by {name}", *map(float, found[i, :, k])]
            for k, what in enumerate(("start", "first step")) for i, name in enumerate(DIVIDED_BY)]
    alt = ("Two panels against d_k, a line for each division: scores at the start, and how far the first step moves "
           "them.")
    return Picture(figure, table(alt, ["", *(f"d_k = {d_k}" for d_k in DRAWN)], rows, digits=2))


def fit_related(power, *, d_k=64, rate=0.003, steps=1500, runs=8, batch=32, seed=0):
    """Train heads to return the content of a related token, in fresh sentences (`KeyTask`), dividing by d_k^power.

    Queries and keys start with variance 1, and a learned W_V maps the tokens to the content. Returns the mean largest
    weight of a row at the start, a number, and the errors (runs,) at the end, on 1024 fresh sentences.
    """
    task, g = KeyTask(runs, 1, seed=seed), torch.Generator().manual_seed(seed + 1)
    d = task.d_model
    W_Q, W_K, W_V = (normal(g, runs, d, width, std=d**-0.5) for width in (d_k, d_k, task.content))

    def errors_and_most(size):
        asking, x, contents = task.draw(size)                                        # (R, B, d), (R, B, n, d)
        weights = ((asking @ W_Q)[:, :, None] @ (x @ W_K[:, None]).mT * d_k**-power).softmax(-1)   # (R, B, 1, n)
        out = (weights @ x)[:, :, 0] @ W_V                                                         # (R, B, content)
        return (out - contents[:, :, 0]).square().mean((1, 2)), weights.amax(-1).mean()

    with torch.no_grad():
        most = errors_and_most(512)[1]
    fit([W_Q, W_K, W_V], lambda: errors_and_most(batch)[0], steps=steps, rate=rate)
    with torch.no_grad():
        return most, errors_and_most(1024)[0]
