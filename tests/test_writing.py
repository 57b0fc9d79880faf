"""What is stored of interventions in two trained decoders: bounds over openings, and a part made again where the
weights are at hand (`mha.lab.stories`, `mha.lab.real`).
"""
import pytest
import torch

from mha.lab import causes, openings, real, stories
from mha.lab.assets import decoder_heads, writing
from mha.lab.assets.decoders import PATHS_KEPT, TURNED, parts
from mha.lab.assets.writing import HEADS, SWAPS, TELLERS, WAYS
from mha.lab.findings import chapter_13, decoders
from tools import make_heads_of_decoders as decoders_tool, make_heads_that_write as tool


def after(swap):
    return writing().rename[:, SWAPS.index(swap)]                     # (3 openings, own and other, 45)


def teller(name):
    return writing().told[TELLERS.index(name)].nanmean(-1)            # hero, repeats, pronouns


# --- Renaming -------------------------------------------------------------------------------------------------------

def test_the_values_of_one_head_rename_all_45_in_each_of_three_openings():
    own, other = after("values of 5.1").unbind(1)
    assert own.shape == (3, 45) and (other > own).all() and (other.mean(-1) > 0.75).all() and other.min() > 0.3


def test_all_keys_of_another_name_rename_nobody_and_cost_nearly_nothing():
    for swap in ("all keys", "keys of 5.1"):
        own, other = after(swap).unbind(1)
        assert (own > other).all() and ((after("nothing")[:, 0] - own).mean(-1) < 0.02).all()


def test_no_other_head_renames_anybody():
    others = [k for k, head in enumerate(HEADS) if head != (5, 1)]
    assert writing().rename_one[:, others].max() < 0.05
    own, other = after("all values but those of 5.1").unbind(1)
    assert (own > other).all()


def test_the_keys_of_a_word_of_another_kind_hide_the_name():
    for swap in ("all keys, of a small word", "keys of 5.1, of a small word"):
        assert (after(swap)[:, 0].mean(-1) < 0.2).all()
    assert (after("keys of 5.1, of a thing")[:, 0].mean(-1) < after("nothing")[:, 0].mean(-1) - 0.15).all()


def test_a_key_tells_the_hero_from_the_friend():
    (own, friend), (swapped, first) = writing().rename_roles
    assert own.mean() < 0.5 and friend.mean() < 0.5 and (first > swapped).all() and first.mean() > 0.9


def test_the_story_goes_on_with_the_new_name():
    nothing, values, both = (writing().rename_told > 0).transpose(0, 1).flatten(3)
    for own, other, whole in ((values[:, 0], values[:, 1], False), (both[:, 0], both[:, 1], False),
                              (nothing[:, 0], nothing[:, 1], True)):
        assert own.all() if whole else other.all() and not own.any()


# --- Heads off ------------------------------------------------------------------------------------------------------

def test_without_5_1_the_name_is_gone_in_each_opening_however_it_is_switched_off():
    off = writing().name_off.mean(-1)                                 # (kinds, 3, 36)
    assert (writing().name_whole.mean(-1) > 0.8).all() and (off[:, :, chapter_13.at("5.1")] < 0.05).all()
    others = off[:, :, [k for k, head in enumerate(HEADS) if head != (5, 1)]]
    assert (others > 0.08).all() and (off.median(-1).values > 0.7).all()
    assert writing().name_first[1].sum() < 5 < 130 < writing().name_first[0].sum()


def test_what_0_5_costs_is_its_constant():
    zero, mean, resampled = writing().name_off[:, :, chapter_13.at("0.5")].mean((1, 2))
    assert zero < 0.3 < 0.8 < mean and resampled > 0.8


def test_with_shuffled_words_the_name_is_rarely_expected():
    whole, off = writing().name_shuffled.mean((1, 2))
    assert off < 0.01 < whole < 0.3


def test_stories_lose_their_hero_without_5_1_and_repeat_themselves_without_1_2_in_the_first_opening():
    assert teller("5.1 zero, opening 0")[0] < 0.1 and teller("5.1 mean, opening 0")[0] < 0.1
    assert teller("whole, opening 0")[0] > 0.9 and teller("5.1 zero, drawn opening 0")[0] < 0.1
    assert min(teller("1.2 zero, opening 0")[1], teller("1.2 mean, opening 0")[1]) > 0.2 > 0.05 > teller(
        "whole, opening 0")[1]
    assert teller("1.2 zero, opening 1")[1] < 0.03                    # and not in the second
    again = writing().told_off[:, 1].mean(-1)
    assert again.argmax() == chapter_13.at("1.2") and again.topk(2).values[1] < 0.12


