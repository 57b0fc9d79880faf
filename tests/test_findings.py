"""mha.lab.findings: the verdicts of chapter 8, as bounds; and the tables of others, where an oracle is at hand."""
import dataclasses
import re

import pytest
import torch

import mha
from mha.lab import fast, measure
from mha.lab.assets import SCALES, pruning
from mha.lab.findings import chapter_07, chapter_08, chapter_09, chapter_12, chapter_14, heads as findings
from mha.lab.findings.bounds import said


def test_a_heads_name_and_number_belong_together():
    assert findings.name_of(37) == "3.1" and all(findings.number_of(findings.name_of(head)) == head
                                                 for head in range(72))


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="kind must be one of 'det', 'amod', .* got 'obj'"):
        findings.relation("obj")


@pytest.mark.parametrize("kind, backwards", [("det", False), ("dobj", True), ("pobj", False), ("pobj", True)])
def test_some_heads_beat_every_offset_on_words_that_did_not_choose_them(kind, backwards):
    found = findings.relation(kind, backwards)
    assert found.held_out.mean() > found.offset[1] + 0.15 and found.best_untrained.max() < found.offset[1]


@pytest.mark.parametrize("kind", ["amod", "nsubj"])
def test_some_heads_only_repeat_an_offset(kind):
    found = findings.relation(kind, backwards=True)
    assert found.held_out.mean() < found.offset[1] + 0.03 and found.best in ("0.2", "2.11") and found.lead[0] <= 0


def test_a_relation_knows_the_sentence_of_each_word_and_where_the_offset_is_right():
    found = findings.relation("det")
    assert (found.sentence.shape == (156,) and float(found.by_offset.double().mean(-1).max())
            == pytest.approx(found.offset[1]))
    low, high = found.lead
    assert 0.15 < low < float(found.shares.max()) - found.offset[1] < high


def test_one_subject_head_is_an_offset_and_the_other_is_none():
    share, untrained = {}, {}
    for name in ("nsubj", "from nsubj", "from amod"):
        found = findings.relations()[name]
        assert (~found.missed).double().mean() == pytest.approx(found.offset[1])
        share[name] = found.right[findings.number_of(found.best), found.missed].double().mean()
        untrained[name] = found.untrained[..., found.missed].double().mean(-1)
    assert share["nsubj"] > 0.6 > 0.45 > untrained["nsubj"].max() and share["from nsubj"] < 0.05
    assert share["from amod"].isnan()                                  # the offset is never wrong there


def test_where_the_next_noun_is_another_one_a_head_goes_to_the_noun_of_the_relation():
    det, dobj = (findings.apart(kind)[findings.number_of("3.1")] for kind in ("det", "dobj"))
    assert det.shape == (20,) and dobj.shape == (10,) and det.sum() > 17 and dobj.sum() > 7


def test_one_learned_matrix_costs_heads_more_than_two_learned_in_the_same_way():
    found, head = findings.relation("pobj", backwards=True), findings.number_of("3.1")
    one, two = found.learned[:, head, found.unseen].double().mean(-1)
    assert found.learned.shape == (2, *found.right.shape) and 0 < found.unseen.sum() < len(found.unseen)
    assert two - one > 0.2 and findings.pronouns_learned().shape == (2, 72, 30)
    stored, items, head = findings.real_heads(), findings.sentences.pronouns(again=True), findings.number_of("1.3")
    trained, one, two = (findings.on_antecedent(rows, items)[head].mean()
                         for rows in (stored.pronouns_again.trained, *stored.pronouns_again.learned))
    assert trained > two > 1.5 * one
    head, before = findings.number_of("0.2"), stored.before_learned
    assert before.trained[head] > 0.99 and before.two[head] - before.one[head] > 0.2


def test_a_head_for_rare_words_beats_offsets_and_untrained_heads():
    found = findings.rare()
    assert found.best == "0.9" and found.held_out.mean() > 1.5 * found.best_untrained.max() > 1.5 * found.offset[1]
    assert found.right.shape[1] == 717 - 62                            # every word of 62 sentences but the rarest


def test_backwards_asks_once_for_each_word_that_has_an_answer():
    assert (findings.relation("amod").right.shape == (72, 139)
            and findings.relation("amod", backwards=True).right.shape == (72, 115))


