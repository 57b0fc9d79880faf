"""What mha.attention says of inputs that it cannot take: both values are named, and how to mend it."""
import pytest
import torch

from mha.attention import attention

B, H, N, M, D_K, D_V = 2, 3, 5, 7, 11, 13
Q, K, V = (torch.zeros(B, H, rows, size) for rows, size in ((N, D_K), (M, D_K), (M, D_V)))
SQUARE = torch.zeros(B, H, N, D_K)
YES = torch.ones(N, M, dtype=torch.bool)
ERRORS = {
    "d_k": (lambda: attention(Q, K[..., :4], V), ValueError, "q has d_k=11 but k has d_k=4"),
    "no_d_k": (lambda: attention(Q[..., :0], K[..., :0], V), ValueError, "d_k=0"),
    "length": (lambda: attention(Q, K, V[:, :, :4]), ValueError, "k has m=7 keys but v has m=4 values"),
    "batch": (lambda: attention(Q, K[:1], V[:1]), ValueError, "nothing is broadcast in silence: use .expand"),
    "batch_of_v": (lambda: attention(Q, K, V[:1]), ValueError, r"\(2, 3, 5, 11\), \(2, 3, 7, 11\) and \(1, 3, 7, 13\)"),
    "axes": (lambda: attention(Q, K[0], V[0]), ValueError, "must be equal, nothing is broadcast"),
    "heads": (lambda: attention(Q, K[:, :2], V[:, :2]), ValueError, "q has 3 heads and k has 2"),
    "heads_of_v": (lambda: attention(Q, K, V[:, :1]), ValueError, "k has 3 heads but v has 1"),
    "too_many_kv_heads": (lambda: attention(Q[:, :1], K, V), ValueError, "q has 1 heads and k has 3"),
    "one_axis": (lambda: attention(Q[0, 0, 0], K, V), ValueError, r"q has shape \(11,\); it needs at least 2 axes"),
    "list": (lambda: attention([[1.0]], K, V), TypeError, "q is a list.*torch.as_tensor"),
    "integer": (lambda: attention(Q, K.long(), V), TypeError, r"k is torch.int64; it must be floating point"),
    "mixed": (lambda: attention(Q, K.double(), V), TypeError, "q is torch.float32, k is torch.float64.*autocast"),
    "devices": (lambda: attention(Q, K.to("meta"), V), ValueError, "q is on cpu but k is on meta"),
    "mask_device": (lambda: attention(Q, K, V, mask=YES.to("meta")), ValueError, "q is on cpu but mask is on meta"),
    "bias_device": (lambda: attention(Q, K, V, bias=YES.to("meta").float()), ValueError, "cpu but bias is on meta"),
    "float_mask": (lambda: attention(Q, K, V, mask=YES.float()), TypeError, r"float32.*mask.bool\(\).*bias="),
    "int_mask": (lambda: attention(Q, K, V, mask=YES.int()), TypeError, r"mask is torch.int32.*mask.bool\(\)"),
    "mask_shape": (lambda: attention(Q, K, V, mask=YES.T), ValueError,
                   r"\(7, 5\), which does not broadcast to \(2, 3, 5, 7\)"),
    "mask_3_axes": (lambda: attention(Q, K, V, mask=YES.expand(3, N, M)), ValueError,
                    r"ambiguous.*mask\[:, None\].*mask\[None\]"),
    "mask_1_axis": (lambda: attention(Q, K, V, mask=YES[0]), ValueError,
                    r"mask has 1 axes, \(7,\); give 2, \(n, m\) = \(5, 7\)"),
    "mask_5_axes": (lambda: attention(Q, K, V, mask=YES[None, None, None]), ValueError, "mask has 5 axes"),
    "mask_list": (lambda: attention(Q, K, V, mask=[[True]]), TypeError, "mask is a list"),
    "bool_bias": (lambda: attention(Q, K, V, bias=YES), TypeError, "bias is torch.bool.*use mask="),
    "int_bias": (lambda: attention(Q, K, V, bias=YES.int()), TypeError, "bias is torch.int32"),
    "bias_shape": (lambda: attention(Q, K, V, bias=torch.zeros(M, N)), ValueError,
                   "bias has shape .* does not broadcast"),
    "bias_3_axes": (lambda: attention(Q, K, V, bias=torch.zeros(H, N, M)), ValueError, r"ambiguous.*bias\[None\]"),
    "causal": (lambda: attention(Q, K, V, causal=True), ValueError,
               r"causal=True with n=5 queries and m=7 keys.*offset=0.*offset=2.*mha.masks.causal"),
    "window_length": (lambda: attention(Q, K, V, window=(1, 1)), ValueError, "window= with n=5 queries and m=7 keys"),
    "lost_offset": (lambda: attention(Q, K, V, offset=2), ValueError, "offset=2 does nothing by itself"),
    "negative_window": (lambda: attention(SQUARE, SQUARE, SQUARE, window=(-1, 0)), ValueError,
                        r"window=\(-1, 0\) has a negative side"),
    "window_number": (lambda: attention(SQUARE, SQUARE, SQUARE, window=3), ValueError,
                      r"must be a pair \(left, right\)"),
    "dropout": (lambda: attention(Q, K, V, dropout=1.5), ValueError, "dropout=1.5 is no probability"),
    "negative_dropout": (lambda: attention(Q, K, V, dropout=-0.1), ValueError, "dropout=-0.1 is no probability"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_input_gets_a_sentence_that_helps(case):
    call, kind, words = ERRORS[case]
    with pytest.raises(kind, match=words):
        call()
