"""Claims about what heads of trained decoders do, decided by interventions (chapter 13)."""
from mha.lab.assets import decoder_heads, writing
from mha.lab.assets.decoders import PATHS_KEPT
from mha.lab.findings.chapter_13 import after, at
from mha.lab.folklore.claim import READING, SOME, claim

THIRTEEN, LAB = "13_heads_that_write", "13_heads_that_write_lab"


@claim("writing", "Keys carry what a token is, and values what it says.", READING, THIRTEEN)
def what_keys_carry():
    whole, keys, small = (after(swap)[:, 0].mean() for swap in ("nothing", "all keys", "keys of 5.1, of a small word"))
    own, other = after("values of 5.1").unbind(1)
    return (f"In head 5.1 of stories15M a key tells a name from a small word: with the other's keys the name's "
            f"probability falls from {whole:.2f} to {small:.2f}. It does not tell Lucy from Anna: with all keys of "
            f"another name it is {keys:.2f}. Which name it is stands in the values: those of this head rename the hero "
            f"in {int((other > own).sum())} of {own.numel()} pairs.",
            small < 0.2 < 0.9 * whole < keys and bool((other > own).all()))


@claim("writing", "If a model is worse when a head's output is set to zero, the head does something for it.", READING,
       THIRTEEN)
def worse_by_zero():
    zero, mean, _ = writing().name_off[:, :, at("0.5")].mean((1, 2))
    whole = writing().name_whole.mean()
    return (f"Set to zero, head 0.5 of stories15M lowers the probability of a name from {whole:.2f} to {zero:.2f}. Set "
            f"to its mean, it leaves {mean:.2f}. So the model counts on its constant, and hardly anything of this job "
            "hangs on what it says of a token.", zero < 0.3 < 0.8 < mean)


@claim("writing", "A head that attends to the token before is what induction heads need.", SOME, THIRTEEN)
def the_token_before():
    kept = decoder_heads("smollm2")
    scores = [float(kept.previous.mean(0)[head]) for head in ((16, 0), (11, 1))]
    whole, first, second = (float(kept.path_loss[k, PATHS_KEPT.index(kind)].mean()) for k, kind in (
        (0, "whole"), (0, "keys"), (1, "keys")))
    return (f"Two heads of SmolLM2-135M-Instruct give it {scores[0]:.2f} and {scores[1]:.2f} of their weight. Kept "
            f"from the keys of later layers, the first takes the loss of random tokens that come again from "
            f"{whole:.2f} to {first:.2f}, and the second to {second:.2f}.",
            min(scores) > 0.8 and second < 1.2 * whole < 0.4 * first)


@claim("writing", "The heads of language models have an attention sink.", SOME, LAB)
def every_model_has_a_sink():
    small, large = (decoder_heads(name) for name in ("stories15m", "smollm2"))
    counts = [int((kept.sink[0] > 0.5).sum()) for kept in (small, large)]
    return (f"Of {large.sink[0].numel()} heads of SmolLM2-135M-Instruct, {counts[1]} give a story's first token more "
            f"than half of their weight, and of {small.sink[0].numel()} heads of stories15M {counts[0]} do.",
            counts[0] == 0 and counts[1] > 50)