def test_one_head_finds_every_antecedent_by_agreement_and_none_by_meaning():
    both, head = findings.twins().all(-1).sum(-1), findings.number_of("1.3")
    for again in (False, True):
        found = findings.pronouns(again)
        assert found.right[head].all() and found.untrained.sum(-1).max() < 30 * measure.luckiest(72, 30)
        assert 24 < found.embedding.sum() < 30                         # a rule without a head does nearly as well
    assert both[head] == 0 and both.max() < 16 * measure.luckiest(72, 16, chance=0.25)


def test_mentions_compare_with_the_strongest_rival():
    item = findings.sentences.Pronoun(list("abcd"), 3, 1, (0, 2))
    rows = torch.tensor([[[0.1, 0.3, 0.2, 0.0]], [[0.1, 0.3, 0.4, 0.0]]])
    assert findings.mentions(rows, [item]).tolist() == [[True], [False]]


def test_it_prefers_the_animal_in_two_heads_whatever_the_ending():
    for ending in ("tired", "wide"):
        assert all(animal > street
                   for animal, street in findings.from_it(ending)[[
                       findings.number_of("3.1"), findings.number_of("5.11")]])


def test_the_tables_of_chapter_9_add_up():
    gone = dict(chapter_09.heads_gone().rows[1:])
    assert len(gone) == 9 and all(gone[kind] == heads for kind, heads, _ in chapter_09.beside_place().rows[1:])
    halves = torch.stack([torch.arange(30), torch.arange(30, 60)])
    there, back = chapter_09.between_halves(*halves[:, None]), chapter_09.between_halves(*halves.flip(0)[:, None])
    symmetric = [i for i, (label, _) in enumerate(there.rows) if label.startswith(("mean rise", "median"))]
    assert len(symmetric) == 2 and all(there.rows[i] == back.rows[i] for i in symmetric)
    beside = dict(chapter_09.beside_chance().rows[1:])
    assert all(gone[kind] == heads for kind, heads in beside.items() if "median" not in kind)


def test_halves_of_the_sentences_share_none_and_are_the_same_each_time():
    one, other = chapter_09.halves(3)
    assert torch.equal(torch.cat([one, other], 1).sort(-1).values, torch.arange(60).expand(3, 60))
    assert torch.equal(one, chapter_09.halves(3)[0])


def test_a_head_helps_at_every_scale_of_the_loss_and_another_hinders_at_some():
    rows = {row[0]: [int(n) for n in row[1:]] for row in chapter_09.by_scale().rows[1:]}
    assert all(needed > 40 for needed, _ in rows.values())
    assert rows["5"][1] > rows["20"][1] > rows["40"][1] > 30
    stored, at_20 = pruning(), SCALES.index(20)
    clear = stored.rises.abs() > 1e-4                                    # the others may be rounded
    assert torch.equal(stored.signs_at[at_20][clear], stored.rises.sign()[clear].long())


def test_chapter_9_says_of_each_order_and_scale_what_the_stored_curves_say():
    assert "one for each head" in str(chapter_09.one_head_off())
    every = [curve for kept in pruning().curves.values() for curve in kept.found]
    assert all(curve[:72].min() < curve[72] for curve in every) and f"each of {len(every)} orders" in chapter_09.hits()
    helped, hindered = chapter_09.closest().rows[1:4], chapter_09.closest().rows[4:]
    at_five = chapter_09.most_sentences().rows[-1][1:]
    assert [int(n) > 40 for _, n in helped + hindered] == [True] * 3 + [False] * 3 and at_five == ["5", "0"]
    assert [int(row[1]) for row in chapter_09.at_bounds().rows[1:]] == [38, 49, 56]


@pytest.mark.parametrize("bound, word", [(1.0, "above"), (1e-7, "below")])
def test_above_and_below_are_said_of_the_numbers(monkeypatch, bound, word):
    changed = dataclasses.replace(pruning(), flat_gradient=torch.full((6, 12), bound))
    monkeypatch.setattr(chapter_09, "pruning", lambda: changed)
    assert chapter_09.flat().startswith(f"largest derivative of 1 - cosine: {word} 1e-6")


