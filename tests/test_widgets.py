"""What stands behind the live figures beside their drawing, which the browser tests compare with torch."""
import functools
import itertools

import torch

from mha.attention import attention
from mha.multihead import MultiHeadAttention
from mha.position import Rope, alibi_slopes
from mha.lab.findings import chapter_08
from mha.lab.train import slices_floor
from mha.widgets import (FIGURES, alibi_slope, clock_hands, explained_shares, filling_cache, head_grid, head_removal,
                         head_sum, heads_gone, heads_sorted, hidden_share, hit_margin, key_ring, loudest,
                         mask_painter, price_of_length, row_shift, score_scale, sharing_costs, split_heads)
from mha.widgets.figure import HERE, Choice, LiveFigure, Slider, State, Toggle
from stored import imports
from tools import make_sharing


def simulated(d_k, power, queries=2000, n=64):
    """Largest weight and length of the gradient of random queries among random keys, with all coordinates drawn."""
    g = torch.Generator().manual_seed(9)
    q = torch.randn(queries, 1, 1, d_k, generator=g, requires_grad=True)
    k, v = torch.randn(queries, 1, n, d_k, generator=g), torch.randn(queries, 1, n, 1, generator=g)
    out, weights = attention(q, k, v, scale=d_k**-power, need_weights=True)
    return weights.amax(-1).flatten(), torch.autograd.grad(out.sum(), q)[0].flatten(1).norm(dim=-1)


class TurnedKey(LiveFigure):
    drawn_by = "key_ring"
    turn = Slider("turn", -90, 90, 15, value=30)
    stretch = Slider("stretch", 0.0, 1.0, 0.25, value=0.5)
    side = Choice("side", lambda figure: figure.sides, value=1, new_row=True)
    tied = Toggle("tied", value=False)
    place = Slider("place", 0, 3, value=0, moves_end=True)
    painted = State([1, 0])

    def __init__(self, **first):
        self.sides = ["left", "right"]
        super().__init__({"words": self.sides}, **first)

    def picture(self):
        return key_ring.KeyRing().picture()


def test_a_control_that_is_declared_is_a_trait_a_widget_and_a_link():
    figure = TurnedKey(turn=45, painted=[0, 0])
    assert figure.setting() == {"turn": 45, "stretch": 0.5, "side": 1, "tied": False, "place": 0}
    assert figure.canvas.setting_names == [*figure.controls, "painted"]
    assert figure.canvas.data == {"words": figure.sides}
    assert (figure.turn, figure.painted) == (45, [0, 0]) and figure.controls["turn"].value == 45
    assert figure.controls["stretch"].readout_format == ".2f" and figure.controls["side"].label == "right"
    tied = {(link.source[0].description, link.source[1], link.target[1]) for link in figure.links[:-1]}
    assert tied == {("turn", "value", "turn"), ("stretch", "value", "stretch"), ("side", "index", "side"),
                    ("tied", "value", "tied"), ("place", "value", "place")}
    assert figure.links[-1].source == (figure.canvas, "place_max") and figure.links[-1].target[1] == "max"
    assert [len(row.children) for row in figure.children[0].children] == [2, 3] and figure.children[1] is figure.canvas


def test_a_class_gives_a_figure_its_only_name():
    assert (TurnedKey.name(), TurnedKey.module()) == ("turned-key", "key_ring")
    for name, figure in FIGURES.items():
        assert figure.__module__ == f"mha.widgets.{name.replace('-', '_')}"
        assert imports.figures_in(f"widgets.{figure.__name__}()") == [figure.__module__]
        assert all((HERE / f"{figure.module()}.{kind}").exists() for kind in ("js", "css"))
        assert name.replace("-", "_") == figure.module() or figure.drawn_by
    files = {path.stem for path in HERE.glob("*.js")} - {"common"}
    assert files == {figure.module() for figure in FIGURES.values()}


def test_the_figures_short_cut_draws_what_full_vectors_draw():
    """Quartiles of 2000 queries agree within 10 %, over a range in which the gradients differ a hundredfold."""
    tables = score_scale.draws(queries=2000, seed=5)
    for d_k, power in ((4, 0.0), (64, 0.0), (64, 0.5), (256, 0.0)):
        _, weights, gradient = score_scale.simulate(d_k, 64, power, tables)
        for short, full in zip((weights.amax(-1), gradient), simulated(d_k, power)):
            for quantile in (0.25, 0.5, 0.75):
                a, b = short.quantile(quantile), full.double().quantile(quantile)
                assert abs(a - b) < 0.1 * b + 0.01, (d_k, power, quantile, float(a), float(b))


