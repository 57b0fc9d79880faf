"""Claims about what the heads of trained models do, and which of them can go."""
import math

import torch

from mha.lab import measure, sentences
from mha.lab.assets import induction_runs, pruning, real_heads
from mha.lab.findings import heads as findings
from mha.lab.folklore.choices import CLS_HANDED_ON
from mha.lab.folklore.claim import HERE, NOT_FOUND, READING, RIGHT, SETTINGS, SOME, claim

EIGHT, NINE, NINE_LAB = "08_what_heads_do", "09_pruning", "09_pruning_lab"


# --- What heads do ----------------------------------------------------------------------------------------------------

@claim("language",
       '"This shows the model correctly identifies "it" refers to "animal"!", of the weights animal 0.7, street 0.2, '
       'cross 0.1.', NOT_FOUND, EIGHT)
def the_animal():
    tired, wide = (findings.from_it(ending) for ending in ("tired", "wide"))  # (72, 2): on "animal", on "street"
    animal = torch.stack([end[:, 0] > end[:, 1] for end in (tired, wide)])    # (2, 72): more than the street
    first, then = animal.sum(1).tolist()
    right, wrong = int((animal[0] & ~animal[1]).sum()), int((animal[1] & ~animal[0]).sum())
    like = int(((tired - torch.tensor([0.7, 0.2])).abs() <= 0.05).all(-1).sum())
    return (f"No model is named, and {like} of our encoder's 72 heads give the animal and the street what is printed. "
            f"In this sentence few follow the meaning either: the animal gets more than the street from {first} heads "
            f"after \"tired\", and from {then} after \"wide\", where \"it\" is the street. {right} heads are right "
            f"both times, and {wrong} wrong.",
            like == 0 and animal[1, findings.number_of("3.1")] and right <= wrong < 8)


@claim("language", '"Coreference heads: track pronoun references across long distances"', SOME, EIGHT)
def pronouns():
    head, items, again = findings.number_of("1.3"), sentences.pronouns(), findings.pronouns(again=True)
    right, twins = int(findings.pronouns().right[head].sum()), int(findings.twins()[head].all(-1).sum())
    later, rule = int(again.right[head].sum()), int(again.embedding.sum())
    far = max(item.pronoun - item.antecedent for item in items)
    return (f"Where grammar decides, head 1.3 of our encoder finds the right mention for {right} of {len(items)} "
            f"pronouns, and for {later} of {again.right.shape[-1]} written later, where a rule on embeddings finds "
            f"{rule}. Where meaning decides, it is right on both endings in {twins} of 16 pairs. Our longest "
            f"distance is {far} words, so long ones are not tested.",
            right == len(items) and twins == 0 and later > rule)


@claim("language",
       '"Rare token heads: disproportionately attend to rare or out-of-vocabulary tokens"', READING, f"{EIGHT}_lab")
def rare_tokens():
    kept, found = [one.tokens for one in real_heads().browsed], findings.rare()
    unknown = sum(tokens.count("[UNK]") for tokens in kept)
    bank = next(tokens for tokens in kept if "bank" in tokens and "river" in tokens)
    pieces, share, untrained = bank[bank.index("river") + 1:-2], found.held_out.mean(), found.best_untrained.max()
    return (f"On sentences that did not choose it, head {found.best} attends most to the rarest word, by its index in "
            f"the vocabulary, from {share:.2f} of the other words. The best offset gets {found.offset[1]:.2f}, and the "
            f"best untrained head {untrained:.2f}. Unknown tokens are another matter: our {len(kept)} stored "
            f"sentences hold {unknown}, because unknown words of known letters are split, such as {' '.join(pieces)}.",
            share > 1.5 * untrained and found.lead[0] > 0.1 and unknown == 0 and len(pieces) > 1)


@claim("language",
       '"Syntactic heads: attend to grammatical relations (subject-verb, noun-adjective)"', SOME, EIGHT)
def syntax():
    found = findings.relations()
    told = {name: f"{f.held_out.mean():.2f} against {f.offset[1]:.2f}" for name, f in found.items()}
    to_noun, to_object, *others = (found[name].lead for name in ("det", "from dobj", "from nsubj", "from amod"))
    return (f"From a determiner to its noun the best head scores {told['det']} for the best fixed offset, on "
            f"sentences that did not choose it; the middle 95 % of its resampled leads begins at {to_noun[0]:.2f}. "
            f"From a verb to its object that interval begins at {to_object[0]:.2f}. From a verb to its subject, "
            f"{told['from nsubj']}, and from a noun to its adjective, {told['from amod']}, there is no lead, and the "
            f"other way, {told['nsubj']} and {told['amod']}, none that is sure.",
            to_noun[0] > 0.1 > to_object[0] and max(high for _, high in others) < 0.05
            and max(found["nsubj"].lead[0], found["amod"].lead[0]) < 0)


