"""Chapter 10: what the answers and replies of its questions say, computed."""
import pytest
import torch

from mha import MultiHeadAttention, attention
from mha.exercises import EXERCISES
from mha.position import alibi_bias, rope
from support import close, tokens

EVEN = torch.zeros(13, 1, dtype=torch.float64)             # queries and keys that prefer nobody

def test_the_two_tokens_before_are_known_as_well_as_a_mean_of_all_before_tells_them():
    """Least squares on the output of an even head and the token itself, for tokens drawn anew each time."""
    contents = torch.randn(40_000, 11, generator=torch.Generator().manual_seed(10), dtype=torch.float64)
    mixed = attention(EVEN[:11], EVEN[:11], contents.T, causal=True)[0][-1]      # what the last token gets
    seen = torch.stack([mixed, contents[:, -1]], -1)
    wanted = contents[:, -3:-1].sum(1)
    guess = seen @ torch.linalg.lstsq(seen, wanted[:, None]).solution
    item = EXERCISES["10.5"]
    assert item.answer == pytest.approx(float((wanted - guess[:, 0]).square().mean()), abs=0.04)
    told, mean = {mistake.id: value for value, mistake in item.mistakes}, contents[:, :-1].mean(1)
    for id, guess in (("mean-not-doubled", mean), ("knows-nothing", 0 * mean)):
        assert told[id] == pytest.approx(float((wanted - guess).square().mean()), abs=0.04)
    apart = (contents[:, -3:-1] - mean[:, None]).square().mean(0).sum()
    assert told["errors-added"] == pytest.approx(float(apart), abs=0.04)
    q, k, v = tokens(3, 11, 5)                             # the bound: no head knows the order of those before
    shuffled = torch.tensor([4, 9, 0, 7, 2, 5, 1, 8, 3, 6, 10])
    before, after = (attention(q[i], k[i], v[i], causal=True)[0][-1] for i in (torch.arange(11), shuffled))
    close(before, after)


def test_which_of_the_outputs_of_two_kinds_of_tokens_can_differ():
    item, kinds = EXERCISES["10.6"], dict(zip("XY", tokens(2, 12)))
    layers = [MultiHeadAttention(12, 3, causal=True, dtype=torch.float64) for _ in range(3)]

    def out(text, place, depth=3):
        x = torch.stack([kinds[letter] for letter in text])
        for layer in layers[:depth]:
            x = x + torch.tanh(layer(x)[0])
        return x[place - 1]

    text, others = "X" * 6 + "Y" * 6, ("X" * 12, "XY" * 6, "X" * 5 + "Y" * 7)
    pairs = [(out(text, 3), out(text, 5)), (out(text, 8), out(text, 11)), (out(text, 5), out(others[0], 5)),
             (out(text, 12), out(others[1], 12)), (out(text, 12), out(others[2], 12))]
    for letter, (one, other) in zip(item.letters, pairs, strict=True):
        assert torch.allclose(one, other, atol=1e-12) != (letter in item.right), letter
    close(out(text, 12, depth=1), out(others[1], 12, depth=1))
    assert not torch.allclose(out(text, 12, depth=1), out(others[2], 12, depth=1), atol=1e-3)


def test_equal_tokens_stay_equal_in_a_causal_stack_and_a_start_token_tells_how_many():
    layers = [MultiHeadAttention(12, 3, causal=True, dtype=torch.float64) for _ in range(3)]
    text = x = tokens(1, 12).expand(12, 12)
    for layer in layers:
        x = x + torch.tanh(layer(x)[0])
    close(x, x[:1].expand(12, 12))
    assert not torch.allclose(x, text, atol=0.1)
    start = torch.eye(13, dtype=torch.float64)[0]          # 1 at the first, else 0
    read = attention(EVEN, EVEN, start[:, None], causal=True)[0][:, 0]
    close(read, 1 / torch.arange(1, 14).double())


def test_a_hand_of_one_speed_is_back_after_22_steps_of_2_radians_and_not_before():
    item, pair = EXERCISES["10.7"], torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    query = rope(pair, torch.tensor([2]))                  # looks one back
    scores = (query @ rope(pair.expand(2000, 2), 2 * torch.arange(2000)).mT)[0]
    assert scores.argmax() == 1
    peaks = (scores > 0.999).nonzero().flatten().tolist()
    assert peaks[1] == item.answer == 23 and peaks[2] == 45
    assert scores[356] > scores[23] and scores[12] < -0.999 and scores[[4, 5]].max() < 0.999
    told = {value: mistake.says for value, mistake in item.mistakes}
    for distance, digits in ((4, 3), (5, 3), (45, 4)):
        assert f"{scores[distance]:.{digits}f} C" in told[distance]
    for speed, value in ((1, 45), (0.5, 89)):
        turned = torch.cos(speed * (torch.arange(2000).double() - 1))
        assert (turned > 0.999).nonzero().flatten()[1] == value


