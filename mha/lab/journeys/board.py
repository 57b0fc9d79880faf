"""A board with rules of evidence and no server: an entry is one file, and the baseline is run again beside it."""
import json
import math
import random
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

import mha
from mha.lab.journeys.model import Config, Model
from mha.lab.journeys.told import from_file, impossible, listed, only
from mha.lab.journeys.training import ENOUGH, EVERY, fit_journeys, tests
from mha.lab.journeys.world import VOCABULARY

SEEDS, FEWEST, LEVEL, MARGIN = 8, 4, 0.01, 100
APART = 50  # steps by which one seed, played again, may differ: another processor adds in another order


@dataclass(frozen=True)
class Entry:
    """What one configuration came to from each of its seeds: a line of the board."""

    config: Config
    cached: int
    """Numbers that each token adds to the cache."""
    parameters: int
    seeds: tuple[int, ...]
    right: tuple[tuple[float, float], ...]
    """For each seed, the share of right answers in "from" and in "to", on 256 fresh documents."""
    reached: tuple[int | None, ...]
    """For each seed, the step of the first test, one every 25, in which both boxes together were 0.95 right."""
    version: str
    """Of mha and of torch."""

    @property
    def scores(self) -> Tensor:
        """(seeds,), the mean of both boxes at the end."""
        return torch.tensor(self.right, dtype=torch.float64).mean(-1)

    def late(self, most: int) -> Tensor:
        """(seeds,), the steps that each needed; one that did not get there in `most` counts as one test later."""
        steps = [most + EVERY if step is None or step > most else step for step in self.reached]
        return torch.tensor(steps, dtype=torch.float64)

    def save(self, path) -> None:
        """Write the entry as one line of JSON."""
        Path(path).write_text(json.dumps(self.told()) + "\n", encoding="utf-8")

    def told(self) -> dict:
        """As JSON keeps it."""
        return asdict(self)

    @classmethod
    def read(cls, told) -> "Entry":
        """An entry from what `told` gave, or from the path of a file that `save` wrote.

        Raises:
            ValueError, TypeError: it is no entry, or says what no training gives.
        """
        told = only(cls, told if isinstance(told, dict) else from_file(told), "an entry")
        right = tuple(listed("right, of each seed,", pair) for pair in listed("right", told["right"]))
        entry = cls(**{**told, "config": Config.read(told["config"]), "seeds": listed("seeds", told["seeds"]),
                       "right": right, "reached": listed("reached", told["reached"])})
        reason = impossible(entry, EVERY)
        if reason:
            raise ValueError(f"this is no entry: {reason}")
        return entry

    def __repr__(self):
        there = sum(step is not None for step in self.reached)
        return (f"{self.config.name}: {self.cached} numbers a token, {self.scores.mean():.2f} right, "
                f"{there} of {len(self.seeds)} seeds at {ENOUGH}")


def entry_of(trained) -> Entry:
    """The entry of what `fit_journeys` returned."""
    config, pairs = trained.runs.config, trained.right.tolist()
    return Entry(config, config.cached, config.parameters, trained.runs.seeds,
                 tuple(tuple(round(x, 4) for x in pair) for pair in pairs), tuple(trained.reached),
                 version())


def version() -> str:
    """Of the mha and the torch that run here."""
    return f"mha {mha.__version__}, torch {torch.__version__.partition('+')[0]}"


def play(config: Config, seeds=SEEDS) -> Entry:
    """Train a configuration from several seeds and test it: an entry of the board.

    Args:
        config: see `mha.lab.journeys.config`.
        seeds: how many, from 0 on; or which.
    """
    return entry_of(fit_journeys(config, range(seeds) if isinstance(seeds, int) else seeds))


# --- Rules of evidence ---------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Verdict:
    """Whether an entry is accepted, and why, in one sentence; p is None where the baseline was not run."""

    accepted: bool
    reason: str
    p: float | None = None
    baseline: Entry | None = None

    def __repr__(self):
        return textwrap.fill(f"{'Accepted' if self.accepted else 'Refused'}: {self.reason}", 80)


def challenge(entry: Entry, baseline: Entry | Config) -> Verdict:
    """Compare an entry with a baseline, which is run again here, from the entry's seeds, by the call that made it.

    The baseline's numbers cached a token and its steps are the budget. What is compared is how many steps each seed
    needs until both boxes together are 0.95 right, because at the end good models differ too little; a seed that does
    not get there counts as one test later than the last step. An entry that caches as many numbers has to get there
    sooner. One that caches fewer may be up to 100 steps later, since seeds of one configuration differ by as much.
    Either is judged by Welch's test, one-sided, at a level of 0.01.

    An entry is believed if the same mha and torch made it, and if one of its seeds, drawn at random, is played again
    here and does as it says.
    """
    rules = baseline if isinstance(baseline, Config) else baseline.config
    refused = (out_of_budget(entry, rules) or picked(entry) or impossible(entry, EVERY) or leaking(entry)
               or made_elsewhere(entry) or not_again(entry))
    if refused:
        return Verdict(False, refused)
    again = play(rules, entry.seeds)
    allowed = MARGIN if entry.cached < again.cached else 0
    own, other = entry.late(rules.steps), again.late(rules.steps)
    p = welch(other + allowed, own)
    wanted = f"it is less than {MARGIN} steps later" if allowed else "it is sooner"
    means = f"it needs {own.mean():.0f} steps on average, and the baseline, run again, {other.mean():.0f}"
    return Verdict(p < LEVEL, f"{means}; for the claim that {wanted}, p = {p:.2g}, where {LEVEL} is the limit.", p,
                   again)