def test_number_hangs_on_two_heads_and_without_both_it_is_was_whatever_the_noun():
    kept = writing()
    assert (kept.number_whole.mean(-1) > 0.9).all() and kept.pronoun_whole.min() > 0.9
    for kind in (0, 1):
        one, many = kept.number_both[kind].chunk(2, -1)
        assert one.mean(-1).min() > 0.9 and many.mean(-1).max() < 0.1
        for k in (0, 1):
            order = kept.number_off[kind, k].mean(-1).argsort()[:2].tolist()
            assert sorted(order) == [chapter_13.at("4.4"), chapter_13.at("5.3")]
        assert kept.pronoun_off[kind].mean(-1).argmin() == chapter_13.at("4.4")
    one, many = kept.number_unseen.chunk(2, -1)
    assert one.mean(-1).min() > 0.9 and many.mean(-1).max() < 0.1


def test_a_smaller_window_costs_more_and_names_several_times_as_much():
    kept = writing()
    more, names = ((rows[1:6] - rows[0]).mean(-1) for rows in (kept.reach, kept.reach_names))
    assert (more.diff() > 0).all() and (names.diff() > 0).all() and (names > 2.5 * more).all()
    hidden = (kept.reach[6] - kept.reach[0]).view(8, 4).mean(-1)
    assert hidden.max() < 0.2 and hidden[0] < 0.03 and kept.first_weight.max() < 0.5


def test_kept_from_the_queries_of_layer_5_head_4_4_leaves_most_of_the_name_and_off_it_does_not():
    found = dict(zip(PATHS_KEPT, writing().name_path.mean(-1).T))      # (3 openings,) each
    lost = {kind: found["whole"] - left for kind, left in found.items()}
    assert ((0.02 < lost["queries"]) & (lost["queries"] < 0.13)).all() and (lost["keys"].abs() < 0.01).all()
    assert (lost["all"] < 0.5 * lost["off"]).all() and (lost["off"] > 0.4).all()
    torch.testing.assert_close(found["off"], writing().name_off[0, :, chapter_13.at("4.4")].mean(-1), atol=2e-3, rtol=0)


def test_read_by_those_queries_alone_4_4_brings_back_the_name_and_other_readers_stand_in_for_them():
    ways = {name: found.mean(-1) for name, found in chapter_13.ways().items()}         # (3 openings,) each
    lost = {name: ways["whole model"] - left for name, left in ways.items()}
    back = (lost["head is off"] - lost["by queries alone"]) / lost["head is off"]
    assert back.min() > 0.3 and back.mean() > 0.6
    both = lost["not by queries, network 4"]
    assert both.mean() > 2 * (lost["not read by queries"] + lost["not by network 4"]).mean()
    assert (lost["by none of these four"] > 0.7 * lost["head is off"]).all()


def test_a_things_values_in_5_1_do_not_make_the_thing_likely():
    assert writing().rename_thing.mean(-1).max() < 0.05


# --- Two decoders ---------------------------------------------------------------------------------------------------

def test_one_model_has_induction_heads_and_the_other_has_none_on_tokens_of_its_whole_vocabulary():
    large, small = decoder_heads("smollm2"), decoder_heads("stories15m")
    assert large.induction.mean(0).max() > 0.8 and (large.induction.mean(0) > 0.3).sum() > 8
    assert small.induction.mean(0).max() < 0.1 and large.induction_once.mean(0).max() < 0.1
    assert large.loss[1].max() < 0.5 * large.loss[0].min() and small.loss[1].mean() > 0.9 * small.loss[0].mean()
    assert large.loss_once.min() > 0.85 * large.loss[0].mean()
    assert (small.loss[1] - small.loss_once).mean().abs() < 0.15


def test_the_other_copies_a_little_where_tokens_are_those_of_its_stories():
    kept = decoder_heads("stories15m")
    same, mixed, other = kept.own_tokens
    more = mixed - same
    assert more.mean() > 4 * more.std() / len(more) ** 0.5 and same.mean() < mixed.mean() < other.mean()
    assert kept.induction.mean(0).max() < kept.own_induction.max() < 0.2