@claim("language", '"Positional heads: attend to fixed offsets (next token, previous token)"', SOME, EIGHT)
def positions():
    near, tops = real_heads().near, real_heads().tops
    steady = int(((tops.before > 0.9) | (tops.itself > 0.9) | (tops.after > 0.9)).sum())
    (before, after), (first, last) = zip(*((top.values, findings.name_of(top.indices[0]))
                                           for top in (near.before.topk(2), near.after.topk(2))))
    return (f"One head of 72 does: {first} gives the token before {before[0]:.2f} of its weight, and the next best "
            f"head {before[1]:.2f}. To the token after there is a tendency, {after[0]:.2f} in head {last} and "
            f"{after[1]:.2f} in the next.",
            steady == 1 and before[0] > 0.9 > 0.5 > before[1] and 0.9 > after[0] > 0.4 > after[1])


@claim("language",
       "Each head has a job of its own: one for subjects, one for objects, one for pronouns.", SOME, EIGHT)
def jobs():
    found, pronouns = findings.relations(), findings.name_of(findings.pronouns().right.sum(-1).argmax())
    wins = [f.best for f in found.values() if f.lead[0] > 0]
    most, kitchen = max(wins, key=wins.count), findings.apart("det")
    table = kitchen[findings.number_of(most)].sum()
    return (f"One head may do several. At {len(wins)} of {len(found)} relations the best head beats the best fixed "
            f"offset with the middle 95 % of resampled leads above 0, scored on sentences that were not drawn "
            f"to choose it. {len(set(wins))} heads win these; {most} wins {wins.count(most)} of them, and the best at "
            f"pronouns, {pronouns}, wins none.",
            wins.count(most) > 1 and 1 < len(set(wins)) < len(wins) and table > 0.8 * kitchen.shape[1]
            and pronouns not in wins)


@claim("language", "A head that is right in 80 % of the cases has been found to do the task.", SETTINGS, EIGHT)
def luck():
    best, one = (measure.luckiest(heads=heads, questions=30) for heads in (72, 1))
    few = measure.luckiest(heads=1, questions=10)
    return ("Of 30 cases with two answers, luck is ruled out if the head was chosen before, but a fixed offset still "
            f"is not. The luckiest of 72 heads that toss coins gets at least {round(30 * best)} of them right in one "
            f"try of twenty, and a single one at least {round(30 * one) + 1}. Of 10 cases a single one gets at least "
            f"{round(10 * few)} about as often.",
            best >= 0.8 > one and few >= 0.8)


@claim("language", "A large weight means that much is handed on.", SETTINGS, EIGHT)
def sinks():
    got, handed = real_heads().sinks.cls.mean(), real_heads().sinks_carried.cls.mean()
    rank = real_heads().carried_rank
    words, every = rank.words.mean(), rank.all_tokens.mean()
    other = CLS_HANDED_ON["mean of row shares"][0]
    return ("Among words it does: on average over our encoder's 72 heads, weight and the length handed on have a rank "
            f"correlation of {words:.2f} within a row. But [CLS] gets {got:.2f} of all weight and hands on "
            f"{handed:.2f} of the total length of weighted values, or {other:.2f} as a mean over rows, because its "
            "values are short.",
            got > 0.4 and handed < 0.1 and words > 0.85 and words - every > 0.05)


@claim("language", "The map of a trained model shows the pattern, so the mechanism is there.", SOME, EIGHT)
def a_fraud():
    high, low = 0.9, 0.1
    honest, fraud = (induction_runs(kind) for kind in ("two layers", "one layer, fixed period"))
    prefix = fraud.at_period(16).prefix.amax(-1).amax(-1)
    far, near = fraud.at_period(10).accuracy, honest.at_period(10).accuracy
    return ("One layer trained on text that repeats after 16 tokens has the map of an induction head, with a score "
            f"above {high} in all {len(prefix)} runs. Let the text repeat after 10, and it gets less than {low} of "
            f"the tokens right, where two layers get more than {high}: it counts positions, and does not compare "
            "tokens.",
            prefix.min() > high and far.max() < low and near.min() > high)


@claim("language", "Induction heads need two layers.", SETTINGS, EIGHT)
def two_layers():
    high, low, good = 0.9, 0.6, 0.8
    two, one, smeared = (induction_runs(kind).at_period(16).accuracy
                         for kind in ("two layers", "one layer", "one layer, smeared keys"))
    return (f"They do in our runs of one size, if no key is mixed with the one before it: all {len(two)} runs of two "
            f"layers get more than {high} of the tokens right, and all of one layer less than {low}. One layer whose "
            f"keys are mixed with the key before them gets more than {good}.",
            two.min() > high and one.max() < low and smeared.min() > good)


