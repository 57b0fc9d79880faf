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
    animal = [int((end[:, 0] > end[:, 1]).sum()) for end in (tired, wide)]
    famous = wide[findings.number_of("3.1")]
    like = int(((tired - torch.tensor([0.7, 0.2])).abs() <= 0.05).all(-1).sum())
    return (f"No model is named. Printed to one decimal, the three weights leave at most {3 * 0.05:.2f} for all other "
            f"words; of 72 heads here {like} give the animal and the street what is printed. And where the sentence "
            f"ends in \"wide\", so that \"it\" is the street, head 3.1 still gives the animal {famous[0]:.2f}, the "
            f"street {famous[1]:.2f}. The animal gets more than the street from {animal[0]} heads after \"tired\", "
            f"from {animal[1]} after \"wide\".",
            like == 0 and famous[0] > famous[1] and abs(animal[0] - animal[1]) < 8)


@claim("language", '"Coreference heads: track pronoun references across long distances"', SOME, EIGHT)
def pronouns():
    head, items, again = findings.number_of("1.3"), sentences.pronouns(), findings.pronouns(again=True)
    right, twins = int(findings.pronouns().right[head].sum()), int(findings.twins()[head].all(-1).sum())
    later, rule = int(again.right[head].sum()), int(again.embedding.sum())
    far = max(item.pronoun - item.antecedent for item in items)
    return (f"Where grammar decides, head 1.3 goes to the right mention for {right} of {len(items)} pronouns, and "
            f"{later} of {again.right.shape[-1]} written later, where a rule on embeddings gets {rule}. Where the end "
            f"of the sentence decides, it is right on both endings in {twins} of 16 pairs. The longest way in our "
            f"sentences is {far} words: about long distances they say nothing. Clark et al. (2019) report one such "
            "head of BERT, right in about two of three cases, a little less often than a system of rules, on texts cut "
            "after 128 tokens. The three functions of heads in Voita et al. (2019) do not include it.",
            right == len(items) and twins == 0 and later > rule)


@claim("language",
       '"Rare token heads: disproportionately attend to rare or out-of-vocabulary tokens"', READING, EIGHT)
def rare_tokens():
    kept, found = [one.tokens for one in real_heads().browsed], findings.rare()
    unknown = sum(tokens.count("[UNK]") for tokens in kept)
    bank = next(tokens for tokens in kept if "bank" in tokens and "river" in tokens)
    pieces, share, untrained = bank[bank.index("river") + 1:-2], found.held_out.mean(), found.best_untrained.max()
    return (f"If rare is what is meant. Head {found.best} looks most at the rarest word of the sentence, by its number "
            f"in the vocabulary, from {share:.2f} of the other words, in sentences that did not choose it; the best "
            f"offset gets {found.offset[1]:.2f}, the best of the untrained heads {untrained:.2f}. (Voita et al. 2019 "
            "found such heads in translation.) But a word of known letters that is not in the vocabulary is cut into "
            f"pieces that are: \"overflowed\" is {' '.join(pieces)}. Unknown tokens in our {len(kept)} stored "
            f"sentences: {unknown}.",
            share > 1.5 * untrained and found.lead[0] > 0.1 and unknown == 0 and len(pieces) > 1)


@claim("language",
       '"Syntactic heads: attend to grammatical relations (subject-verb, noun-adjective)"', SOME, EIGHT)
def syntax():
    found = findings.relations()
    told = {name: f"{f.held_out.mean():.2f} against {f.offset[1]:.2f}" for name, f in found.items()}
    there, back = found["nsubj"].beyond, found["from nsubj"].beyond
    to_noun, to_object, *others = (found[name].lead for name in ("det", "from dobj", "from nsubj", "from amod"))
    return ("Against the rule \"always k words away\", the best head scores, on sentences that did not choose it: from "
            f"a determiner to its noun {told['det']}; from a verb to its object {told['from dobj']}, to its subject "
            f"{told['from nsubj']}; from a noun to its adjective {told['from amod']}. Draw the sentences anew, and "
            f"the middle 95 % of leads begin at {to_noun[0]:.2f} for the first, at {to_object[0]:.2f} for the second. "
            f"Where the rule is wrong, the best heads are right in {there[0]} of {there[2]} from a subject to its verb "
            f"and in {back[0]} of {back[2]} the other way, where another gets {back[1]}.",
            to_noun[0] > 0.1 > to_object[0] and max(high for _, high in others) < 0.05)


