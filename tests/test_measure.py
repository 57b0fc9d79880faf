"""mha.lab.measure against sums done by hand, libraries, and exact counts."""
import copy
import itertools
import math

import pytest
import torch

from mha import MultiHeadAttention
from mha.lab import measure


def weights(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1)


def test_entropy_is_that_of_torch_and_zero_for_a_sure_row():
    w = weights(2, 3, 5)
    assert torch.allclose(measure.entropy(w), torch.distributions.Categorical(w).entropy())
    assert measure.entropy(torch.tensor([[0.0, 1, 0]])).item() == 0


@pytest.mark.parametrize("offset", [-3, -1, 0, 2])
def test_at_offset_is_the_mean_over_queries_that_have_such_a_token(offset):
    w = weights(2, 7, 7)
    wanted = torch.stack([w[:, i, i + offset] for i in range(7) if 0 <= i + offset < 7]).mean(0)
    assert torch.allclose(measure.at_offset(w, offset), wanted)


def test_an_offset_without_tokens_is_refused():
    with pytest.raises(ValueError, match="offset=-5 leaves no token of 5"):
        measure.at_offset(weights(5, 5), -5)


def test_pieces_of_asked_words_add_up_and_pieces_of_asking_words_are_averaged():
    w = weights(3, 6, 6)
    joined = measure.of_words(w, [None, 0, 1, 1, 2, None])
    assert joined.shape == (3, 3, 3)
    assert torch.allclose(joined[:, 0, 1], w[:, 1, 2] + w[:, 1, 3])
    assert torch.allclose(joined[:, 1, 2], (w[:, 2, 4] + w[:, 3, 4]) / 2)
    assert torch.allclose(joined.sum(-1)[:, 0], 1 - w[:, 1, 0] - w[:, 1, 5])


def test_choices_leave_out_the_asking_word_unless_told_among_which():
    maps = [torch.tensor([[[0.9, 0.06, 0.04], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]])]
    assert measure.choices(maps, [(0, 0), (0, 1), (0, 2)]).tolist() == [[1, 2, 1]]
    assert measure.choices(maps, [(0, 0)], among=[[0, 2]]).tolist() == [[0]]


def test_the_best_offset_is_right_most_often():
    answers = {(0, 1): {2}, (0, 3): {4, 6}, (1, 0): {3}, (1, 5): {4}}
    assert measure.best_offset(answers) == (1, 0.5)
    assert measure.best_offset({(0, 4): {1}, (1, 3): {0}}) == (-3, 1.0)


@pytest.mark.parametrize("heads, questions", [(1, 3), (2, 4), (3, 3)])
def test_the_luckiest_is_counted_by_trying_every_throw(heads, questions):
    throws = [sum(bits) for bits in itertools.product((0, 1), repeat=questions)]
    best = sorted(max(each) for each in itertools.product(throws, repeat=heads))
    for quantile in (0.5, 0.8, 0.95):
        wanted = next(b for i, b in enumerate(best, 1) if i >= quantile * len(best))
        assert measure.luckiest(heads, questions, quantile=quantile) == wanted / questions


def test_held_out_finds_no_luck_and_keeps_a_real_winner():
    luck = torch.rand(500, 40, generator=torch.Generator().manual_seed(5)) < 0.5
    assert luck.double().mean(-1).max() >= 0.7
    assert abs(measure.held_out(luck, torch.arange(40)).mean() - 0.5) < 0.12
    luck[3] = True
    assert measure.held_out(luck, torch.arange(40) % 7).mean() == 1


def test_held_out_never_tears_a_group_apart():
    groups = torch.arange(12) % 2                                      # two groups: the halves are the groups
    right = torch.stack([groups == 0, groups == 1])                    # each head knows one group
    assert measure.held_out(right, groups).max() == 0
    assert measure.held_out(right, torch.arange(12)).max() > 0
    with pytest.raises(ValueError, match="at least two groups, got 1"):
        measure.held_out(right, torch.zeros(12))


def test_the_lead_of_the_luckiest_is_none_where_it_was_not_chosen():
    luck = torch.rand(200, 60, generator=torch.Generator().manual_seed(5)) < 0.5
    rules, groups = torch.arange(60)[None] % 2 == 0, torch.arange(60) // 3
    leads = measure.leads(luck, rules, groups)
    assert luck.double().mean(-1).max() > 0.6 and abs(leads.mean()) < 0.1 and leads[25] < 0 < leads[-26]
    assert leads.shape == (1000,) and (leads.diff() >= 0).all()


def test_a_head_that_is_always_right_leads_a_rule_by_what_the_rule_gets_wrong():
    rules = torch.arange(60)[None] % 3 == 0
    leads = measure.leads(torch.ones(1, 60, dtype=torch.bool), rules, torch.arange(60))
    assert abs(leads.mean() - 2 / 3) < 0.03 and leads[25] < 2 / 3 < leads[-26]


def test_leads_never_score_a_group_that_was_drawn():
    groups = torch.arange(12) % 2
    right = torch.stack([groups == 0, groups == 1])                    # each head knows one group, and is chosen on it
    assert (measure.leads(right, torch.zeros(1, 12), groups) == 0).all()
    with pytest.raises(ValueError, match="must be at least two, got 1"):
        measure.leads(right, torch.zeros(1, 12), torch.zeros(12))