@claim("language", '"Head 3: Causality", from "didn\'t cross" to "tired".', NOT_FOUND, HERE)
def causality():
    seen = []
    for end, one, given in zip(("tired", "wide"), real_heads().browsed, real_heads().cross):          # (72, n)
        kept = [i for i, token in enumerate(one.tokens) if token not in ("[CLS]", "[SEP]", "cross")]
        seen.append((given[:, one.tokens.index(end)], given[:, kept].argmax(-1) == kept.index(one.tokens.index(end))))
    (tired, first), (_, last) = seen
    piece = real_heads().browsed[0].maps[:, :, 3:6, 13].amax(-1).flatten() / 255   # "didn", "'" and "t" to "tired"
    return (f"No head of our encoder gives \"tired\" more than {tired.max():.2f} from \"cross\", or more than "
            f"{piece.max():.2f} from a piece of \"didn't\". With [CLS] and [SEP] left out, the last word gets more "
            f"from \"cross\" than any token but \"cross\" itself in {int(first.sum())} of 72 heads if it is "
            f"\"tired\", in {int(last.sum())} if it is \"wide\", and in {int((first & last).sum())} in both cases.",
            max(tired.max(), piece.max()) < 0.4 and first.sum() < 18)


# --- Which can go -----------------------------------------------------------------------------------------------------

def gone(kind):
    """How many heads are gone while the cosine is 0.9 or more, in the one order of a kind."""
    return int(pruning().curves[kind].heads_gone())


def gone_by_chance(kind):
    """The same of many random orders: how many there are, and of how many are gone the 5 %, the median, the 95 %."""
    counts = pruning().chance[kind].double()
    return len(counts), *(int(counts.quantile(q, interpolation="nearest")) for q in (0.05, 0.5, 0.95))


@claim("pruning", '"Studies find that pruning many heads has minimal impact"', SETTINGS, NINE)
def many_heads():
    greedy, costly, (drawn, _, middle, high) = gone("greedy"), gone("most costly first"), gone_by_chance("random")
    random = pruning().curves["random"].mean                                                   # (73,)
    found, whole, half, none = random.found[-1], *(random.loss[heads] for heads in (0, 36, 72))
    return (f"It depends on the order: our encoder's sentence vectors keep a cosine of 0.9 while {greedy} of 72 heads "
            f"go in an order chosen greedily on some of these sentences, {middle} in the median of {drawn} random "
            f"ones, and {costly} with the costliest first. It depends on the test, too: with no head at all "
            f"{found:.2f} of the sentences still find their counterpart, while the loss rises from {whole:.3f} to "
            f"{none:.3f}.",
            greedy > high and greedy > 2 * middle and found > 0.8 and 2 * whole < half < none / 2)


@claim("pruning", '"Not all heads are equally important"', RIGHT, NINE)
def unequal():
    alone = pruning().alone
    costly, by_loss = (cost.flatten().topk(12).indices // 12 for cost in (alone, pruning().rises.mean(0)))
    (*_, middle, _), (*_, in_place, _) = map(gone_by_chance, ("random", "random, last layer last"))
    spread = (alone.amax(-1) / alone.amin(-1)).min()
    return ("Ablated one by one, the twelve heads of 72 that cost most in cosine are those of the last layer, and by "
            f"the matching loss {int((by_loss == 5).sum())} of twelve are. The layer is not all: within each layer the "
            f"costliest head costs at least {math.floor(spread)} times as much, in cosine, as the cheapest.",
            set(costly.tolist()) == {5} and spread > 3 and in_place > 1.5 * middle)


@claim("pruning", "The derivative of the loss at a head's gate tells how much the head matters.", READING, NINE_LAB)
def derivative():
    nothing, stored = 1e-6, pruning()
    def together(a, b):
        return measure.rank_correlation(a.flatten(), b.flatten())
    rises, mean = stored.rises, stored.slope.abs()
    (each, by_mean), (of_mean, mean_by_mean) = ([together(score, rise) for score in (stored.size, mean)]
                                                for rise in (rises.abs().mean(0), rises.mean(0).abs()))
    return ("It does if both are averaged alike. With the mean size of the rise in the loss, the mean size of the "
            f"derivative has a rank correlation of {each:.2f} and the size of its mean {by_mean:.2f}; with the size of "
            f"the mean rise they have {of_mean:.2f} and {mean_by_mean:.2f}. At its best a loss is flat: for the cosine "
            f"with the model's own vectors all derivatives are below {nothing:.0e}.",
            each > 0.9 > 0.7 > by_mean and mean_by_mean > of_mean and stored.flat_gradient.abs().max() < nothing)