def test_16_0_makes_induction_heads_by_their_keys():
    loss = dict(zip(PATHS_KEPT, decoder_heads("smollm2").path_loss[0]))
    looks = dict(zip(PATHS_KEPT, decoder_heads("smollm2").path_looks[0]))
    assert loss["keys"].min() > 3 * loss["whole"].mean() and looks["keys"].max() < 0.05
    assert max(loss["queries"].mean(), loss["values"].mean()) < 1.6 * loss["whole"].mean()
    other = dict(zip(PATHS_KEPT, decoder_heads("smollm2").path_loss[1]))
    assert other["all"].mean() < 1.4 * other["whole"].mean()


def test_16_0_is_the_costliest_head_but_for_two_of_the_first_layers():
    kept, small = decoder_heads("smollm2"), decoder_heads("stories15m")
    assert kept.each_off.shape == (2, 30, 9) and small.each_off.shape == (2, 6, 6)
    for each, used in zip(kept.each_off, kept.used.mean(-1) - kept.pairs_twice[TURNED.index("none")].mean()):
        best = [divmod(int(k), 9) for k in each.flatten().topk(3).indices]
        assert best[0] == (0, 5) and (16, 0) in best and all(layer < 2 for layer, h in best if (layer, h) != (16, 0))
        torch.testing.assert_close(torch.stack([each[tuple(head)] for head in kept.used_heads.long().tolist()]), used,
                                   atol=2e-2, rtol=2e-3)


def test_16_0_needs_the_fastest_pair_and_so_do_others():
    loss, weight = decoder_heads("smollm2").fastest.mean(-1).T
    assert loss.argsort().tolist() == [0, 3, 2, 1] and weight[2] < 0.2 and weight[3] > 0.8
    assert decoder_heads("smollm2").one_coordinate > 0.95


def test_sinks_are_of_the_position_in_one_model_and_none_in_the_other():
    large, small = decoder_heads("smollm2"), decoder_heads("stories15m")
    assert (large.sink[0] > 0.5).sum() > 50 and (large.sink[1].mean() - large.sink[0].mean()).abs() < 0.05
    assert small.sink.max() < 0.5 and (large.stream[0, :, 0] / large.stream[0, :, 1]).max() > 50


def test_the_parts_of_the_names_score_are_networks_on_the_keys_side_and_16_0_makes_that_of_an_induction_head():
    small, large = decoder_heads("stories15m"), decoder_heads("smollm2")
    for table in small.apart:
        assert decoders._kinds(parts(5, 6), table.sum(0)).argmax() == 2
        heads = {name: float(value) for name, value in zip(parts(5, 6), table.sum(1)) if "." in name}
        assert max(heads, key=heads.get) == "4.4"
    keys = large.apart_keys
    assert parts(17, 9)[int(keys.argmax())] == "16.0" and keys.max() > 5 * keys.topk(2).values[1]


def test_stored_files_are_small_and_names_are_known():
    assert len(TURNED) == len(decoder_heads("smollm2").pairs_twice) and len(TELLERS) == len(writing().told)
    assert len(parts(17, 9)) == len(decoder_heads("smollm2").apart_keys)
    from mha.lab.assets import DECODERS, WRITING
    assert WRITING.stat().st_size + DECODERS.stat().st_size < 200 * 1024


# --- Made again -----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def found():
    """The model, where its weights are at hand."""
    path = stories.find(download=False)
    if path is None:
        pytest.skip("the weights of stories15M are nowhere to be found")
    return tool.Found()


def test_tokens_of_its_own_stories_read_again_give_what_is_stored(found):
    again, kept = decoders_tool.own_tokens(decoders_tool.Found("stories15m")), decoder_heads("stories15m")
    torch.testing.assert_close(again["own_tokens"], kept.own_tokens, atol=2e-2, rtol=2e-3)
    torch.testing.assert_close(again["own_induction"], kept.own_induction, atol=2e-3, rtol=2e-3)


