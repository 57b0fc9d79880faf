"""Operations and bytes against code that counts them; tiles against torch; the kernel that torch names."""
import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend
from torch.utils.flop_counter import FlopCounterMode

import mha
from mha.lab import fast
from support import close

EVERY_LAYER = pytest.mark.parametrize("layer", fast.LAYERS, ids=lambda layer: layer.name)


def operands(layer, n, m):
    q = torch.randn(1, layer.heads, n, layer.d_k)
    k = torch.randn(1, layer.kv_heads, m, layer.d_k)
    return q, k, k[..., : layer.d_v] if layer.latent else torch.randn(1, layer.kv_heads, m, layer.d_v)


@EVERY_LAYER
@pytest.mark.parametrize("n, m", [(1, 7), (5, 11)])
def test_operations_are_those_that_torch_counts(layer, n, m):
    with FlopCounterMode(display=False) as counter:
        mha.attention(*operands(layer, n, m), need_weights=True)
    assert fast.forward(layer, n, m).operations == counter.get_total_flops()


@EVERY_LAYER
def test_bytes_are_those_of_the_tensors(layer):
    q, k, v = (t.half() for t in operands(layer, 5, 11))
    out = 5 * layer.heads * layer.d_v * 2
    kept = k.nbytes + (0 if layer.latent else v.nbytes)
    assert fast.forward(layer, 5, 11).bytes == q.nbytes + kept + out
    assert fast.decoding(layer).bytes * 11 == kept


def test_the_caches_of_the_package_keep_as_many():
    for layer in fast.LAYERS[:3]:
        whole = mha.MultiHeadAttention(layer.heads * 2, layer.heads, num_kv_heads=layer.kv_heads, d_k=layer.d_k)
        cache = whole.new_cache(1, 10)
        assert cache.K.numel() + cache.V.numel() == 10 * layer.kept


def test_operations_for_each_byte():
    found = {layer.name: fast.decoding(layer).per_byte for layer in fast.LAYERS}
    assert found["MHA"] == 1 and found["GQA"] == 4 and found["MQA"] == 32
    assert round(found["MLA"]) == 242
    for layer in fast.LAYERS:                             # what a step tends to on a long text
        assert abs(fast.forward(layer, 1, 10 ** 7).per_byte / fast.decoding(layer).per_byte - 1) < 1e-3


def test_causal_counts_the_pairs_that_are_seen():
    layer = fast.Layer("one", 1, 1, 3, 5)
    for n, m in ((1, 1), (4, 4), (3, 9)):
        pairs = int(mha.masks.causal(n, m, offset=m - n).sum())
        assert fast.forward(layer, n, m, causal=True).operations == 2 * pairs * 8


