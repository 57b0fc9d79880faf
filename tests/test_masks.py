"""Masks: True = may attend, entry by entry against the rule that each one states."""
import re

import pytest
import torch

from mha import MultiHeadAttention, masks
from mha.position import Rope
from support import close, see

N, M = 5, 7


@pytest.mark.parametrize("offset", [-2, 0, 2])
def test_causal_shows_keys_up_to_i_plus_offset(offset):
    assert torch.equal(masks.causal(N, M, offset), see(N, M, lambda i, j: j <= i + offset))


def test_causal_is_square_by_default():
    assert torch.equal(masks.causal(N), see(N, N, lambda i, j: j <= i))


@pytest.mark.parametrize("left,right", [(1, 2), (0, 0), (None, 1), (2, None), (None, None)])
def test_a_window_counts_keys_to_either_side(left, right):
    def rule(i, j):
        return (left is None or j >= i - left) and (right is None or j <= i + right)

    assert torch.equal(masks.window(N, N, left, right), see(N, N, rule))


def test_padding_hides_the_keys_after_each_sentence():
    mask = masks.padding([0, 3, M], M)
    assert mask.shape == (3, 1, 1, M)
    assert torch.equal(mask[:, 0, 0], see(3, M, lambda b, j: j < [0, 3, M][b]))
    assert torch.equal(masks.padding(torch.tensor([0, 3, M]), M), mask)


def test_padding_has_the_axes_of_the_batch():
    assert masks.padding(3, M).tolist() == [[[True] * 3 + [False] * (M - 3)]]
    many = masks.padding([[1, 2, 3], [4, 5, 6]], M)
    assert many.shape == (2, 3, 1, 1, M) and torch.equal(many.sum(-1).flatten(), torch.arange(1, 7))
    assert masks.padding([], M).shape == (0, 1, 1, M)
    assert masks.padding(torch.tensor([[1, 2], [1, 1]]), 2).shape == (2, 2, 1, 1, 2)
    assert masks.padding(torch.zeros(0, M).long(), M).shape == (0, M, 1, 1, M)


def test_padding_goes_to_the_device_that_is_named():
    assert masks.padding([3, 5], M, device="meta").device.type == "meta"


def test_an_offset_may_differ_between_sequences():
    offsets = torch.tensor([0, 2, -1])
    each = torch.stack([masks.window(N, M, 3, 1, int(offset)) for offset in offsets])[:, None]
    assert torch.equal(masks.window(N, M, 3, 1, offsets), each)
    assert torch.equal(masks.causal(N, M, offsets)[1, 0], masks.causal(N, M, 2))
    assert masks.causal(N, M, offsets.to("meta")).device.type == "meta"


def test_blocks_keep_packed_texts_apart_as_if_each_stood_alone():
    ids = torch.tensor([[0, 0, 0, 1, 1, 2], [4, 4, 4, 4, 4, 4]])
    layer = MultiHeadAttention(12, 3, causal=True, on_qk=Rope(), dtype=torch.float64)
    x = torch.randn(2, 6, 12, dtype=torch.float64)
    mask = masks.blocks(ids)
    assert mask.shape == (2, 1, 6, 6) and torch.equal(masks.blocks(ids[0]), mask[0, 0])
    packed = layer(x, mask=mask)[0]
    for text in (slice(0, 3), slice(3, 5), slice(5, 6)):
        close(packed[0, text], layer(x[0, text])[0])
    close(packed[1], layer(x[1])[0])
    assert masks.blocks(ids[0, :2], ids[0]).tolist() == [[True] * 3 + [False] * 3] * 2


def test_from_torch_turns_the_meaning_round():
    hidden = torch.rand(N, M) > 0.5
    assert torch.equal(masks.from_torch(hidden), ~hidden)
    assert torch.equal(masks.from_torch(attn_mask=hidden), ~hidden)
    per_head = torch.rand(2 * 3, N, M) > 0.5
    assert torch.equal(masks.from_torch(per_head, num_heads=3)[1, 2], ~per_head[1 * 3 + 2])


def test_from_torch_joins_both_masks():
    hidden, padding = torch.rand(N, M) > 0.5, torch.rand(2, M) > 0.5
    both = masks.from_torch(hidden, key_padding_mask=padding)
    assert both.shape == (2, 1, N, M)
    assert torch.equal(both[1, 0], ~hidden & ~padding[1])


