"""mha.lab.surgery: the changed heads give the scores that their names promise."""
import copy
import inspect
from types import SimpleNamespace

import pytest
import torch

from mha import MultiHeadAttention, attention, masks
from mha.lab import surgery
from mha.multihead import split_heads
from mha.position import Rope, frequencies
from support import close, tokens


def layer():
    made = MultiHeadAttention(11, 3, d_k=5, d_v=2).double()
    for W in (made.W_Q, made.W_K):
        torch.nn.init.normal_(W.bias)
    return made


def scores(attention, x):
    Q, K = surgery.circuits(attention)
    with_one = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], -1)
    return with_one @ Q @ (with_one @ K).mT / attention.d_k**0.5


@pytest.fixture
def x():
    return torch.randn(13, 11, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def operated(attention, change):
    return surgery.operate(torch.nn.ModuleDict({"a": attention}), change)["a"]


def test_circuits_hold_the_scores_and_the_biases(x):
    attention = layer()
    q, k = (torch.nn.functional.linear(x, W.weight, W.bias).unflatten(-1, (3, 5)).transpose(0, 1)
            for W in (attention.W_Q, attention.W_K))
    assert torch.allclose(scores(attention, x), q @ k.mT / 5**0.5)


def test_the_two_parts_add_up_to_the_scores(x):
    attention = layer()
    s = scores(attention, x)
    even, odd = (scores(operated(attention, change), x) for change in (surgery.symmetric, surgery.antisymmetric))
    assert torch.allclose(even, (s + s.mT) / 2, atol=1e-12) and torch.allclose(odd, (s - s.mT) / 2, atol=1e-12)


def test_one_matrix_is_the_symmetric_part_without_negative_eigenvalues():
    Q, K = surgery.circuits(layer())
    A = Q @ K.mT
    values, vectors = torch.linalg.eigh((A + A.mT) / 2)
    W, same = surgery.one_matrix(Q, K)
    assert W is same and torch.allclose(W @ W.mT, vectors * values.clamp(min=0)[:, None] @ vectors.mT, atol=1e-10)


def test_the_weights_are_those_of_the_module(x):
    changed = operated(layer(), surgery.symmetric)
    assert torch.allclose(changed(x, need_weights=True)[1], scores(changed, x).softmax(-1), atol=1e-6)


def test_queries_as_keys_puts_W_Q_in_both_places():
    attention = layer()
    changed = operated(attention, surgery.queries_as_keys)
    assert all(torch.allclose(W.weight, attention.W_Q.weight, atol=1e-6) for W in (changed.W_Q, changed.W_K))


def test_the_model_itself_and_its_values_stay(x):
    attention = layer()
    before = {name: p.clone() for name, p in attention.named_parameters()}
    changed = operated(attention, surgery.one_matrix)
    assert all(torch.equal(before[name], p) for name, p in attention.named_parameters())
    assert torch.equal(changed.W_V.weight, attention.W_V.weight) and changed.W_O.weight is not attention.W_O.weight


def test_another_number_in_each_row_changes_no_weight_and_another_symmetric_part(x):
    attention = layer()
    same = surgery.as_keys_prefer(torch.nn.ModuleDict({"a": attention}), x.mean(0)[None])["a"]
    weights = [surgery.operate(torch.nn.ModuleDict({"a": one}), surgery.symmetric)["a"](x, need_weights=True)[1]
               for one in (attention, same)]
    assert torch.allclose(same(x)[0], attention(x)[0], atol=1e-12)
    assert (weights[0] - weights[1]).abs().max() > 0.05


def test_one_matrix_with_care_finds_the_one_that_is_there_behind_numbers_added_to_the_rows(x):
    attention = layer()
    attention.W_K = copy.deepcopy(attention.W_Q)                       # scores of one matrix
    row = torch.randn(3, 12, 1, dtype=torch.float64)                   # x @ row is added to all scores of the query x
    one = torch.eye(12, dtype=torch.float64)[-1:].T.expand(3, 12, 1)
    hidden = operated(attention, lambda Q, K: (torch.cat([Q, 9 * row], -1), torch.cat([K, one], -1)))
    wanted, same = (each(x, need_weights=True)[1] for each in (attention, hidden))
    assert torch.allclose(wanted, same)
    found = surgery.one_matrix_for(torch.nn.ModuleDict({"a": hidden}), x[None], rounds=2000, ridge=1e-6)["a"]
    assert torch.allclose(found.W_Q.weight, found.W_K.weight)
    assert torch.allclose(found(x, need_weights=True)[1], wanted, atol=0.02)
    assert not torch.allclose(operated(hidden, surgery.one_matrix)(x, need_weights=True)[1], wanted, atol=0.5)


def test_one_matrix_with_care_is_nearer_on_its_inputs_than_the_nearest_matrix(x):
    attention = layer()
    wanted = attention(x, need_weights=True)[1]
    model = torch.nn.ModuleDict({"a": attention})
    plain, careful = surgery.operate(model, surgery.one_matrix), surgery.one_matrix_for(model, x[None])
    off = [(changed["a"](x, need_weights=True)[1] - wanted).abs().sum(-1).mean() for changed in (careful, plain)]
    assert off[0] < off[1]


def test_a_learned_matrix_is_nearer_to_the_heads_weights_than_one_that_was_computed():
    attention = layer().float()
    x, lengths = torch.randn(5, 13, 11), torch.tensor([13, 7, 13, 5, 11])
    mask = masks.padding(lengths, 13)
    with torch.no_grad():
        own = attention(x, mask=mask, need_weights=True)[1]                # (B, h, n, n)
    model, there = torch.nn.ModuleDict({"a": attention}), torch.arange(13) < lengths[:, None]
    learned = surgery.learned_like(model, SimpleNamespace(inputs=x[None], weights=own[None], real=there), steps=300)
    assert torch.equal(learned["a"].W_Q.weight, learned["a"].W_K.weight)
    assert torch.equal(learned["a"].W_Q.bias, learned["a"].W_K.bias)
    off = [(changed["a"](x, mask=mask, need_weights=True)[1] - own).abs().sum(-1).transpose(1, 2)[there].mean()
           for changed in (learned, surgery.one_matrix_for(model, x[there][None]))]
    assert 0.05 < off[0] < off[1]


def test_what_depends_on_the_query_alone_becomes_what_depends_on_the_key_alone(x):
    same = surgery.as_keys_prefer(torch.nn.ModuleDict({"a": layer()}), x.mean(0)[None])["a"]
    Q, K = surgery.circuits(same)
    A, mean = Q @ K.mT, torch.cat([x.mean(0), torch.ones(1, dtype=x.dtype)])
    assert torch.allclose(A @ mean, A.mT @ mean, atol=1e-10)


def test_scores_that_something_else_takes_part_in_are_refused():
    with pytest.raises(ValueError, match=r"on_qk=Rope\(base=10000.0, interleaved=False\) changes queries and keys"):
        operated(MultiHeadAttention(12, 3, on_qk=Rope()), surgery.symmetric)


# --- Nothing else changes --------------------------------------------------------------------------------------------

OPTIONS = {  # each argument of a layer that surgery takes, at a value that is not its default
    "d_model": 11, "num_heads": 3, "d_k": 5, "d_v": 2, "d_context": 7, "d_out": 13, "bias": False, "dropout": 0.3,
    "causal": True, "device": "meta", "dtype": torch.bfloat16,
}
REFUSED = {"num_kv_heads", "on_qk"}  # with a sentence each
COPIES = {
    "operate": lambda layer: surgery.operate(layer, lambda Q, K: (Q, K)),
    "share_heads": lambda layer: surgery.share_heads(layer, layer.num_kv_heads),
    "turn_heads": lambda layer: surgery.turn_heads(layer, keys=torch.eye(5).expand(3, 5, 5).to(layer.W_Q.weight)),
}


class Marked(MultiHeadAttention):
    """A layer of somebody's own, which carries more than ours."""


def described(layer):
    """All that a layer carries, but for the numbers in its parameters."""
    plain = {name: value for name, value in vars(layer).items() if not name.startswith("_")}
    parameters = {name: (p.shape, p.dtype, p.device, p.requires_grad) for name, p in layer.named_parameters()}
    modes = {name: module.training for name, module in layer.named_modules()}
    return type(layer), plain, parameters, modes, len(layer._forward_hooks)


def drawn_layer(some):
    """Half of the options, other modes, hooks and attributes, drawn at random."""
    sizes = {name: OPTIONS[name] for name in ("d_model", "num_heads", "d_k")}
    more = {name: OPTIONS[name] for name in set(OPTIONS) - set(sizes) - {"device", "dtype"} if some.random() < 0.5}
    layer = some.choice([Marked, MultiHeadAttention])(**sizes, **more)
    for change in (lambda: layer.eval(), lambda: layer.W_V.eval(), lambda: layer.W_K.requires_grad_(False),
                   lambda: layer.W_O.requires_grad_(False), lambda: layer.register_forward_hook(lambda *_: None),
                   lambda: setattr(layer, "note", "mine"), lambda: layer.double()):
        if some.random() < 0.5:
            change()
    return layer


def test_each_argument_of_a_layer_is_tried():
    assert set(inspect.signature(MultiHeadAttention).parameters) == set(OPTIONS) | REFUSED


@pytest.mark.parametrize("copy_of", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("option", sorted(set(OPTIONS) - {"device"}))
def test_surgery_forgets_no_argument(copy_of, option):
    sizes = {name: OPTIONS[name] for name in ("d_model", "num_heads", "d_k")}
    layer = MultiHeadAttention(**sizes | {option: OPTIONS[option]})
    new = copy_of(layer)
    assert new is not layer and described(new) == described(layer)
    for a, b in zip(layer.parameters(), new.parameters()):
        assert a is not b and torch.allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("copy_of", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("trial", range(8))
def test_surgery_forgets_nothing_of_a_layer_drawn_at_random(copy_of, trial, some):
    layer = drawn_layer(some)
    new = copy_of(layer)
    assert described(new) == described(layer)
    x, context = torch.randn(2, 4, 11).to(layer.W_Q.weight), torch.randn(2, 4, layer.d_context).to(layer.W_Q.weight)
    torch.testing.assert_close(new.eval()(x, context)[0], layer.eval()(x, context)[0], rtol=1e-4, atol=1e-5)


def test_share_heads_forgets_neither_shared_keys_nor_what_turns_them():
    layer = MultiHeadAttention(12, 6, num_kv_heads=3, on_qk=Rope(base=37.0))
    new = surgery.share_heads(layer, 3)
    assert new.num_kv_heads == 3 and new.on_qk.base == 37.0


def test_a_bias_appears_only_where_a_change_makes_one(x):
    plain = MultiHeadAttention(11, 3, d_k=5, bias=False).double()
    assert surgery.operate(plain, surgery.symmetric).W_Q.bias is None
    moved = surgery.as_keys_prefer(plain, x.mean(0)[None])
    assert moved.W_K.bias is not None and moved.W_V.bias is None
    close(moved(x)[0], plain(x)[0])
    for made in (moved.prune([0, 1, 2]), MultiHeadAttention.from_heads([moved.head(i) for i in range(3)], moved.W_O)):
        close(made(x)[0], plain(x)[0])


@pytest.mark.parametrize("name", ["W_Q", "W_K", "W_V", "W_O"])
def test_a_bias_in_one_projection_alone_is_kept(name, x):
    layer = MultiHeadAttention(12, 3, bias=False).double()
    getattr(layer, name).bias = torch.nn.Parameter(torch.randn(12, dtype=torch.float64))
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    close(layer.prune([0, 1, 2])(x)[0], layer(x)[0])
    close(MultiHeadAttention.from_heads([layer.head(i) for i in range(3)], layer.W_O)(x)[0], layer(x)[0])
    close(layer.to_torch()(x, x, x)[0], layer(x)[0])


def test_a_layer_that_is_the_model_is_operated_on(x):
    attention = layer()
    close(surgery.operate(attention, surgery.symmetric)(x)[0], operated(attention, surgery.symmetric)(x)[0])


def test_a_layer_that_stands_in_two_places_is_changed_in_both_and_stays_one():
    once = layer()
    model = torch.nn.ModuleDict({"a": once, "b": once, "c": torch.nn.Sequential(once, layer())})
    changed = surgery.operate(model, surgery.symmetric)
    assert changed["a"] is changed["b"] is changed["c"][0] and changed["a"].d_k == 10
    assert changed["c"][1].d_k == 10 and model["a"].d_k == 5


# --- Keys and values that heads come to share ------------------------------------------------------------------------

def six_heads(**options):
    """Random float64, sizes that are different primes but for the six heads, biases that are not zero."""
    made = MultiHeadAttention(11, 6, **{"d_k": 10, "d_v": 7, "d_context": 13, "d_out": 5} | options).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter)
    return made


def orthogonal(h, d):
    return torch.linalg.qr(tokens(h, d, d))[0]


def pair_turns(h, d):
    """Turns (h, d, d) of the pairs (0, 1), (2, 3), ..., each by an angle of its own."""
    angles = tokens(h, d // 2)
    turns = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).unflatten(-1, (2, 2))
    return torch.stack([torch.block_diag(*head) for head in turns])


@pytest.mark.parametrize("num_kv_heads", [3, 2, 1])
def test_heads_that_are_alike_in_each_group_share_without_a_loss(num_kv_heads):
    alike, x, context = six_heads(), tokens(2, 17, 11), tokens(2, 19, 13)
    with torch.no_grad():
        for W, d in ((alike.W_K, 10), (alike.W_V, 7)):
            for parameter in W.parameters():
                groups = parameter.unflatten(0, (num_kv_heads, -1, d))
                groups.copy_(groups[:, :1].expand_as(groups).clone())
    shared = surgery.share_heads(alike, num_kv_heads)
    assert shared.W_K.out_features == num_kv_heads * 10 and shared.W_V.out_features == num_kv_heads * 7
    for ours, theirs in zip(shared(x, context, need_weights=True), alike(x, context, need_weights=True)):
        close(ours, theirs)


def test_a_groups_keys_and_values_are_the_means_of_neighbouring_heads():
    layer, context = six_heads(), tokens(19, 13)
    shared = surgery.share_heads(layer, 2)
    for old, new, d in ((layer.W_K, shared.W_K, 10), (layer.W_V, shared.W_V, 7)):
        heads = split_heads(old(context), 6)
        close(split_heads(new(context), 2), torch.stack([heads[:3].mean(0), heads[3:].mean(0)]))
    first = surgery.share_heads(layer, 2, surgery.first_of_group)
    close(split_heads(first.W_V(context), 2), split_heads(layer.W_V(context), 6)[[0, 3]])


def test_sharing_among_as_many_heads_changes_nothing_and_copies():
    layer = six_heads(dropout=0.3, causal=True, d_context=None).eval()
    same = surgery.share_heads(layer, 6)
    for name, parameter in layer.named_parameters():
        assert torch.equal(same.get_parameter(name), parameter) and same.get_parameter(name) is not parameter
    assert (same.dropout, same.causal, same.training) == (0.3, True, False)


def test_sharing_in_two_steps_is_sharing_in_one():
    layer = six_heads(bias=False)
    once, twice = surgery.share_heads(layer, 1), surgery.share_heads(surgery.share_heads(layer, 3), 1)
    for name, parameter in once.named_parameters():
        close(twice.get_parameter(name), parameter)


@pytest.mark.parametrize("interleaved", [True, False])
def test_what_turns_queries_and_keys_stays_and_a_mean_of_turned_keys_is_a_turned_mean(interleaved):
    turning, x = Rope(interleaved=interleaved), tokens(17, 11)
    layer = six_heads(on_qk=turning, causal=True, d_context=None)
    shared = surgery.share_heads(layer, 2)
    assert shared.on_qk is not turning and shared.on_qk.interleaved == interleaved
    Q, K = split_heads(layer.W_Q(x), 6), split_heads(layer.W_K(x), 6)
    Q, K = turning(Q, K, torch.arange(17), torch.arange(17))
    wanted = attention(Q, K.unflatten(0, (2, 3)).mean(1), split_heads(shared.W_V(x), 2), causal=True,
                       need_weights=True)[1]
    close(shared(x, need_weights=True)[1], wanted)


@pytest.mark.parametrize("on_qk", [None, Rope(interleaved=True)], ids=["plain", "rotary"])
def test_the_mean_depends_on_bases_of_which_the_layer_knows_nothing(on_qk):
    layer, x = six_heads(on_qk=on_qk, d_context=None), tokens(17, 11)
    keys = orthogonal(6, 10) if on_qk is None else pair_turns(6, 10)
    for turned in (surgery.turn_heads(layer, keys=keys), surgery.turn_heads(layer, values=orthogonal(6, 7))):
        close(turned(x)[0], layer(x)[0], 1e-10)
        off = surgery.share_heads(turned, 2)(x)[0] - surgery.share_heads(layer, 2)(x)[0]
        assert off.abs().mean() > 0.1 * layer(x)[0].std()


def test_rotary_positions_allow_keys_no_other_basis_than_turned_pairs():
    for interleaved in (False, True):
        with pytest.raises(ValueError, match="does not commute with keys: scores change by .* turn each of its pairs"):
            surgery.turn_heads(six_heads(on_qk=Rope(interleaved=interleaved), d_context=None), keys=orthogonal(6, 10))


def test_numbers_that_partial_rotation_leaves_alone_may_be_turned():
    layer, x = six_heads(on_qk=Rope(frequencies=frequencies(4)), d_context=None), tokens(17, 11)
    keys = torch.eye(10).double().repeat(6, 1, 1)
    keys[:, 4:, 4:] = orthogonal(6, 6)
    close(surgery.turn_heads(layer, keys=keys)(x)[0], layer(x)[0], 1e-10)
    keys[:, 2:, 2:] = orthogonal(6, 8)
    with pytest.raises(ValueError, match="does not commute with keys"):
        surgery.turn_heads(layer, keys=keys)


def test_a_change_to_no_width_and_turns_below_one_are_refused(x):
    with pytest.raises(ValueError, match=r"change gave Q and K of no width, \(3, 12, 0\)"):
        surgery.operate(layer(), lambda Q, K: (Q[..., :0], K[..., :0]))
    for rounds in (-1, 0):
        with pytest.raises(ValueError, match=f"rounds={rounds}"):
            surgery.one_matrix_for(layer(), x[None], rounds=rounds)


@pytest.mark.parametrize("has, wanted", [(6, 4), (3, 2), (3, 6), (1, 2)])
def test_groups_of_unequal_size_and_more_heads_than_there_are_are_refused(has, wanted):
    with pytest.raises(ValueError, match=f"the layer has {has} heads of keys and values.*num_kv_heads={wanted}"):
        surgery.share_heads(six_heads(num_kv_heads=has), wanted)


def test_heads_that_share_have_no_bases_of_their_own():
    with pytest.raises(ValueError, match="num_heads=6 share num_kv_heads=2"):
        surgery.turn_heads(six_heads(num_kv_heads=2), keys=orthogonal(6, 10))


def test_one_head_for_its_group_is_on_average_twice_as_far_from_the_heads_as_their_mean():
    heads = tokens(2, 5, 7, 11)                                                        # (h_kv, group, d, d_model)

    def far(pooled):
        return (heads - pooled[:, None]).square().sum()

    each = [far(surgery.first_of_group(heads.roll(i, 1))) for i in range(5)]
    close(torch.stack(each).mean(), 2 * far(surgery.mean_of_group(heads)))