def out_of_budget(entry: Entry, rules: Config) -> str | None:
    """Why an entry does not fit the budget, and does not say what it costs; None where it does."""
    if (entry.cached, entry.parameters) != (entry.config.cached, entry.config.parameters):
        return (f"the entry says {entry.cached} numbers a token and {entry.parameters} parameters; its configuration "
                f"has {entry.config.cached} and {entry.config.parameters}.")
    if entry.config.cached > rules.cached:
        return f"it caches {entry.config.cached} numbers a token, and the baseline {rules.cached}."
    if entry.config.steps > rules.steps:
        return f"it was trained for {entry.config.steps} steps, and the baseline for {rules.steps}."
    if entry.config.d_model > rules.d_model:
        return f"its model is {entry.config.d_model} wide, and the baseline's {rules.d_model}."
    return None


def picked(entry: Entry) -> str | None:
    """Why the seeds of an entry are no evidence; None where they are 0, 1, 2 and so on, each with its score."""
    seeds, fewest = list(entry.seeds), FEWEST
    if seeds != list(range(len(seeds))):
        return f"its seeds are {', '.join(map(str, seeds))}; they must be 0, 1, 2 and so on, so that none is picked."
    if len(seeds) < fewest or not len(seeds) == len(entry.right) == len(entry.reached):
        return f"it has {len(seeds)} seeds and {len(entry.right)} scores; it needs {fewest} seeds or more, all scored."
    return None


def leaking(entry: Entry) -> str | None:
    """Why the model of an entry cannot answer token by token; None where no past depends on the future."""
    at = leak(Model(entry.config))
    if at is None:
        return None
    return f"the output at token {at} changes with later tokens, so it cannot be given before these are read."


def made_elsewhere(entry: Entry) -> str | None:
    """Why an entry is not compared with what runs here; None where the same versions made it."""
    if entry.version == version():
        return None
    return (f"it was made by {entry.version}, and the baseline would be run by {version()}; play it again here, and "
            f"only the configurations differ.")


def not_again(entry: Entry) -> str | None:
    """Why one seed of an entry, drawn at random and played again, is not what it says; None where it is."""
    run = random.randrange(len(entry.seeds))
    again = play(entry.config, entry.seeds[run:run + 1])
    said, found = (one.late(entry.config.steps)[at].item() for one, at in ((entry, run), (again, 0)))
    if abs(said - found) <= APART:
        return None
    names = [f"{ENOUGH} right " + ("in no test" if step is None else f"at step {step}")
             for step in (entry.reached[run], again.reached[0])]
    return f"it says that seed {entry.seeds[run]} was {names[0]}; played again here, it was {names[1]}."


@torch.no_grad()
def leak(model, tokens: Tensor | None = None) -> int | None:
    """The first token whose output depends on a later one, counted from 0; None where there is none.

    For each position it puts other tokens in the place of all that come later, in four ways, and watches the outputs up
    to there.

    Args:
        model: tokens (B, n) -> (B, n, ...).
        tokens: documents to try it with, whole numbers (B, n); four of the tests by default. The others are drawn from
            the vocabulary, or from 0 up to the largest of these if that is more.
    """
    tokens = tests(4)[0] if tokens is None else tokens
    if tokens.ndim != 2 or tokens.is_floating_point() or tokens.shape[1] < 2:
        raise ValueError(f"tokens must be whole numbers (B, n), two a document or more, got {tokens.dtype} of shape "
                         f"{tuple(tokens.shape)}")
    tokens, chance = tokens.repeat(4, 1), torch.Generator().manual_seed(0)
    kinds, before = max(VOCABULARY, int(tokens.max()) + 1), model(tokens)
    for i in range(tokens.shape[1] - 1):
        later, changed = tokens[:, i + 1:], tokens.clone()
        other = torch.randint(1, kinds, later.shape, generator=chance).to(tokens.device)  # never the same token again
        changed[:, i + 1:] = (later + other) % kinds
        if not torch.allclose(model(changed)[:, :i + 1], before[:, :i + 1], atol=1e-5):
            return i
    return None


def welch(a: Tensor, b: Tensor) -> float:
    """Welch's one-sided test: how likely means as far apart as these are, a above b, if a's mean is not above b's.

    Source:
        Welch 1947, "The generalization of 'Student's' problem when several different population variances are
        involved", with the degrees of freedom of Satterthwaite.
    """
    a, b = a.double(), b.double()
    parts = [x.var().item() / len(x) for x in (a, b)]
    apart = (a.mean() - b.mean()).item()
    if sum(parts) == 0:
        return 0.0 if apart > 0 else 1.0
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(x) - 1) for part, x in zip(parts, (a, b)))
    return student_tail(apart / sum(parts) ** 0.5, freedom)


def student_tail(t: float, freedom: float) -> float:
    """The probability that a variable of Student's distribution is above t, by Simpson's rule on its angle.

    With t = sqrt(f) tan(u) the density is proportional to cos(u)^(f - 1), for u from -pi / 2 to pi / 2.
    """
    u = torch.linspace(math.atan(t / freedom ** 0.5), math.pi / 2, 2001, dtype=torch.float64)
    heights = u.cos().clamp(min=0) ** (freedom - 1)
    weights = torch.ones_like(u)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.pi ** 0.5
    return float((weights * heights).sum() * (u[1] - u[0]) / 3 * scale)
