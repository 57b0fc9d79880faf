"""A ring of machines at work on one text, step by step: which scores each computes, and who waits."""
from mha import ring, viz
from mha.widgets.figure import Choice, LiveFigure, Slider

TOKENS = 256
MACHINES = [2, 4, 8]
ORDERS = ["contiguous", "zigzag"]


class RingClock(LiveFigure):
    """256 tokens under a causal mask, split over 2, 4 or 8 machines, after so many steps of the ring.

    `numbers()` gives work (steps x machines), how many scores each machine computes at each step; elapsed (1), the
    scores that were computed one after the other, since a step ends with its slowest machine; busy (1), the share of
    that time in which the machines compute.
    """

    label = "The scores of a text whose tokens lie on several machines, and when each machine computes its own."
    data = {"n": TOKENS, "machines": MACHINES, "orders": ORDERS}
    order = Choice("order of the tokens", ORDERS)
    machines = Choice("machines", [str(count) for count in MACHINES], value=1)
    step = Slider("steps done", 1, 4, 1, value=2, moves_end=True)

    def settings(self):
        """Every order, number of machines and step of theirs."""
        return ({"order": order, "machines": i, "step": step} for order in range(len(ORDERS))
                for i, count in enumerate(MACHINES) for step in range(1, count + 1))

    def numbers(self, order, machines, step):
        work = ring.pairs_of_step(TOKENS, MACHINES[machines], order=ORDERS[order])[:step].double()
        elapsed = work.amax(1).sum()
        return {"work": work.flatten(), "elapsed": elapsed[None], "busy": (work.sum(0).mean() / elapsed)[None]}

    def picture(self):
        machines, order = MACHINES[self.machines], ORDERS[self.order]
        work = ring.pairs_of_step(TOKENS, machines, order=order)[: self.step]
        alt = f"{order}, after step {self.step} of {machines}: scores of each machine."
        return viz.bars([f"machine {i}" for i in range(machines)], digits=0, alt=alt,
                        scores=work.sum(0).tolist(), of_the_last_step=work[-1].tolist())
