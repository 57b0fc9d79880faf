"""What caches and positions say of inputs that they cannot take: what came, what was wanted, how to mend it."""
import numpy
import pytest
import torch

from mha import KVCache, MultiHeadAttention, MultiHeadLatentAttention
from mha.position import alibi_bias, alibi_slopes, llama3, sinusoids
from support import refused

B, H, N, D = 2, 3, 5, 12
X = torch.zeros(B, N, D)
LAYER = MultiHeadAttention(D, H, causal=True)


def filled():
    """A cache with 3 tokens of each sequence, and room for 6 more."""
    cache = LAYER.new_cache(B, 9)
    cache.append(torch.zeros(B, H, 3, 4), torch.zeros(B, H, 3, 4))
    return cache


def call(cache, x=X, **options):
    with torch.no_grad():
        return LAYER(x, cache=cache, **options)


ERRORS = {
    "no_tokens_axis": (lambda: call(filled(), X[:, 0]), ValueError, r"x\[:, None\] for one token"),
    "class": (lambda: call(KVCache), TypeError, r"cache is a type; it must be a mha.KVCache: layer.new_cache"),
    "too_long": (lambda: call(filled(), torch.zeros(B, 7, D)), ValueError, "max_len=9 tokens and holds 3; 7 more"),
    "autocast": (lambda: call(KVCache(B, H, 9, 4, dtype=torch.bfloat16)), TypeError,
                 r"make one that fits: layer.new_cache\(batch, max_len, dtype=torch.float32\)"),
    "tensor_for_batch": (lambda: LAYER.new_cache(X, 9), TypeError, r"batch is a Tensor of shape \(2, 5, 12\)"),
    "dtype": (lambda: KVCache(B, H, 9, 4, dtype=torch.int64), TypeError, "dtype=torch.int64 must be a floating-point"),
    "eight_bits": (lambda: KVCache(B, H, 9, 4, dtype=torch.float8_e5m2), TypeError, "float8_e5m2 .* 16 bits or more"),
    "advance_back": (lambda: filled().advance(-1), ValueError, r"n=-1 tokens.*cache.crop\(length\)"),
    "advance_too_far": (lambda: filled().advance(7), ValueError, "room for max_len=9 and holds 3"),
    "advance_unwritten": (lambda: filled().advance(2), ValueError, r"n=2 .* 0 were written behind the 3 that are kept; "
                          r"cache.write\(K, V\) first"),
    "advance_half": (lambda: filled().advance(1.5), TypeError, "n=1.5 is a float"),
    "crop_set": (lambda: filled().crop({1, 2}), TypeError, "or a list or tensor, a number for each sequence"),
    "base_0": (lambda: sinusoids(N, D, 0), ValueError, "base=0 must be above 0"),
    "text_for_base": (lambda: sinusoids(N, D, "10000"), TypeError, "base='10000' is a str"),
    "tensor_for_base": (lambda: sinusoids(N, D, torch.ones(1)), TypeError, "base is a Tensor.*2 pi base.*tokens$"),
    "latent_base": (lambda: MultiHeadLatentAttention(D, H, d_c=4, base=0), ValueError, "base=0 must be above 0"),
    "text_for_heads": (lambda: alibi_bias("8", N, slopes=torch.ones(8)), TypeError, "num_heads='8' is a str"),
    "whole_slopes": (lambda: alibi_bias(8, N, slopes=torch.ones(8).long()), TypeError, r"try slopes.float\(\)"),
}


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)


@pytest.mark.parametrize("wrong", [{"head_mask": torch.ones(2)}, {"scale": "no"}, {"mask": torch.ones(N, N).bool()},
                                   {"need_weights": "no"}], ids=lambda wrong: next(iter(wrong)))
def test_after_an_error_a_cache_holds_what_it_held(wrong):
    cache = filled()
    with pytest.raises((TypeError, ValueError)):
        call(cache, **wrong)
    assert cache.length == cache.filled == 3


def test_numpys_whole_numbers_are_whole_numbers():
    assert torch.equal(alibi_slopes(numpy.int64(12)), alibi_slopes(12))


def test_what_is_missing_is_told_with_brackets_that_close():
    with pytest.raises(TypeError, match="got no length") as error:
        llama3(8, factor=2.0)
    assert str(error.value).count("(") == str(error.value).count(")")
