"""Exercise 12.10: what the checker says of kernels that are in no table, each wrong in what it moves or holds."""
import math

import pytest
import torch

from mha.exercises import EXERCISES, check
from mha.exercises.chapter_12.traffic import account


def scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


def output(memory, q, start=-math.inf):
    """Of these queries, tile by tile."""
    top, total, acc = torch.full_like(q[:, :1], start), 0.0, 0.0
    for keys in memory.tiles("K"):
        s = scores(q, memory.read("K", keys))
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        old, powers = (top - new).exp(), (s - new).exp()
        total, acc, top = old * total + powers.sum(-1, keepdim=True), old * acc + powers @ memory.read("V", keys), new
    return acc / total


def keys_kept(memory):
    K, V = (torch.cat([memory.read(name, tile).clone() for tile in memory.tiles(name)]) for name in "KV")
    for queries in memory.tiles("Q"):
        memory.write("O", scores(memory.read("Q", queries), K).softmax(-1) @ V, queries)
    return memory


def keys_gathered_for_each_tile(memory):
    for queries in memory.tiles("Q"):
        q, K, V = memory.read("Q", queries), [], []
        for keys in memory.tiles("K"):
            K.append(memory.read("K", keys).clone())
            V.append(memory.read("V", keys).clone())
        memory.write("O", scores(q, torch.cat(K)).softmax(-1) @ torch.cat(V), queries)
    return memory


def scores_kept(memory):
    for queries in memory.tiles("Q"):
        q = memory.read("Q", queries)
        weights = torch.cat([scores(q, memory.read("K", keys)) for keys in memory.tiles("K")], -1).softmax(-1)
        memory.write("O", sum(weights[:, keys] @ memory.read("V", keys) for keys in memory.tiles("V")), queries)
    return memory


def one_tile_too_late(memory):
    for queries in memory.tiles("Q"):
        q, K, V = memory.read("Q", queries), [], []
        for keys in memory.tiles("K"):
            K.append(memory.read("K", keys))
            V.append(memory.read("V", keys))
        memory.write("O", scores(q, torch.cat(K)).softmax(-1) @ torch.cat(V), queries)
    return memory


def written_at_the_end(memory):
    memory.write("O", torch.cat([output(memory, memory.read("Q", queries)) for queries in memory.tiles("Q")]))
    return memory


def first_tile_alone(memory):
    queries = memory.tiles("Q")[0]
    memory.write("O", output(memory, memory.read("Q", queries)), queries)
    return memory


def keys_outside(memory):
    sums = {}
    for keys in memory.tiles("K"):
        k, v = memory.read("K", keys), memory.read("V", keys)
        for queries in memory.tiles("Q"):
            s = scores(memory.read("Q", queries), k)
            out, lse = s.softmax(-1) @ v, s.logsumexp(-1, keepdim=True)
            if queries.start in sums:
                before, first = sums[queries.start]
                both = torch.logaddexp(first, lse)
                out, lse = (first - both).exp() * before + (lse - both).exp() * out, both
            sums[queries.start] = out, lse
    for queries in memory.tiles("Q"):
        memory.write("O", sums[queries.start][0], queries)
    return memory


def output_as_memory(memory):
    for queries in memory.tiles("Q"):
        out = output(memory, memory.read("Q", queries))
        memory.write("O", out / 2, queries)
        memory.write("O", 2 * memory.read("O", queries), queries)
    return memory


def past_the_memory(memory):
    Q, K, V = memory.tensors.values()
    for queries in memory.tiles("Q"):
        memory.write("O", scores(Q[queries], K).softmax(-1) @ V, queries)
    return memory


def maximum_from_zero(memory):
    for queries in memory.tiles("Q"):
        memory.write("O", output(memory, memory.read("Q", queries), start=0), queries)
    return memory


def returns_the_output(memory):
    return torch.cat([output(memory, memory.read("Q", queries)) for queries in memory.tiles("Q")])


@pytest.mark.parametrize("answer, says", [
    (keys_kept, "O is right. It reads 3 numbers of Q, 3 of K and 6 of V, and writes 6 of O; 3, 6, 12 and 6 are enough. "
                "With room for one tile of each, a kernel must read all of Q, and at least 4 numbers of K and 8 of V, "
                "so this one has numbers from elsewhere."),
    (keys_gathered_for_each_tile, "the tensors in its variables have up to 240 numbers"),
    (scores_kept, "the tensors in its variables have up to"),
    (one_tile_too_late, "It uses a tile whose place a later one has taken"),
    (written_at_the_end, "It writes 3 rows of O at once, and fast memory has room for 2."),
    (first_tile_alone, "2 of 6 numbers of O are never written. It reads 2 numbers of Q"),
    (keys_outside, "It reads rows of Q again after others were read"),
    (output_as_memory, "It reads back 6 numbers of O."),
    (past_the_memory, "It reads 0 numbers of Q, 0 of K and 0 of V"),
    (maximum_from_zero, "scores from -3490 to -2147: 6 of 6 numbers of O are NaN"),
    (returns_the_output, "it should be the memory that it was given"),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_a_kernel_moves_or_holds_too_much_is_told(answer, says):
    report = check("12.10", answer)
    assert not report.ok and report.mistakes == [] and says in report.text, report.text


def test_a_kernel_moves_what_its_note_says():
    exercise = EXERCISES["12.10"]
    for case in exercise.cases:
        memory = exercise.reference(*case.copies())
        wrong, told = account(memory)
        (n, d_k), (m, d_v) = memory.tensors["Q"].shape, memory.tensors["V"].shape
        assert not any(wrong.values())
        assert memory.moved.total() == n * (d_k + d_v) + len(memory.tiles("Q")) * m * (d_k + d_v)
        assert memory.moved["read"] == told["Q"] + told["K"] + told["V"] and memory.moved["written"] == told["O"]