def turned_before_the_cut(Q, K, positions):
    """Queries and keys (h, n, d_k), turned as one vector of h d_k numbers."""
    h = len(Q)
    whole = (rope(x.transpose(0, 1).flatten(1), positions, interleaved=True) for x in (Q, K))
    return [x.unflatten(-1, (h, -1)).transpose(0, 1) for x in whole]


def turned_after(Q, K, positions):
    return [rope(x, positions, interleaved=True) for x in (Q, K)]


def shift_passes(turn, Q, K, near):
    """Scores stay when all positions are shifted by 7."""
    scores = [torch.matmul(q, k.mT) for q, k in (turn(Q, K, near), turn(Q, K, near + 7))]
    return torch.allclose(*scores)


def length_passes(turn, Q, K, near):
    return torch.allclose(turn(Q, K, near)[0].norm(dim=(0, -1)), Q.norm(dim=(0, -1)))


def equal_heads_pass(turn, Q, K, near):
    q, k = turn(Q[:1].expand_as(Q), K[:1].expand_as(K), near)
    return torch.allclose(q[0] @ k[0].mT, q[-1] @ k[-1].mT)


def agrees(turn, Q, K, near):
    return all(map(torch.allclose, turn(Q, K, near), turned_after(Q, K, near)))


def one_head_agrees(turn, Q, K, near):
    return agrees(turn, Q[:1], K[:1], near)


def cache_passes(turn, Q, K, near):
    """Token by token, each at its own position, keys are as they are at once."""
    steps = [turn(Q[:, i : i + 1], K[:, i : i + 1], near[i : i + 1])[1] for i in near.tolist()]
    return torch.allclose(torch.cat(steps, 1), turn(Q, K, near)[1])


def test_of_six_tests_two_notice_that_pairs_are_turned_before_the_cut():
    item, (Q, K) = EXERCISES["10.8"], tokens(2, 8, 5, 64)
    tests = shift_passes, length_passes, equal_heads_pass, one_head_agrees, agrees, cache_passes
    for letter, passes in zip(item.letters, tests, strict=True):
        assert passes(turned_after, Q, K, torch.arange(5))
        assert passes(turned_before_the_cut, Q, K, torch.arange(5)) != (letter in item.right), letter
    speeds = 10000.0 ** (-torch.arange(0, 512, 2, dtype=torch.float64) / 512)
    waves = (2 * torch.pi / speeds).unflatten(0, (8, -1))
    assert f"shorter than {waves[-1].min():,.0f} tokens" in item.note and "19,869" in item.note
    assert f"longer than {waves[0].max():.0f}" in item.note


def test_the_most_that_a_slope_gives_to_the_two_tokens_before():
    def most(back, slopes=torch.linspace(0.05, 6, 12_000, dtype=torch.float64), n=400):
        """The largest weight of the last of n tokens on those so many back, together."""
        bias = alibi_bias(len(slopes), 1, n, offset=n - 1, slopes=slopes)
        return float(bias.softmax(-1)[:, 0, [n - 1 - each for each in back]].sum(-1).max())

    def at(ratio):
        return most([1, 2], -torch.tensor([ratio]).double().log())

    item = EXERCISES["10.9"]
    assert item.answer == pytest.approx(most([1, 2]), abs=1e-6)
    told = {mistake.id: value for value, mistake in item.mistakes}
    assert told["one-back"] == pytest.approx(most([1]), abs=1e-6)
    assert told["two-back"] == pytest.approx(most([2]), abs=1e-6)
    assert told["two-slopes"] == told["one-back"] + told["two-back"]
    for id, ratio in (("best-for-one", 1 / 2), ("best-for-two-back", 2 / 3)):
        assert told[id] == pytest.approx(at(ratio)) and told[id] < item.answer
    assert at(told["ratio-for-weight"]) == pytest.approx(item.answer)
    assert most([1, 2], torch.tensor([told["slope-for-weight"]]).double()) == pytest.approx(item.answer)


def test_a_query_turned_back_by_37_looks_37_back_and_independent_ones_nowhere():
    k, far = tokens(1, 64), torch.arange(4097)
    scores = (rope(k, torch.tensor([-37])) @ rope(k.expand(4097, 64), -far).mT)[0]  # the query stands at 0
    assert scores.argmax() == 37
    Q, K = tokens(20_000, 64), tokens(20_000, 64)
    for distance in (1, 37, 1000):
        drawn = (rope(Q, torch.full((20_000,), distance)) * K).sum(-1)
        assert abs(drawn.mean()) < 0.25 and abs(drawn.std() - 8) < 0.25      # 64 products of spread 1


def test_a_query_that_is_its_key_loses_by_and_large_and_not_at_every_step():
    ones, far = torch.ones(1, 64, dtype=torch.float64), torch.arange(4097)
    scores = (ones @ rope(ones.expand(4097, 64), far).mT)[0] / 64        # the mean of the cosines
    assert scores[0] == 1 and (scores[1:] < 1).all()
    assert scores[:10].mean() > scores[100:200].mean() > scores[-100:].mean()
    assert (scores.diff() > 0).double().mean() > 0.4