@claim("language", '"Positional heads: attend to fixed offsets (next token, previous token)"', SOME, EIGHT)
def positions():
    near, tops = real_heads().near, real_heads().tops
    steady = int(((tops.before > 0.9) | (tops.itself > 0.9) | (tops.after > 0.9)).sum())
    (before, after), (first, last) = zip(*((top.values, findings.name_of(top.indices[0]))
                                           for top in (near.before.topk(2), near.after.topk(2))))
    return (f"One does, to the token before: head {first} gives it {before[0]:.2f} of its weight, the next best head "
            f"{before[1]:.2f}. To the token after there is a tendency only: {after[0]:.2f} in head {last}, "
            f"{after[1]:.2f} in the next. Heads that look at one such place in nine rows of ten: {steady} of "
            f"{len(near.before)}.",
            steady == 1 and before[0] > 0.9 > 0.5 > before[1] and 0.9 > after[0] > 0.4 > after[1])


@claim("language",
       "Each head has a job of its own: one for subjects, one for objects, one for pronouns.", SOME, EIGHT)
def jobs():
    found, pronouns = findings.relations(), findings.name_of(findings.pronouns().right.sum(-1).argmax())
    wins = [f.best for f in found.values() if f.lead[0] > 0]
    most, kitchen = max(wins, key=wins.count), findings.apart("det")
    table = kitchen[findings.number_of(most)].sum()
    return (f"If a job may be several. At {len(wins)} of {len(found)} relations the best head beats the best offset: "
            f"with the sentences drawn anew, the middle 95 % of its leads are above 0. {len(set(wins))} heads share "
            f"these, and head {most} has {wins.count(most)}. It does not just take the next noun: in \"the kitchen "
            f"table\" and the like \"the\" gives \"table\" more than \"kitchen\", in {table} of {kitchen.shape[1]}. "
            f"The best at pronouns, {pronouns}, has none.",
            wins.count(most) > 1 and 1 < len(set(wins)) < len(wins) and table > 0.8 * kitchen.shape[1]
            and pronouns not in wins)


@claim("language", "A head that is right in 80 % of the cases has been found to do the task.", SETTINGS, EIGHT)
def luck():
    best, one = (measure.luckiest(heads=heads, questions=30) for heads in (72, 1))
    return (f"Not if it was searched for. The luckiest of 72 heads that toss coins gets {round(30 * best)} or more of "
            f"30 right in one try of twenty; one head that was chosen before, {round(30 * one) + 1} or more.",
            best >= 0.8 > one)


@claim("language", "A large weight means that much is handed on.", SETTINGS, EIGHT)
def sinks():
    got, handed = real_heads().sinks.cls.mean(), real_heads().sinks_carried.cls.mean()
    rank = real_heads().carried_rank
    words, every = rank.words.mean(), rank.all_tokens.mean()
    other = CLS_HANDED_ON["mean of row shares"][0]
    return (f"Among words. Within a row, weight and length handed on have a rank correlation of {words:.2f}, in the "
            f"mean of the 72 heads; with [CLS] and [SEP] it is {every:.2f}. [CLS], which stands for no word, gets "
            f"{got:.2f} of all weight, and hands on {handed:.2f} of the length as a ratio of sums, {other:.2f} as a "
            "mean of row shares: its values are short. Whether a token matters is another question: take it away.",
            got > 0.4 and handed < 0.1 and words > 0.85 and words - every > 0.05)


@claim("language", "The map of a trained model shows the pattern, so the mechanism is there.", SOME, EIGHT)
def a_fraud():
    high, low = 0.9, 0.1
    honest, fraud = (induction_runs(kind) for kind in ("two layers", "one layer, fixed period"))
    prefix = fraud.at_period(16).prefix.amax(-1).amax(-1)
    far, near = fraud.at_period(10).accuracy, honest.at_period(10).accuracy
    return ("If it survives a change. A model trained on patterns that repeat after 16 tokens has the map of an "
            f"induction head, with a score above {high} in all {len(prefix)} runs. After 10 tokens its share of right "
            f"answers is below {low}, that of an honest model above {high}: it counts and does not compare.",
            prefix.min() > high and far.max() < low and near.min() > high)


@claim("language", "Induction heads need two layers.", SETTINGS, EIGHT)
def two_layers():
    high, low, good = 0.9, 0.6, 0.8
    two, one, smeared = (induction_runs(kind).at_period(16).accuracy
                         for kind in ("two layers", "one layer", "one layer, smeared keys"))
    return (f"If keys hold no neighbour, in our runs of one size. The share of right answers is above {high} in all "
            f"{len(two)} runs of two layers, and below {low} in all of one layer; but one layer whose keys are mixed "
            f"with the key before them gets above {good}.",
            two.min() > high and one.max() < low and smeared.min() > good)