def test_a_rank_correlation_sees_the_order_and_nothing_else():
    a = torch.tensor([[3.0, 1, 2, 5], [1.0, 2, 3, 4]])
    assert torch.allclose(measure.rank_correlation(a, a.exp()), torch.ones(2).double())
    assert torch.allclose(measure.rank_correlation(a, -a), -torch.ones(2).double())
    assert math.isclose(measure.rank_correlation(torch.tensor([1.0, 2, 3]), torch.tensor([2.0, 9, 5])).item(), 0.5)


def test_equal_numbers_share_the_mean_of_their_ranks():
    tied = torch.tensor([[7.0, 2, 7, 1], [3.0, 3, 3, 0]])
    assert measure.ranks(tied).tolist() == [[2.5, 1, 2.5, 0], [2, 2, 2, 0]]
    assert measure.ranks(tied).dtype == torch.float64
    first_two_alike = torch.tensor([1.0, 1, 2])
    for b in (torch.tensor([1.0, 2, 3]), torch.tensor([2.0, 1, 3])):
        assert math.isclose(measure.rank_correlation(first_two_alike, b).item(), 0.75**0.5)


def test_divergence_is_zero_for_equal_rows_and_ln_2_for_rows_apart():
    p = torch.tensor([[0.5, 0.5, 0, 0]], dtype=torch.float64)
    assert measure.divergence(p, p).abs().max() < 1e-12
    assert math.isclose(measure.divergence(p, p.flip(-1)).item(), math.log(2))


def test_divergence_is_the_mean_of_torchs_two_from_the_middle():
    a, b = weights(3, 5, seed=1), weights(3, 5, seed=2)
    middle = ((a + b) / 2).log()
    to_each = [torch.nn.functional.kl_div(middle, side, reduction="none").sum(-1) for side in (a, b)]
    assert torch.allclose(measure.divergence(a, b), sum(to_each) / 2)


def test_redundancy_is_symmetric_and_zero_with_oneself():
    found = measure.redundancy(weights(3, 5, 7))
    assert torch.allclose(found, found.T) and found.diagonal().abs().max() < 1e-12 and found[0, 1] > 0


def test_what_is_carried_adds_up_to_the_output():
    layer, x = MultiHeadAttention(11, 3, d_k=5, d_v=2).double(), torch.randn(2, 7, 11, dtype=torch.float64)
    out, w = layer(x, need_weights=True)
    one_hot = torch.zeros_like(w)
    one_hot[:, :, 4, 6] = w[:, :, 4, 6]                                        # what token 6 hands to token 4
    V = layer.W_V(x).unflatten(-1, (3, 2)).transpose(1, 2)
    each = torch.stack([(one_hot[:, h] @ V[:, h])[:, 4] @ layer.W_O.weight[:, 2 * h:2 * h + 2].T for h in range(3)], 1)
    assert torch.allclose(measure.carried(w, x, layer)[:, :, 4, 6], each.norm(dim=-1))


def test_what_is_carried_holds_what_adapters_add():
    class Adapted(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.more = inner, torch.nn.Linear(inner.in_features, inner.out_features, False).double()

        def forward(self, x):
            return self.inner(x) + self.more(x)

    layer, w, x = MultiHeadAttention(6, 2, num_kv_heads=1).double(), weights(1, 2, 5, 5), weights(1, 5, 6)
    for name in ("W_V", "W_O"):
        setattr(layer, name, Adapted(getattr(layer, name)))
    merged = copy.deepcopy(layer)
    for name in ("W_V", "W_O"):
        W = getattr(merged, name)
        W.inner.weight.data += W.more.weight
        setattr(merged, name, W.inner)
    assert torch.allclose(measure.carried(w, x, layer), measure.carried(w, x, merged))


def test_asymmetry_is_zero_for_symmetric_and_one_for_random_matrices():
    A = torch.randn(40, 200, 200, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert measure.asymmetry(A + A.mT).max() < 1e-12 and (measure.asymmetry(A) - 1).abs().max() < 0.05


def test_head_scores_of_losses_that_are_known():
    cost = torch.tensor([[1.0, -2, 0], [3, 0.5, 7]])
    size, slope, removal = measure.head_scores(lambda gates: (cost * (gates - 2) ** 2).sum(), 2, 3)
    assert torch.allclose(size, (2 * cost).abs())
    assert torch.allclose(slope, -2 * cost) and torch.allclose(removal, 3 * cost)


def test_slopes_of_opposite_sign_cancel_and_their_sizes_do_not():
    size, slope, removal = measure.head_scores(lambda gates: torch.stack([gates[0, 0], 5 - gates[0, 0]]), 1, 2)
    assert size.tolist() == [[1, 0]] and slope.tolist() == [[0, 0]] and removal.tolist() == [[0, 0]]


def test_the_gradient_of_a_loss_at_its_best_is_zero_and_the_removal_is_not():
    size, slope, removal = measure.head_scores(lambda gates: ((1 - gates) ** 2).sum(), 2, 3)
    assert (size == 0).all() and (slope == 0).all() and (removal == 1).all()