def test_an_exchange_made_again_gives_what_is_stored(found):
    place = int(torch.randint(3, ()))
    pairs = openings.with_others(found.tokenizer)
    ids, others = (tool.named(found, openings.NAMED[place], name) for name in (None, lambda k, own, other: other))
    own, other = (found.words([pair[k] for pair in pairs]) for k in (0, 2))
    past, lent = (causes.read(found.model, each[:, :-1], last=True).past for each in (ids, others))
    some = slice(None, None, 4)
    cache = causes.exchanged(past, lent, tool.places_of(ids, others), {"values": [(5, 1)]})
    run = causes.read(found.model, ids[:, -1:], past=cache, last=True)
    for k, words in enumerate((own, other)):
        torch.testing.assert_close(run.probability(words)[some], after("values of 5.1")[place, k][some], atol=2e-3,
                                   rtol=2e-3)


def test_a_path_cut_again_gives_what_is_stored(found):
    place = int(torch.randint(3, ()))
    ids = tool.named(found, openings.NAMED[place])[::5]
    own = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])[::5]
    run = causes.read(found.model, ids, last=True, see=("heads",))
    for k, kind in enumerate(PATHS_KEPT):
        cut = causes.read(found.model, ids, causes.path_change(kind, (4, 4), [5], found.model, run), last=True)
        torch.testing.assert_close(cut.probability(own), writing().name_path[place, k, ::5], atol=2e-3, rtol=2e-3)


def test_ways_read_again_give_what_is_stored(found):
    place = int(torch.randint(3, ()))
    ids = tool.named(found, openings.NAMED[place])[::5]
    own = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])[::5]
    runs = [causes.read(found.model, ids, change, see=("heads", "mlp")) for change in (None, causes.off({(4, 4): 0.0}))]
    for k, kind in enumerate(WAYS):
        changed = causes.read(found.model, ids, causes.way_change(kind, (4, 4), found.model, *runs), last=True)
        torch.testing.assert_close(changed.probability(own), writing().name_ways[place, k, ::5], atol=2e-3, rtol=2e-3)


def test_a_head_switched_off_again_gives_what_is_stored(found):
    place, k = int(torch.randint(3, ())), int(torch.randint(36, ()))
    ids = tool.named(found, openings.NAMED[place])
    own = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])
    run = causes.read(found.model, ids, causes.off({HEADS[k]: 0.0}), last=True)
    torch.testing.assert_close(run.probability(own), writing().name_off[0, place, k], atol=2e-3, rtol=2e-3)


def test_facts_of_a_story():
    rows = [([1, 2, 3, 4, 1, 2, 3, 4], "Anna saw her ball. He ran."), ([5, 6], "Annabel ran.")]
    named, again, fit = tool.facts(rows, ["Anna", "Anna"], ["girl", "girl"])
    assert named.tolist() == [1, 0] and again.tolist() == pytest.approx([0.2, 0]) and fit[0] == 0.5 and fit[1].isnan()


def test_shuffled_keeps_the_first_token_and_the_last():
    ids = torch.arange(20).view(2, 10)
    mixed = tool.shuffled(ids, 3)
    assert (mixed[:, [0, 7, 8, 9]] == ids[:, [0, 7, 8, 9]]).all() and (mixed.sort(-1).values == ids).all()
    assert (mixed != ids).any()


def test_an_induction_head_and_a_loss_made_again_are_what_is_stored():
    """Where the weights of SmolLM2 are at hand: two texts of eight, and head 16.0 kept from all later keys."""
    try:
        real.find("smollm2")
        found = decoders_tool.Found("smollm2")
    except (FileNotFoundError, ImportError) as missing:
        pytest.skip(f"SmolLM2 is not at hand: {missing}")
    stored, few = decoder_heads("smollm2"), found.twice[:2]
    run = causes.read(found.model, few, see=("heads", "weights"))
    i, P = torch.arange(42, 80), 40
    for layer, h in ((18, 6), (17, 4)):
        score = run.seen["weights"][layer][:, h, i, i - P + 1].mean(-1)
        torch.testing.assert_close(score, stored.induction[:2, layer, h], atol=3e-3, rtol=3e-3)
    readers = {"keys": list(range(17, 30))}
    logits = found.read(few, causes.kept_from((16, 0), readers, found.model, run)).logits[:, :-1]
    loss = torch.nn.functional.cross_entropy(logits.mT, few[:, 1:], reduction="none")[:, P + 1:].mean(-1)
    torch.testing.assert_close(loss, stored.path_loss[0, PATHS_KEPT.index("keys")][:2], atol=2e-2, rtol=2e-3)