@pytest.mark.parametrize("mask,words", [
    (masks.causal(4), "nothing leaks from the future"),
    (masks.padding([2, 4], 4), "2 sequences, every head, every query, 4 keys"),
    (torch.zeros(3, 4, dtype=torch.bool), "3 rows see no key at all"),
    (see(3, 4, lambda i, j: i != 1), "1 row sees no key at all"),
    (see(3, 4, lambda i, j: i != 1).expand(2, 5, 3, 4) & (torch.arange(2) < 1)[:, None, None, None],
     "2 sequences, 5 heads, 3 queries, 4 keys.*20 rows see no key at all"),
    (torch.ones(3, 4, dtype=torch.bool), "It hides nothing"),
    (~torch.eye(4, dtype=torch.bool), "No query sees itself"),
    (see(3, 4, lambda b, j: j < [2, 4, 1][b]), r"looks like \(batch, length\)"),
])
def test_explain_says_what_stands_out(mask, words):
    assert re.search(words, masks.explain(mask), re.DOTALL)


def test_explain_says_of_a_single_query_nothing_about_the_future():
    assert "future" not in masks.explain(masks.causal(1, 4))


def test_explain_does_not_send_to_padding_who_comes_from_there():
    assert "batch, length" not in masks.explain(masks.padding([3, 1], 4))


def test_explain_does_not_take_a_causal_mask_for_padding():
    assert "batch, length" not in masks.explain(masks.causal(4))


ERRORS = {
    "float": (lambda: masks.explain(torch.ones(2, 2)), TypeError, "mask is torch.float32; it must be bool"),
    "axes": (lambda: masks.explain(torch.ones(2, dtype=torch.bool)), ValueError, "explain reads 2 to 4"),
    "too_long": (lambda: masks.padding([3, 9], M), ValueError, "lengths has 9, outside 0 to m=7"),
    "float_lengths": (lambda: masks.padding(torch.tensor([1.0]), M), TypeError, "it must hold whole numbers"),
    "numbers_beside_lists": (lambda: masks.padding([1, [2]], M), ValueError, "rows of different sizes"),
    "window": (lambda: masks.window(N, N, -1, 0), ValueError, "negative side"),
    "negative": (lambda: masks.causal(-1), ValueError, "n=-1 is negative"),
    "pair": (lambda: masks.window(3, (1, 1)), TypeError, r"m=\(1, 1\) is a tuple"),
    "float_offsets": (lambda: masks.causal(3, offset=torch.zeros(2)), TypeError, "offset is torch.float32"),
    "numpy": (lambda: masks.from_torch(torch.ones(2, 2).numpy() > 0), TypeError, "mask is a ndarray"),
    "none": (lambda: masks.from_torch(), ValueError, "got no mask"),
    "float_torch": (lambda: masks.from_torch(torch.zeros(N, M)), TypeError, "give a float one as bias="),
    "no_num_heads": (lambda: masks.from_torch(torch.ones(6, N, M).bool()), ValueError, "num_heads= is needed"),
    "multiple": (lambda: masks.from_torch(torch.ones(6, N, M).bool(), num_heads=4), ValueError,
                 "no multiple of num_heads=4"),
    "text_num_heads": (lambda: masks.from_torch(torch.ones(6, N, M).bool(), num_heads="3"), TypeError, "num_heads='3'"),
    "text_lengths": (lambda: masks.blocks([0, 0, 1]), TypeError, r"ids is a list; .*torch.as_tensor\(ids\)"),
    "text_mask": (lambda: masks.blocks(torch.ones(2, 3).bool()), TypeError, "ids is torch.bool; it must hold whole"),
    "text_axes": (lambda: masks.blocks(torch.ones(2, 1, 3).long()), ValueError, r"ids has shape \(2, 1, 3\)"),
    "text_batches": (lambda: masks.blocks(torch.ones(2, 3).long(), torch.ones(3).long()), ValueError, "the same batch"),
    "other_keys": (lambda: masks.from_torch(torch.ones(N, M).bool(), key_padding_mask=torch.ones(2, N).bool()),
                   ValueError, r"key_padding_mask has shape \(2, 5\) and attn_mask \(5, 7\).*same keys"),
    "other_batch": (lambda: masks.from_torch(torch.ones(6, N, M).bool(), num_heads=3,
                                             key_padding_mask=torch.ones(3, M).bool()), ValueError, r"\(3, 7\) and"),
    "devices": (lambda: masks.from_torch(torch.ones(N, M).bool(), key_padding_mask=torch.ones(2, M).bool().to("meta")),
                ValueError, "attn_mask is on cpu but key_padding_mask is on meta"),
    "tensors_of_lengths": (lambda: masks.padding([torch.tensor(3), torch.tensor(5)], M), TypeError, "torch.stack"),
    "list_for_lengths": (lambda: masks.padding([[1, 1, 0], [1, 1, 1]], 3), ValueError, r"attention_mask.bool\(\)"),
    "infinite_side": (lambda: masks.window(N, M, float("inf"), 0), TypeError, "left=inf is a float.*None for no limit"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_input_gets_a_sentence_that_helps(case):
    call, kind, words = ERRORS[case]
    with pytest.raises(kind, match=words):
        call()