def test_shares_sum_to_one_and_count_both_ends():
    shares = score_scale.shares(torch.tensor([-5.0, 0.0, 0.5, 7.0], dtype=torch.float64), [0.0, 1.0])
    assert shares.tolist() == [0.25, 0.5, 0.25]


def test_in_the_mask_figure_only_a_mask_after_the_softmax_leaks():
    figure = mask_painter.MaskPainter()
    for preset, mask in enumerate(mask_painter.PRESETS.values()):
        hidden = ~mask & ~torch.eye(6, dtype=torch.bool)
        assert (figure.numbers(mask=preset, applied=0, layers=1)["leak"][hidden] == 0).all()
    after = figure.numbers(mask=1, applied=1, layers=1)["leak"]
    assert (after[~mask_painter.PRESETS["causal: nobody looks ahead"]] > 0).all()


def test_no_preset_of_the_mask_figure_passes_the_influence_that_fills_a_bar():
    figure = mask_painter.MaskPainter()
    top = max(figure.numbers(**setting)["leak"].max() for setting in figure.settings())
    assert 0.9 * mask_painter.STRONGEST < top < mask_painter.STRONGEST


def test_a_hidden_score_moves_only_the_row_that_is_masked_afterwards():
    low, high = (hidden_share.HiddenShare().numbers(hidden=score) for score in (-2.0, 4.0))
    assert torch.equal(low["before"], high["before"]) and (low["after"] > high["after"]).all()


def test_what_the_heads_write_adds_up_to_all_of_w_o():
    figure = head_sum.HeadSum()
    for setting in figure.settings():
        shown = figure.numbers(**setting)
        assert torch.allclose(shown["part"].view(2, 4).sum(0), shown["written"])


