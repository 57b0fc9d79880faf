"""The tables of chapter 11: layers that share keys and values (`mha.lab.assets.shared_runs`), and a decoder whose heads
are pooled (`mha.lab.assets.pooled`).
"""
from mha import viz
from mha.lab.assets import pooled, shared_runs
from mha.lab.assets.decoder import KV_HEADS, STEPS, TRAINED
from mha.lab.train import slices_floor


# --- Layers that share ----------------------------------------------------------------------------------------------

def same_task() -> viz.Table:
    """The errors of 24 runs where all heads want the same, by the number of KV heads."""
    same = {h_kv: shared_runs("same", h_kv) for h_kv in (4, 2, 1)}
    return viz.columns([f"h_kv = {h_kv}" for h_kv in same], digits=3,
                       median_error=[errors.median() for errors in same.values()],
                       worst_of_24=[errors.max() for errors in same.values()])


def slices() -> viz.Table:
    """The errors of 24 runs where each head wants its own slice of a value, beside their floor."""
    found = {h_kv: shared_runs("slices", h_kv) for h_kv in (4, 2, 1)}
    return viz.columns([f"h_kv = {h_kv}" for h_kv in found], floor=[slices_floor(h_kv) for h_kv in found],
                       least=[errors.min() for errors in found.values()],
                       median=[errors.median() for errors in found.values()],
                       most=[errors.max() for errors in found.values()])


def one_value() -> viz.Table:
    """The errors on the same task with one shared value, by its width."""
    found = {d_v: shared_runs("slices", 1, d_v=d_v) for d_v in (4, 8, 16)}
    return viz.columns([f"d_v = {d_v}" for d_v in found], corner="one shared value",
                       floor=[slices_floor(1, d_v=d_v) for d_v in found],
                       median_error=[errors.median() for errors in found.values()])


def key_numbers() -> viz.Table:
    """The median error after 1200 steps by the numbers of keys that are kept, and by how many heads share them."""
    kept = {4: (2, 1), 8: (4, 2, 1), 16: (4, 2, 1), 32: (4, 1)}       # numbers -> h_kv

    def entry(n, h_kv):
        return f"{shared_runs('fields', h_kv, d_k=n // h_kv).quantile(0.5):.2f}" if h_kv in kept[n] else ""
    return viz.columns([f"{n} key numbers stored" for n in kept], corner="1200 steps", **{
        f"h_kv = {h_kv}": [entry(n, h_kv) for n in kept] for h_kv in (4, 2, 1)})


def one_key() -> viz.Table:
    """The errors after 4800 steps where each head asks for another field, with one shared key, by its width."""
    late = {n: shared_runs("fields", 1, d_k=n, long=True) for n in (4, 8, 16)}
    return viz.columns([f"one key of {n}" for n in late], corner="4800 steps",
                       best=[errors.min() for errors in late.values()],
                       median=[errors.quantile(0.5) for errors in late.values()],
                       worst_of_24=[errors.max() for errors in late.values()])


def lost_relations() -> viz.Table:
    """How many of 24 runs lost a relation though they had room for it, after 1200 steps and after 4800."""
    roomy = (4, 4), (4, 8), (2, 8), (1, 16), (1, 32)                   # h_kv, d_k

    def lost(long):
        return [(shared_runs("fields", h_kv, d_k=d_k, long=long) > 0.2).sum() for h_kv, d_k in roomy]
    return viz.columns([f"h_kv = {h_kv}, d_k = {d_k}" for h_kv, d_k in roomy], digits=0,
                       corner="runs of 24 that lost a relation", after_1200_steps=lost(False),
                       after_4800_steps=lost(True))


# --- Heads that are pooled ------------------------------------------------------------------------------------------

def made_to_share() -> viz.Picture:
    """The loss of the decoder with three KV heads in place of six: how they were made, beside none and all."""
    stored = pooled()
    trained = stored.trained[TRAINED.index(("mean", 3)), :, -1]
    losses = {"as it is": stored.whole, "mean, then 75 steps": trained, "aligned, then mean": stored.aligned[1, 0],
              "mean": stored.mean[0], "first of each pair": stored.first[0], "no attention": stored.none}
    return viz.bars([*losses], loss_in_nats_per_token=[round(float(each.mean()), 2) for each in losses.values()])


def aligned_first() -> viz.Table:
    """The loss of the decoder with the mean of each group, by the bases in which its heads were written before."""
    stored = pooled()
    ways = {"as trained": stored.mean, "random bases": stored.turned.mean(1), "aligned matrices": stored.aligned[0],
            "aligned outputs": stored.aligned[1]}
    return viz.columns([f"h_kv = {h_kv}" for h_kv in KV_HEADS], **{name: loss.mean(-1) for name, loss in ways.items()})


def ways_to_pool() -> viz.Table:
    """The loss of the decoder by how its KV heads became fewer."""
    stored = pooled()
    ways = {"mean": stored.mean, "first of each group": stored.first, "fresh matrices": stored.random.mean(1),
            "mean of keys only": stored.keys, "mean of values only": stored.values}
    return viz.columns([f"h_kv = {h_kv}" for h_kv in KV_HEADS], **{name: loss.mean(-1) for name, loss in ways.items()})


def share_lost() -> viz.Table:
    """Which share of keys and values a mean loses, beside that of heads at right angles."""
    keys, values = (lost.mean(-1) for lost in pooled().lost[:2])
    return viz.columns([f"h_kv = {h_kv}" for h_kv in KV_HEADS], corner="share lost", keys=keys, values=values,
                       at_right_angles=[1 - h_kv / 6 for h_kv in KV_HEADS])


def one_layer_at_a_time() -> viz.Table:
    """The loss where one layer alone shares."""
    return viz.columns([f"layer {i}" for i in range(6)], corner="shared in one layer only", **{
        f"h_kv = {h_kv}": pooled().layers[:, i].mean(-1) for i, h_kv in enumerate(KV_HEADS)})


def trained_on() -> viz.Table:
    """From where to where the loss lies in three orders of the texts, as the pooled decoder is trained on."""
    after = pooled().trained.mean(-1)                                  # (ways, orders, steps)
    lows, highs = after.amin(1), after.amax(1)
    return viz.columns([f"{kind}, h_kv = {h_kv}" for kind, h_kv in TRAINED], **{
        f"{step} steps": [f"{low:.2f} to {high:.2f}" for low, high in zip(lows[:, i], highs[:, i])]
        for i, step in enumerate(STEPS)})