@pytest.mark.parametrize("values, bounds, words", [
    ([0.1, 0.2], ["below 0.3"], "below 0.3"), ([0.1, 0.3], ["below 0.3"], "not always below 0.3"),
    ([0.3], ["less than 0.3"], "not always less than 0.3"), ([0.3], ["at most 0.3"], "at most 0.3"),
    (6, ["at least 6"], "at least 6"), (5, ["at least 6"], "not always at least 6"),
    ([0.5], ["more than 0.5", "above 0.4"], "above 0.4"), ([0.4], ["above 0.9", "above 0.5"], "not always above 0.5"),
])
def test_a_bound_is_said_where_it_holds(values, bounds, words):
    assert said(torch.tensor(values), *bounds) == words


def test_chapter_7_says_of_the_widths_what_holds_in_every_run():
    fixed = chapter_07.fixed_errors()                                  # d_k -> (h, runs); h = 4, 8, 16, 32 from row 2
    assert (fixed[16][2:] < 0.05).all() and (fixed[1] > 0.5).all()
    assert all((fixed[d][5] > fixed[d][4]).all() for d in (1, 4))
    assert all((fixed[d][5] - fixed[d][4]).max() < 0.01 for d in (16, 64))


def test_chapter_7_tells_no_bound_that_a_run_breaks(monkeypatch):
    real = chapter_07.trained_heads
    bounds = (chapter_07.above_floors, chapter_07.narrow, chapter_07.late, chapter_07.widened,
              chapter_07.all_found, chapter_07.second_relation, chapter_07.sixteen_to_thirty_two)
    assert not any("not always" in told() for told in bounds)
    monkeypatch.setattr(chapter_07, "trained_heads", lambda *at, **other: [1.5 - each for each in real(*at, **other)])
    assert all("not always" in told() for told in bounds) and "96 of 96" not in chapter_07.best_heads()


def test_chapter_8_names_the_heads_that_tie_and_no_bound_that_a_run_breaks(monkeypatch):
    assert [len(best) for best in chapter_08.winners().values() if len(best) > 1] == [
        len(row[1].split(" and ")) for row in chapter_08.ties().rows[1:]]
    all_layers, few = (chapter_08.likeness(layers).rows[1:] for layers in (range(6), range(1, 5)))
    assert [name for name, _ in all_layers] == ["within a layer", "between layers"] and all_layers != few
    assert "not always" not in chapter_08.copied() + chapter_08.best_heads()
    monkeypatch.setattr(chapter_08, "induction_runs", lambda kind, real=chapter_08.induction_runs: real("one layer"))
    assert "two layers: not always above 0.9" in chapter_08.copied()


@pytest.mark.parametrize("machines", [1, 2, 3, 7])
def test_a_ring_sums_every_piece_once_and_sends_less_than_two_vectors(machines):
    steps = chapter_12.all_reduce(machines)
    assert torch.equal(steps[-1], torch.full_like(steps[0], machines)) and len(steps) == 2 * machines - 1
    for before, after in zip(steps, steps[1:]):
        changed = (before != after).sum(-1)
        assert torch.equal(changed, torch.ones_like(changed))  # each gets one piece, so each sends one
        assert (after >= before).all()


def test_machines_hold_what_the_picture_of_a_cut_layer_says():
    layer = mha.MultiHeadAttention(12, 6, num_kv_heads=3)
    picture, told = chapter_12.holdings(layer, 3), fast.slices(layer, 3)
    drawn = re.findall(r">(\d+ to \d+)</text>", picture.svg)
    assert drawn == [part for name in ("W_Q columns", "W_K columns", "W_V columns", "W_O rows") for part in told[name]]
    assert [line.split("  ")[0] for line in picture.text.splitlines()[3:]] == ["machine 0", "machine 1", "machine 2"]


def test_what_is_right_in_a_square_is_what_its_condition_says():
    rows = [line.split("  ") for line in chapter_14.square().text.splitlines()[3:]]
    for row in ([word.strip() for word in row if word.strip()] for row in rows):
        condition, first, second, right = row
        asked = next(fact for fact in (first, second) if fact.startswith("Bob"))
        assert asked.split()[1] == right == ("Paris" if condition.endswith("> 0") else "Oslo")
    conditions = [row[0] for row in rows]
    assert conditions == ["n + m > 0", "n + m\u2032 < 0", "n\u2032 + m < 0", "n\u2032 + m\u2032 > 0"]