def test_a_machine_balances_where_both_times_are_equal():
    for machine in (fast.H100, fast.LAPTOP):
        work = fast.Work(machine.balance * 1e9, 1e9)
        close(torch.tensor(work.operations / machine.operations), torch.tensor(machine.seconds(work)))
    assert round(fast.H100.balance) == 295 and round(fast.LAPTOP.balance) == 38


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("width", [1, 2, 5, 12, 13, 40])
@pytest.mark.parametrize("loud", [1.0, 1000.0])
def test_the_walk_ends_at_attention(width, backwards, loud):
    q, k, v = loud * torch.randn(3, 4, 8).double(), torch.randn(3, 13, 8).double(), torch.randn(3, 13, 5).double()
    steps = fast.walk(q, k, v, width, backwards)
    assert len(steps) == -(-13 // width)
    scores = q @ k.mT * 8 ** -0.5
    close(steps[-1].out, F.scaled_dot_product_attention(q, k, v))
    close(steps[-1].largest, scores.amax(-1))
    close(steps[-1].total, (scores - scores.amax(-1, keepdim=True)).exp().sum(-1))
    for step, seen in zip(steps, range(width, 100, width)):          # in between, attention to the keys so far
        keys = slice(None, seen) if not backwards else slice(step.keys[0], None)
        close(step.out, F.scaled_dot_product_attention(q, k[:, keys], v[:, keys]))


@pytest.mark.parametrize("n, d", [(12, 4), (13, 7), (32, 16)])
@pytest.mark.parametrize("rows", [1, 2, 5, 32])
def test_traffic_is_what_a_counting_memory_counts(n, d, rows):
    tensors = {name: torch.randn(n, d).double() for name in "QKV"}
    plain, tiled = fast.SlowMemory(**tensors), fast.SlowMemory(**tensors)
    wanted = F.scaled_dot_product_attention(*tensors.values())
    close(fast.definition_counted(plain), wanted)
    close(fast.tiles_counted(tiled, rows, 3), wanted)
    assert plain.moved.total() == fast.moved_by_definition(n, d)
    assert tiled.moved.total() == fast.moved_by_tiles(n, d, rows)


def a_tile_memory():
    return fast.TileMemory(torch.randn(5, 2).double(), torch.randn(7, 2).double(), torch.randn(7, 3).double(), 2, 3)


def test_a_tile_takes_the_place_of_the_last_and_what_is_too_large_is_handed_out_and_told():
    memory = a_tile_memory()
    assert [(tile.start, tile.stop) for tile in memory.tiles("K")] == [(0, 3), (3, 6), (6, 7)]
    first, second = (memory.read("K", tile) for tile in memory.tiles("K")[:2])
    close(first, memory.tensors["K"][3:6])
    close(second, first)
    whole, values = memory.read("K"), memory.read("V", slice(0, 2))
    close(first, whole[3:6])
    close(values, memory.tensors["V"][:2])
    assert [(one.name, len(one.rows), one.count) for one in memory.log] == [
        ("K", 3, 6), ("K", 3, 6), ("K", 7, 14), ("V", 2, 6)]
    assert memory.moved.total() == 32 and not memory.copy().log
    memory.restart()
    assert not memory.log and not memory.moved.total()


def test_rows_are_written_where_they_belong_and_others_are_nan():
    memory, tile = a_tile_memory(), torch.ones(2, 3)
    memory.write("O", tile, slice(2, 4))
    assert memory.tensors["O"].isnan().sum() == 9 and (memory.tensors["O"][2:4] == 1).all()
    tile.zero_()                                                     # what was written stays
    assert (memory.tensors["O"][2:4] == 1).all() and memory.log[0].rows == [2, 3]


@pytest.mark.parametrize("call, says", [
    (lambda memory: memory.read("q"), "slow memory holds Q, K, V, and not q"),
    (lambda memory: memory.read("Q", [0, 1]), "rows must be a slice, got list"),
    (lambda memory: memory.write("O", slice(0, 2), torch.ones(2, 3)), "value must be a tensor, got slice"),
    (lambda memory: memory.write("O", torch.ones(2, 3), slice(4, 6)), r"have shape \(1, 3\), but value has \(2, 3\)"),
])
def test_a_tile_memory_refuses_what_it_cannot_do(call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call(a_tile_memory())


def test_tiles_of_fewer_than_half_of_d_rows_move_more():
    n, d = 1 << 16, 64
    ratio = {rows: fast.moved_by_tiles(n, d, rows) / fast.moved_by_definition(n, d) for rows in (16, 32, 64)}
    assert [round(ratio[rows], 1) for rows in (16, 32, 64)] == [2.0, 1.0, 0.5]


def test_operations_backward_are_more_without_the_weights():
    n, d = 16, 8
    q, k, v = (torch.randn(1, 1, n, d, requires_grad=True) for _ in range(3))
    out, _ = mha.attention(q, k, v, need_weights=True)
    with FlopCounterMode(display=False) as counter:
        out.sum().backward()
    assert fast.operations(n, d, stored=True) == (4 * n * n * d, counter.get_total_flops())
    given = torch.randn(1, 1, n, d)
    wanted = torch.autograd.grad(mha.attention(q, k, v)[0], (q, k, v), given)
    with torch.no_grad():
        out, _, lse = mha.attention(q, k, v, need_lse=True)
        with FlopCounterMode(display=False) as counter:                  # from out and lse alone
            weights = (q @ k.mT * d ** -0.5 - lse[..., None]).exp()
            of_scores = weights * (given @ v.mT - (given * out).sum(-1, keepdim=True)) * d ** -0.5
            found = of_scores @ k, of_scores.mT @ q, weights.mT @ given
    for a, b in zip(found, wanted):
        close(a, b, 1e-5)
    assert fast.operations(n, d, stored=False)[1] == counter.get_total_flops()


def test_torch_names_its_kernel():
    q = torch.randn(1, 2, 5, 8)
    assert fast.chosen_kernel(q, q, q) == "FLASH_ATTENTION"
    assert fast.chosen_kernel(q, q, q[..., :3]) == "MATH"                # values of another width
    assert fast.takes(SDPBackend.MATH, q, q, q) is None
    for _ in range(2):
        assert "the same last dimension" in fast.takes(SDPBackend.FLASH_ATTENTION, q, q, q[..., :3])


@pytest.mark.parametrize("kv_heads, machines", [(6, 1), (6, 2), (6, 3), (6, 6), (3, 1), (3, 3), (3, 6), (2, 6), (1, 3)])
def test_what_each_machine_holds_is_a_layer_whose_outputs_add_up(kv_heads, machines):
    layer = mha.MultiHeadAttention(7, 6, num_kv_heads=kv_heads, d_k=5, d_v=3).double()
    torch.nn.init.normal_(layer.W_O.bias)
    x, total = torch.randn(2, 4, 7).double(), layer.W_O.bias
    for held in fast.split(layer, machines):
        part = layer.prune(held.heads)
        for name, mine in (("W_Q", held.queries), ("W_K", held.keys), ("W_V", held.values)):
            assert torch.equal(getattr(part, name).weight, getattr(layer, name).weight[list(mine)])
        assert torch.equal(part.W_O.weight, layer.W_O.weight[:, list(held.rows)])
        cache = part.new_cache(1, 10)
        assert held.kept * 10 == cache.K.numel() + cache.V.numel()
        total = total + part(x)[0] - layer.W_O.bias
    close(total, layer(x)[0])


def test_the_words_for_what_each_machine_holds():
    words = fast.slices(mha.MultiHeadAttention(16, 4, num_kv_heads=2, d_k=3, d_v=5), 2)
    assert words == {"heads": ["0 to 1", "2 to 3"], "KV heads": ["0", "1"], "W_Q columns": ["0 to 5", "6 to 11"],
                     "W_K columns": ["0 to 2", "3 to 5"], "W_V columns": ["0 to 4", "5 to 9"],
                     "W_O rows": ["0 to 9", "10 to 19"]}


def test_heads_are_not_cut_in_two():
    with pytest.raises(ValueError, match="6 heads cannot be split over 4 machines"):
        fast.split(mha.MultiHeadAttention(12, 6), 4)
    with pytest.raises(ValueError, match="3 KV heads cannot be split over 2 machines"):
        fast.split(mha.MultiHeadAttention(12, 6, num_kv_heads=3), 2)
