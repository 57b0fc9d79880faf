"""Make learn.json: `python -m tools.make_learn` trains 900 small transformers, in about a quarter of an hour on one
core. A test trains some again, drawn at random.
"""
import json
import sys

import torch

from mha.lab.assets.learned import CLOSELY, EARLY, EXPERIMENTS, LEARN, STEPS
from mha.lab.train import words

RUNS = 100
UNSEEN = ". so good cake and good news".split()


def rounded(tensor, digits=4):
    return [rounded(part, digits) if part.dim() else round(part.item(), digits) for part in tensor]


def looks_of(weights, denied):
    """(h, 2, 4) from the weights (4096, h, 8, 8) of a run: of the last noun on itself, adjective, adverb, the rest."""
    last = weights[..., -1, :].flip(-1)
    parts = torch.cat([last[..., :3], last[..., 3:].sum(-1, keepdim=True)], -1)
    return torch.stack([parts[denied].mean(0), parts[~denied].mean(0)], 1)


@torch.no_grad()
def ended(build, early, numbers, closely):
    """What one run came to, from its numbers (1, P) after 200 and after 500 steps; closely: its heads too."""
    texts = words.every_text()[None]

    def guesses(numbers, **options):
        logits, weights = words.read(build, numbers, texts[..., :-1], last=True, **options)
        return logits[0, :, 0], weights

    logits, weights = guesses(numbers)
    hits = logits.argmax(-1) == texts[0, :, -1]
    cost = torch.nn.functional.cross_entropy(logits, texts[0, :, -1])
    found = {"right": hits.sum().item(), "loss": round(cost.item(), 4)}
    if not closely:
        return found
    denied = texts[0, :, words.N - 3] == words.ADVERB
    silenced = [guesses(numbers, off=(head,))[0].argmax(-1) == texts[0, :, -1] for head in range(build.heads)]
    without = [[hit[which].double().mean() for which in (denied, ~denied)] for hit in silenced]
    unseen = torch.tensor([[[words.WORDS.index(word) for word in UNSEEN]]])
    said = words.read(build, numbers, unseen, last=True)[0].argmax()
    return found | {"early": (guesses(early)[0].argmax(-1) == texts[0, :, -1]).sum().item(),
                    "looks": rounded(looks_of(weights[0], denied)), "without": rounded(torch.tensor(without)),
                    "unseen": words.WORDS[said]}


def judged_closely(name, numbers):
    """What runs of an experiment came to, from their numbers (2, R, P) after 200 and 500 steps."""
    built, _, _ = EXPERIMENTS[name]
    runs = [ended(words.BUILDS[built], *run[:, None], name in CLOSELY) for run in numbers.unbind(1)]
    return {field: [run[field] for run in runs] for field in runs[0]}


def made(name, seeds):
    """What runs of an experiment came to, one a seed."""
    built, rate, _ = EXPERIMENTS[name]
    numbers = words.fit_words(words.BUILDS[built], seeds, rate, STEPS)[0]
    return judged_closely(name, numbers[[EARLY // 10, STEPS // 10]])


def first_run():
    """The losses of the run that the figure opens with: (51, 2)."""
    return rounded(words.fit_words(words.BUILDS["two heads"], torch.tensor([5]), 0.02, STEPS)[1][:, 0, :2])


def store(found):
    lines = [f"{json.dumps(name)}: {{\n" + ",\n".join(
        f" {json.dumps(field)}: {json.dumps(value, separators=(',', ':'))}" for field, value in runs.items()) + "}"
        for name, runs in found.items()]
    lines.append(f'"first run": {json.dumps(first_run())}')
    LEARN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main():
    found = {}
    for name, (_, _, first) in EXPERIMENTS.items():
        found[name] = made(name, torch.arange(first, first + RUNS))
        print(name, found[name]["right"], flush=True)
    store(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