@claim("language", '"Head 3: Causality", from "didn\'t cross" to "tired".', NOT_FOUND, HERE)
def causality():
    seen = []
    for end, one, given in zip(("tired", "wide"), real_heads().browsed, real_heads().cross):          # (72, n)
        kept = [i for i, token in enumerate(one.tokens) if token not in ("[CLS]", "[SEP]", "cross")]
        seen.append((given[:, one.tokens.index(end)], given[:, kept].argmax(-1) == kept.index(one.tokens.index(end))))
    (tired, first), (_, last) = seen
    piece = real_heads().browsed[0].maps[:, :, 3:6, 13].amax(-1).flatten() / 255   # "didn", "'" and "t" to "tired"
    return (f"The most that a head here gives \"tired\" is {tired.max():.2f} from \"cross\" and {piece.max():.2f} from "
            f"a piece of \"didn't\" ({findings.name_of(int(piece.argmax()))}). From \"cross\" it gets more than any "
            f"word or mark but \"cross\" itself in {int(first.sum())} of 72, \"wide\" in {int(last.sum())}, each in "
            f"its sentence, and in {int((first & last).sum())} both. One sentence and its twin prove nothing. Neither "
            "Clark et al. nor Voita et al. (2019) report such heads.",
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
    greedy, costly, (drawn, low, middle, high) = gone("greedy"), gone("most costly first"), gone_by_chance("random")
    random = pruning().curves["random"].mean                                                   # (73,)
    found, whole, half, none = random.found[-1], *(random.loss[heads] for heads in (0, 36, 72))
    return (f"It depends on the order and on the test. Sentence vectors keep a cosine of 0.9 while {greedy} of 72 "
            f"heads go in the greedy order, chosen on some of these sentences, {middle} in the median of {drawn} "
            f"random ones (nine in ten from {low} to {high}), {costly} with the costliest first. With no head at all "
            f"{found:.2f} of the sentences still find their counterpart, so a count of hits hides the harm. The loss "
            f"of the same task shows it: {whole:.3f} with all heads, {half:.3f} without a random half, in the mean of "
            f"five, {none:.3f} with none.",
            greedy > high and greedy > 2 * middle and found > 0.8 and 2 * whole < half < none / 2)


@claim("pruning", '"Not all heads are equally important"', RIGHT, NINE)
def unequal():
    alone = pruning().alone
    costly, by_loss = (cost.flatten().topk(12).indices // 12 for cost in (alone, pruning().rises.mean(0)))
    size, (drawn, _, middle, _) = gone("mean size of the gradient"), gone_by_chance("random")
    _, low, in_place, high = gone_by_chance("random, last layer last")
    spread = (alone.amax(-1) / alone.amin(-1)).min()
    return ("By the cosine with the whole model's vectors much of it is place: the twelve of 72 heads that cost most "
            f"alone are the twelve of layer 5, the last (by the matching loss, {int((by_loss == 5).sum())} of twelve "
            "are). Within each layer, too, the costliest head costs, in cosine, at least "
            f"{math.floor(spread)} times as much as the cheapest. Of {drawn} orders that spare the last layer and are "
            f"random but for that the median lets {in_place} heads go at a cosine of 0.9 (nine in ten from {low} to "
            f"{high}); of wholly random orders {middle}; the mean size of the gradient {size}.",
            set(costly.tolist()) == {5} and spread > 3 and in_place > 1.5 * middle)


@claim("pruning", "The derivative of the loss at a head's gate tells how much the head matters.", READING, NINE_LAB)
def derivative():
    nothing, stored = 1e-6, pruning()
    def together(a, b):
        return measure.rank_correlation(a.flatten(), b.flatten())
    rises, mean = stored.rises, stored.slope.abs()
    (each, by_mean), (of_mean, mean_by_mean) = ([together(score, rise) for score in (stored.size, mean)]
                                                for rise in (rises.abs().mean(0), rises.mean(0).abs()))
    return ("If sizes are averaged where sizes are meant, of a loss that is not at its best. With the mean size of "
            f"the rise of a sentence's loss the mean of the sizes has a rank correlation of {each:.2f}, the size of "
            f"the mean {by_mean:.2f}; with the size of the mean rise {of_mean:.2f} and {mean_by_mean:.2f}. For the "
            f"cosine with the whole model's own vectors all derivatives are below {nothing:.0e}: at its best a loss is "
            "flat.",
            each > 0.9 > 0.7 > by_mean and mean_by_mean > of_mean and stored.flat_gradient.abs().max() < nothing)
