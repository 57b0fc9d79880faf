"""Trainings in the world of journeys: one model, or many seeds of one configuration in one process.

All follow one recipe: Adam with betas 0.9 and 0.98, a rate of 0.003 after 50 steps of warm-up, gradients cut to length
1, 32 fresh documents a step. Seed s draws the numbers that a model starts from, and its documents; the documents of
the tests are the same for all.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from mha.attention import attention
from mha.lab.journeys.model import BASE, Config, Model, norm
from mha.lab.journeys.world import QUESTIONS, TOWNS, draw
from mha.lab.train.loop import fit, small_steps
from mha.multihead import merge_heads, split_heads
from mha.position import rope

RATE, BETAS, WARM_UP, LONGEST, BATCH, EVERY = 0.003, (0.9, 0.98), 50, 1.0, 32, 25
ENOUGH = 0.95  # right, in the mean of both boxes: what counts as learned
DOCUMENTS, TESTS = 1_000_000, 2_000_000  # what is added to a seed for its documents; the seed of the tests


def documents(seed: int) -> torch.Generator:
    """The chance that draws the documents on which seed s is trained."""
    return torch.Generator().manual_seed(DOCUMENTS + seed)


def tests(size: int) -> tuple[Tensor, Tensor]:
    """Documents for the tests: tokens (size, n), answers (size, 8, 2)."""
    return draw(torch.Generator().manual_seed(TESTS), size)


# --- One model -----------------------------------------------------------------------------------------------------

def learn(model: Model, seed: int = 0, steps: int | None = None) -> Tensor:
    """Train one model, in place: (tests, 3), the step of each test and the share right in "from" and in "to"."""
    chance, steps = documents(seed), model.config.steps if steps is None else steps
    optimiser, found = torch.optim.Adam(model.parameters(), lr=RATE, betas=BETAS), []
    with small_steps():
        for step in range(steps):
            if step % EVERY == 0:
                found.append([step, *right_answers(model, 64).tolist()])
            tokens, answers = draw(chance, BATCH)
            logits = model(tokens)[:, -QUESTIONS:]  # (B, 8, 2, 12)
            optimiser.param_groups[0]["lr"] = RATE * min(1, (step + 1) / WARM_UP)
            optimiser.zero_grad()
            F.cross_entropy(logits.flatten(0, -2), answers.flatten()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), LONGEST)
            optimiser.step()
        found.append([steps, *right_answers(model, 64).tolist()])
    return torch.tensor(found)


@torch.no_grad()
def right_answers(model: Model, size=256, head_masks=None) -> Tensor:
    """The share of right answers in each box, (2,), on documents that no model was trained on."""
    tokens, answers = tests(size)
    return (model(tokens, head_masks)[:, -QUESTIONS:].argmax(-1) == answers).float().mean((0, 1))


# --- Many at once --------------------------------------------------------------------------------------------------

class Runs:
    """Models of one configuration from R seeds: the parameters of `Model` with a leading axis, as `fit` wants them."""

    def __init__(self, config: Config, seeds):
        self.config, self.seeds = config, tuple(seeds)
        models = [Model(config, seed) for seed in self.seeds]
        self.named = {name: torch.stack([model.get_parameter(name).detach() for model in models]).requires_grad_()
                      for name, _ in models[0].named_parameters()}
        self.parameters = list(self.named.values())

    def model(self, run: int) -> Model:
        """Run number `run` as a model of mha's layers."""
        model = Model(self.config)
        model.load_state_dict({name: values[run].detach().clone() for name, values in self.named.items()})
        return model

    def logits(self, tokens: Tensor) -> Tensor:
        """tokens (R, B, n) -> logits at the questions (R, B, 8, 2, 12): what the models of all runs say."""
        R, B, n = tokens.shape
        table = self.named["embedding.weight"]
        rows = tokens + len(table[0]) * torch.arange(R)[:, None, None]
        x = F.embedding(rows, table.flatten(0, 1))  # (R, B, n, d_model)

        def times(x, name):
            return torch.bmm(x.flatten(1, 2), self.named[name].mT).unflatten(1, x.shape[1:3])

        for i, layer in enumerate(self.config.layers):
            y = norm(x)
            Q, K, V = (split_heads(times(y, f"layers.{i}.W_{part}.weight"), heads)
                       for part, heads in (("Q", layer.h), ("K", layer.h_kv), ("V", layer.h_kv)))
            if self.config.positions == "rotary":
                Q, K = (rope(part, torch.arange(n), base=BASE) for part in (Q, K))
            out, _ = attention(Q, K, V, causal=self.config.causal)  # (R, B, h, n, d_v)
            x = x + times(merge_heads(out), f"layers.{i}.W_O.weight")
        return times(norm(x[:, :, -QUESTIONS:]), "read_out.weight").unflatten(-1, (2, len(TOWNS)))

    @torch.no_grad()
    def right(self, size=256) -> Tensor:
        """(R, 2), as `right_answers` of each run."""
        tokens, answers = tests(size)
        said = self.logits(tokens.expand(len(self.seeds), -1, -1)).argmax(-1)  # (R, B, 8, 2)
        return (said == answers).float().mean((1, 2))


@dataclass
class Trained:
    """What `fit_journeys` found."""

    runs: Runs
    at: Tensor
    """(T,), the steps before which all runs were tested, and the last."""
    history: Tensor
    """(T, R, 2), the share right in each box in these tests, of 64 documents."""
    right: Tensor
    """(R, 2), at the end, on 256 documents."""

    @property
    def reached(self) -> list[int | None]:
        """For each run, the step of the first test in which it was ENOUGH right; None if there was none."""
        return first_enough(self.at, self.history)


def first_enough(at: Tensor, history: Tensor) -> list[int | None]:
    """at (T,) and history (T, R, 2) -> the first step at which each run was ENOUGH right, or None."""
    enough = history.mean(-1) >= ENOUGH  # (T, R)
    return [int(at[run.int().argmax()]) if run.any() else None for run in enough.T]


def fit_journeys(config: Config, seeds=range(8), steps: int | None = None) -> Trained:
    """Train a configuration from each seed; the runs share nothing but the process."""
    runs, steps, found = Runs(config, seeds), config.steps if steps is None else steps, []
    chances = [documents(seed) for seed in runs.seeds]

    def loss():
        if len(taken) % EVERY == 0:
            found.append(runs.right(64))
        taken.append(None)
        tokens, answers = (torch.stack(part) for part in zip(*(draw(chance, BATCH) for chance in chances)))
        each = F.cross_entropy(runs.logits(tokens).flatten(0, -2), answers.flatten(), reduction="none")
        return each.unflatten(0, (len(chances), -1)).mean(1)

    taken = []
    fit(runs.parameters, loss, steps=steps, rate=RATE, betas=BETAS, warm_up=WARM_UP, falls=False, longest=LONGEST)
    found.append(runs.right(64))
    at = torch.tensor([*range(0, steps, EVERY), steps])
    return Trained(runs, at, torch.stack(found), runs.right())