def test_a_head_s_cost_is_the_step_of_the_cosine_and_one_head_alone_is_worse_than_none():
    figure = head_removal.HeadRemoval()
    off = torch.tensor([0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    for layer in range(6):
        shown = figure.numbers(layer, 0, off=off.tolist())
        assert torch.equal(shown["worth"].view(6, 12)[layer - 1], 1 - figure.subsets[layer - 1, 2 ** torch.arange(12)])
        for head, worth in enumerate(shown["worth"].view(6, 12)[layer]):
            with_it, without = (figure.numbers(layer, 0, off=off.index_fill(0, torch.tensor(head), gone).tolist())
                                for gone in (0, 1))
            assert torch.equal(worth[None], with_it["cosine"] - without["cosine"])
    assert figure.numbers(5, 12)["worth"].view(6, 12)[5].lt(0).nonzero().flatten().tolist() == [0]


def test_a_view_alone_leaves_numbers_astray_and_a_transpose_none():
    astray = [int(split_heads.SplitHeads().numbers(step)["astray"]) for step in range(4)]
    assert astray == [0, 0, 0, 8]


def test_however_three_heads_mix_their_shares_sum_to_three():
    figure = explained_shares.ExplainedShares()
    for setting in figure.settings():
        shown = figure.numbers(**setting)
        assert torch.allclose(shown["share"].sum(), torch.tensor(3.0, dtype=torch.float64))
        assert (shown["error"] < 0.25 + 1e-9) == (setting["astray"] == 0)


def test_the_degrees_that_a_key_wins_are_those_of_queries_tried_one_by_one():
    figure, directions = key_ring.KeyRing(), torch.arange(0.005, 360, 0.01, dtype=torch.float64).deg2rad()
    queries = torch.stack([directions.cos(), directions.sin()], dim=-1)
    for second in (0.0, 0.1, 0.5, 1.0):
        shown = figure.numbers(second, 35)
        won = (queries @ shown["key"].view(8, 2).T).argmax(-1).bincount(minlength=8) / 100
        assert (won - shown["wins"]).abs().max() < 0.05


def test_what_is_added_to_a_row_moves_only_the_weights_of_the_symmetric_part():
    figure = row_shift.RowShift()
    moved = torch.stack([figure.numbers(**setting)["moved"] for setting in figure.settings() if setting["added"]])
    assert (moved[:, 0] == 0).all() and (moved[:, 1] > 0.05).all()


def test_beside_a_single_head_stands_the_mean_of_the_trained_ones():
    figure = head_grid.HeadGrid()
    shown = figure.numbers(num_heads=0, d_k=len(head_grid.CUTS) - 1, sentence=0, head=0)["weight"].view(2, 15, 15)
    assert torch.allclose(shown[0], figure.weights(12, 32, sentence=0).mean(0))
    assert torch.allclose(shown[1], figure.weights(1, 384, sentence=0)[0])


def test_one_sentence_turns_the_mean_of_two_heads_and_leaves_their_medians():
    figure = loudest.Loudest()
    for head in (loudest.HEADS.index((0, 5)), loudest.HEADS.index((5, 9))):
        shown = figure.numbers(head=head, left_out=1)
        assert shown["mean"][0] > 0 > shown["mean"][1] and shown["median"][0] == shown["median"][1]


def test_greedy_leaves_the_last_layer_whole_and_the_costliest_stand_there():
    figure, orders = heads_gone.HeadsGone(), list(heads_gone.ORDERS)
    left = {name: figure.numbers(orders.index(name), gone)["left"].view(6, 12)[-1].sum()
            for name, gone in (("greedy", 49), ("costly first", 12))}
    assert left == {"greedy": 12, "costly first": 0}


def test_of_sorted_heads_five_decimals_change_no_rank_and_nobody_is_on_another_side_of_a_floor():
    figure = heads_sorted.HeadsSorted()
    for k, one in enumerate(heads_sorted.measures().values()):
        kept, exact = figure.values[k], one.values.double()
        assert torch.equal((kept[:, None] > kept).sum(1), (exact[:, None] > exact).sum(1))
        assert all(torch.equal(kept > floor, exact > floor) for floor, _ in one.floors)


def test_the_sorted_heads_are_those_of_the_chapters_tables():
    figure, labels = heads_sorted.HeadsSorted(), list(heads_sorted.measures())

    def first(label, layer, head):
        shown = figure.numbers(labels.index(label), layer, head)
        return int(shown["rank"]) == 1, int(shown["beyond"])

    assert first("30 pronouns", 1, 3) == (True, 3) and first("30 others", 1, 3) == (True, 2)
    assert first("determiners", 3, 1)[0] and first("token before", 0, 2)[0] and first("[CLS] length", 2, 9)[0]
    prefer = [int(count) for _, count in chapter_08.prefer_the_animal().rows[1:]]
    assert [first(ending, 5, 11)[1] for ending in chapter_08.ENDINGS] == prefer


def test_the_loss_rises_long_before_the_hit_is_lost():
    far, near, behind = (hit_margin.HitMargin().numbers(cosine, 0.5) for cosine in (0.9, 0.55, 0.45))
    assert [float(shown["hit"]) for shown in (far, near, behind)] == [1, 1, 0]
    assert 100 * far["now"] < near["now"] < behind["now"]


def test_a_head_and_an_lstm_cost_the_same_at_twice_the_width_and_their_ratio_knows_no_width():
    figure = price_of_length.PriceOfLength()
    for d, width in enumerate(price_of_length.WIDTHS[:2]):
        shown = figure.numbers(n=2 * width, d=d)
        assert shown["head"] == shown["LSTM"] == 2 * shown["quadratic"]
    narrow, wide = figure.numbers(n=96, d=0), figure.numbers(n=192, d=1)
    assert narrow["head"] / narrow["LSTM"] == wide["head"] / wide["LSTM"]


def test_a_layer_with_rope_that_sees_no_content_has_the_weights_of_the_clock():
    figure = clock_hands.ClockHands()
    layer = MultiHeadAttention(3, 1, d_k=clock_hands.D_K, on_qk=Rope(), dtype=torch.float64)
    for hands, offset in ((1, 1), (2, 7), (4, 0), (4, 20)):
        vectors = clock_hands.query_and_keys(hands, offset, 30, 1)   # of one token, whose position is 0
        with torch.no_grad():
            for projection, vector in zip((layer.W_Q, layer.W_K), vectors):
                projection.weight.zero_()
                projection.bias.copy_(vector[0])
        weights = layer(torch.randn(32, 3, dtype=torch.float64), need_weights=True)[1][0]    # (n, m)
        shown = figure.numbers(hands, offset, strength=clock_hands.STRENGTHS.index(30), places=0, look=0)
        assert torch.allclose(weights[-1].flip(0), shown["weight"], atol=1e-12)


def test_one_hand_looks_back_by_whole_turns_too_and_slower_hands_part_them():
    def looks(hands, strength, places):
        shown = clock_hands.ClockHands().numbers(hands, 1, clock_hands.STRENGTHS.index(strength),
                                                 clock_hands.PLACES.index(places), look=0)
        return float(shown["target"]), shown["rival"].tolist()

    for hands, strength, places, place in ((1, 1000, 128, 45), (1, 30000, 1024, 711), (2, 1000, 1024, 378)):
        target, rival = looks(hands, strength, places)
        assert target < 0.5 and rival[0] == place and rival[1] > 0.85 * target
    assert all(looks(*setting)[0] > 0.99 for setting in ((2, 1000, 128), (3, 1000, 1024), (1, 30000, 128)))


def test_no_slope_of_alibi_gives_an_offset_more_than_its_bound_and_one_comes_near():
    figure = alibi_slope.AlibiSlope()
    assert set(alibi_slopes(8).tolist()) < set(alibi_slope.SLOPES)
    for offset in (1, 2, 3, 12):
        shown = [figure.numbers(slope, offset) for slope in range(len(alibi_slope.SLOPES))]
        largest, bound = max(float(one["weight"][offset]) for one in shown), float(shown[0]["most"])
        assert 0.995 * bound < largest <= bound


the_cache = functools.cache(filling_cache.FillingCache)


def cached(way, n=8192, texts=32):
    """What the figure of the cache shows where its controls say this."""
    at = zip((list(filling_cache.WAYS), filling_cache.TOKENS, filling_cache.TEXTS), (way, n, texts))
    return the_cache().numbers(*(sizes.index(size) for sizes, size in at))


def test_grouped_query_heads_leave_as_large_a_part_as_there_are_kv_heads():
    own = cached("MHA 32")
    for way, kv in list(filling_cache.WAYS.items())[:-1]:
        shown = cached(way)
        assert all(torch.equal(32 * shown[name], kv * own[name]) for name in ("left", "KiB", "GiB"))


def test_a_latent_keeps_more_than_one_shared_key_and_value_and_less_than_four():
    one, latent, four = (cached(way)["left"] for way in ("MQA 1", "MLA", "GQA 4"))
    assert one < latent < four and latent == 2.25 * one


def test_texts_fit_as_long_as_memory_is_not_full():
    """`full` against `free`: the first is in whole tokens, and the second is asked at whole steps of 512."""
    for way, n, texts in itertools.product(filling_cache.WAYS, filling_cache.TOKENS, filling_cache.TEXTS):
        shown = cached(way, n, texts)
        assert (n <= shown["full"]) == (shown["free"] >= 0)
        assert torch.equal(shown["GiB"] * 2**30, 32 * 2 * n * shown["left"] * torch.tensor([1.0, texts]).double())


def test_the_floor_of_the_sharing_figure_is_the_proved_one_and_samples_alone_pass_it():
    figure = sharing_costs.SharingCosts()
    assert sharing_costs.STEPS == [make_sharing.STEPS, make_sharing.LONG]
    for task, (name, columns) in enumerate(sharing_costs.TASKS.values()):
        shown = figure.numbers(task=task, column=1, steps=1)
        assert (shown["floor"].isnan() == (name != "slices")).all()
        by_column = shown["error"].view(len(shown["floor"]), -1)
        for cell, low, runs in zip(columns, shown["floor"], by_column):
            h, h_kv, d_k, d_v, d_c = cell
            if name == "slices":
                assert low == (slices_floor(1, d_v=d_c) if d_c else slices_floor(h_kv, d_v=d_v)) <= runs.mean() + 0.01


def test_every_figure_shows_its_first_setting_as_text():
    """What it makes of its picture; the notebooks show that of every figure."""
    for build in FIGURES.values():
        figure = build()
        assert figure.canvas.label.endswith(".") and figure.text
        assert set(figure.numbers(**figure.setting()))
