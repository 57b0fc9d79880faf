"""Claims about what the heads of trained models do, and which of them can go."""
import torch

from mha import findings, measure, sentences
from mha.assets import PRUNING_ORDERS, pruning, real_heads
from mha.folklore.claim import CONDITION, NOT_FOUND, RIGHT, WRONG, claim
from mha.induction import induction_runs

EIGHT, NINE = "08_what_heads_do", "09_pruning"


# --- What heads do ----------------------------------------------------------------------------------------------------

@claim("language", '"This shows the model correctly identifies "it" refers to "animal"!", of the weights animal 0.7, street 0.2, cross 0.1.', NOT_FOUND, EIGHT)
def the_animal():
    tired, wide = (findings.from_it(ending) for ending in ("tired", "wide"))                   # (72, 2): on "animal", on "street"
    animal = [int((end[:, 0] > end[:, 1]).sum()) for end in (tired, wide)]
    famous, left = wide[findings.number_of("3.1")], 1 - (0.7 + 0.2 + 0.1)
    return (f"The three weights are made up: they leave {abs(left):.1f} for the other words. And where the sentence ends in \"wide\", so that \"it\" is the street, head 3.1 still "
            f"gives the animal {famous[0]:.2f}, the street {famous[1]:.2f}. Of 72 heads {animal[0]} prefer the animal to the street after "
            f"\"tired\", {animal[1]} after \"wide\".",
            abs(left) < 1e-9 and famous[0] > famous[1] and abs(animal[0] - animal[1]) < 8)


@claim("language", '"Coreference heads: track pronoun references across long distances"', CONDITION, EIGHT)
def pronouns():
    head, items = findings.number_of("1.3"), sentences.pronouns()
    right, twins = int(findings.pronouns()[0][head].sum()), int(findings.twins()[head].all(-1).sum())
    far = max(item.pronoun - item.antecedent for item in items)
    return (f"Where grammar decides, head 1.3 goes to the right mention for {right} of {len(items)} pronouns. Where the end of the sentence decides, it is "
            f"right on both endings in {twins} of 16 pairs. The longest way in our sentences is {far} words: about long distances they say nothing.",
            right == len(items) and twins == 0)


@claim("language", '"Rare token heads: disproportionately attend to rare or out-of-vocabulary tokens"', NOT_FOUND, EIGHT)
def rare_tokens():
    kept = [tokens for name, tokens in real_heads().items() if name.startswith("tokens.")]
    every = [token for tokens in kept for token in tokens]
    unknown, bank = every.count("[UNK]"), next(tokens for tokens in kept if "bank" in tokens and "river" in tokens)
    pieces = bank[bank.index("river") + 1:-2]
    return (f"A word that is not in the vocabulary is cut into pieces that are: \"overflowed\" is {' '.join(pieces)}. Of {len(every)} tokens in our "
            f"{len(kept)} stored sentences {unknown} are unknown. Whether a head seeks rare words was not measured; the finding is that of Voita et al. 2019.",
            unknown == 0 and len(pieces) > 1)


@claim("language", '"Syntactic heads: attend to grammatical relations (subject-verb, noun-adjective)"', CONDITION, EIGHT)
def syntax():
    found = findings.relations()
    def told(name):
        return f"{found[name].held_out.mean():.2f} against {found[name].offset[1]:.2f}"
    gain = {name: float(f.held_out.mean()) - f.offset[1] for name, f in found.items()}
    return ("Against the rule \"always k words away\", the best head scores, on words that did not choose it: from a verb to its object "
            f"{told('from dobj')}; from a verb to its subject {told('from nsubj')}; from a noun to its adjective {told('from amod')}. Where an "
            "offset is always right, nothing can be found.", gain["from dobj"] > 0.1 and gain["from nsubj"] < 0.05 and gain["from amod"] < 0.05)


@claim("language", '"Positional heads: attend to fixed offsets (next token, previous token)"', RIGHT, EIGHT)
def positions():
    near, tops = real_heads()["near"], real_heads()["tops"]
    before, after = near[:, 0].argmax(), near[:, 2].argmax()
    return (f"Head {findings.name_of(before)} gives the token before {near[before, 0]:.2f} of its weight, head {findings.name_of(after)} the token after "
            f"{near[after, 2]:.2f}. Heads with one such place in nine rows of ten: {int((tops > 0.9).any(-1).sum())} of {len(tops)}.",
            near[before, 0] > 0.9 and near[after, 2] > 0.4)


@claim("language", "Each head has a job of its own: one for subjects, one for objects, one for pronouns.", WRONG, EIGHT)
def jobs():
    winners = [f.best for f in findings.relations().values()]
    most = max(set(winners), key=winners.count)
    return (f"In this model {len(set(winners))} heads are the best at {len(winners)} relations, and head {most} at {winners.count(most)} of them: it goes to "
            "the noun on its right, which serves several.", winners.count(most) > 1 and len(set(winners)) < len(winners))


