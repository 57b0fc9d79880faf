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
               r"causal=True with n=5 queries and m=7 keys.*offset=0.*offset=2"),
    "window_length": (lambda: attention(Q, K, V, window=(1, 1)), ValueError, "window= with n=5 queries and m=7 keys"),
    "lost_offset": (lambda: attention(Q, K, V, offset=2), ValueError, "offset=2 does nothing by itself"),
    "negative_window": (lambda: attention(SQUARE, SQUARE, SQUARE, window=(-1, 0)), ValueError,
                        r"window=\(-1, 0\) has a negative side"),
    "window_number": (lambda: attention(SQUARE, SQUARE, SQUARE, window=3), ValueError,
                      r"must be a pair \(left, right\)"),
    "dropout": (lambda: attention(Q, K, V, dropout=1.5), ValueError, "dropout=1.5 is no probability"),
    "text_for_dropout": (lambda: attention(Q, K, V, dropout="0.1"), TypeError, "dropout='0.1' is a str"),
    "true_dropout": (lambda: attention(Q, K, V, dropout=True), TypeError, "dropout=True is a bool"),
    "text_for_causal": (lambda: attention(SQUARE, SQUARE, SQUARE, causal="no"), TypeError,
                        "causal is 'no'; it must be True or False"),
    "mask_for_causal": (lambda: attention(Q, K, V, causal=YES), TypeError,
                        r"causal is a Tensor of shape \(5, 7\).*goes into mask="),
    "none_for_causal": (lambda: attention(Q, K, V, causal=None), TypeError, "causal is None"),
    "half_offset": (lambda: attention(Q, K, V, causal=True, offset=1.5), TypeError, "offset=1.5 is a float.*whole"),
    "true_offset": (lambda: attention(Q, K, V, causal=True, offset=True), TypeError, "offset=True is a bool"),
    "window_text": (lambda: attention(SQUARE, SQUARE, SQUARE, window=("1", 2)), TypeError, "'1' is a str"),
    "window_half": (lambda: attention(SQUARE, SQUARE, SQUARE, window=(1.5, 2)), TypeError, "1.5 is a float"),
    "window_bools": (lambda: attention(SQUARE, SQUARE, SQUARE, window=(True, 2)), TypeError, "True is a bool"),
    "text_for_scale": (lambda: attention(Q, K, V, scale="0.1"), TypeError, "scale='0.1' is a str"),
    "nan_scale": (lambda: attention(Q, K, V, scale=float("nan")), ValueError, "scale=nan must be finite"),
    "learned_scale": (lambda: attention(Q, K, V, scale=torch.ones(H)), TypeError,
                      r"scale is a Tensor of shape \(3,\).*q \* factor"),
    "true_scale": (lambda: attention(Q, K, V, scale=True), TypeError, "scale=True is a bool"),
    "softcap": (lambda: attention(Q, K, V, softcap=-1.0), ValueError, "softcap=-1.0 must be above 0"),
    "no_softcap": (lambda: attention(Q, K, V, softcap=float("inf")), ValueError, "softcap=inf.*leave it out"),
    "text_for_softcap": (lambda: attention(Q, K, V, softcap="2"), TypeError, "softcap='2' is a str"),
    "complex": (lambda: attention(Q.cfloat(), K.cfloat(), V.cfloat()), TypeError, "complex numbers is not defined"),
    "token_numbers": (lambda: attention(Q.long(), K, V), TypeError, "numbers of tokens.*nn.Embedding"),
    "none_for_q": (lambda: attention(None, K, V), TypeError, "q is a NoneType; it must be a torch.Tensor$"),
    "negative_dropout": (lambda: attention(Q, K, V, dropout=-0.1), ValueError, "dropout=-0.1 is no probability"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_input_gets_a_sentence_that_helps(case):
    call, kind, words = ERRORS[case]
    with pytest.raises(kind, match=words):
        call()