@claim("language", "A head that is right in 80 % of the cases has been found to do the task.", CONDITION, EIGHT)
def luck():
    best, one = (measure.luckiest(heads=heads, questions=30) for heads in (72, 1))
    return (f"Not if it was searched for. The luckiest of 72 heads that toss coins gets up to {round(30 * best)} of 30 right, in 95 of 100 tries; one head "
            f"that was chosen before, {round(30 * one)}.", best >= 0.8 > one)


@claim("language", "A large weight means that much is handed on.", WRONG, EIGHT)
def sinks():
    got, handed = (real_heads()[name].mean(0)[0] for name in ("sinks", "sinks_carried"))
    return (f"[CLS], which stands for no word, gets {got:.2f} of all weight, and hands on {handed:.2f} of the length: its values are short. Whether a token matters is another question: take it away and look.",
            got > 0.4 and handed < 0.1)


@claim("language", "The map of a trained model shows the pattern, so the mechanism is there.", CONDITION, EIGHT)
def a_fraud():
    high, low = 0.9, 0.1
    honest, fraud = (induction_runs(kind) for kind in ("two layers", "one layer, fixed period"))
    at = {p: fraud.periods.tolist().index(p) for p in (10, 16)}
    prefix, far, near = fraud.tests.prefix[:, at[16]].amax(-1).amax(-1), fraud.tests.accuracy[:, at[10]], honest.tests.accuracy[:, at[10]]
    return (f"If it survives a change. A model trained on patterns that repeat after 16 tokens has the map of an induction head, with a score above {high} "
            f"in all {len(prefix)} runs. After 10 tokens its share of right answers is below {low}, that of an honest model above {high}: it counts and does "
            "not compare.", prefix.min() > high and far.max() < low and near.min() > high)


@claim("language", "Induction heads need two layers.", CONDITION, EIGHT)
def two_layers():
    high, low, good = 0.9, 0.6, 0.8
    def accuracy(kind):
        runs = induction_runs(kind)
        return runs.tests.accuracy[:, runs.periods.tolist().index(16)]
    two, one, smeared = map(accuracy, ("two layers", "one layer", "one layer, smeared keys"))
    return (f"If keys hold no neighbour. The share of right answers is above {high} in all {len(two)} runs of two layers, and below {low} in all of one "
            f"layer; but one layer whose keys are mixed with the key before them gets above {good}.",
            two.min() > high and one.max() < low and smeared.min() > good)


# --- Which can go -----------------------------------------------------------------------------------------------------

@claim("pruning", '"Studies find that pruning many heads has minimal impact"', CONDITION, NINE)
def many_heads():
    least = 0.9
    curves = dict(zip(PRUNING_ORDERS, pruning()["curves"].double()))                           # name -> (73, 3)
    def gone(name):
        return int((curves[name][:, 0] >= least).double().cumprod(0).sum()) - 1
    chance = [gone(name) for name in PRUNING_ORDERS if name.startswith("random")]
    none = curves["greedy"][-1]
    return (f"It depends on the order and on the test. Sentence vectors keep a cosine of {least} while {gone('greedy')} of 72 heads go in the greedy "
            f"order, {min(chance)} to {max(chance)} in {len(chance)} random ones, {gone('most costly first')} with the costliest first. But with no head at all "
            f"{none[1]:.2f} of the sentences still find their counterpart: that test can hardly tell.", gone("greedy") > 2 * max(chance) and none[1] > 0.8 and none[0] < 0.8)


@claim("pruning", '"Not all heads are equally important"', CONDITION, NINE)
def unequal():
    alone = pruning()["alone"]
    costly, others = alone.flatten().topk(12).indices // 12, alone[:5].flatten()
    return (f"In their places. The twelve of 72 heads that cost most alone are the twelve of layer {', '.join(map(str, sorted(set(costly.tolist()))))}, the last. In "
            f"the other layers a head costs {others.median():.4f} of the cosine in the middle and {others.max():.4f} at most.",
            set(costly.tolist()) == {5} and others.max() > 3 * others.median())


@claim("pruning", "The derivative of the loss at a head's gate tells how much the head matters.", CONDITION, NINE)
def derivative():
    nothing, stored = 1e-6, pruning()
    def together(a, b):
        return torch.corrcoef(torch.stack([x.flatten().argsort().argsort().double() for x in (a, b)]))[0, 1]
    sizes, mean = together(stored["size"], stored["alone"]), together(stored["slope"].abs(), stored["alone"])
    return (f"If sizes are averaged, of a loss that is not at its best. With what a head costs alone the mean of the sizes has a rank correlation of {sizes:.2f}, the "
            f"size of the mean {mean:.2f}. For the cosine with the whole model's own vectors all derivatives are below {nothing:.0e}: at its best a loss is flat.",
            sizes > 0.7 > mean and stored["flat_gradient"].abs().max() < nothing)
