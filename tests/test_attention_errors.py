"""What mha.attention says of inputs that it cannot take: both values are named, and how to mend it."""
import torch

from mha.attention import attention
from support import refused

B, H, N, M, D_K, D_V = 2, 3, 5, 7, 11, 13
Q, K, V = (torch.zeros(B, H, rows, size) for rows, size in ((N, D_K), (M, D_K), (M, D_V)))
SQUARE = torch.zeros(B, H, N, D_K)
YES = torch.ones(N, M, dtype=torch.bool)
ERRORS = {
    "d_k": (lambda: attention(Q, K[..., :4], V), ValueError, "q has d_k=11 but k has d_k=4"),
    "no_d_k": (lambda: attention(Q[..., :0], K[..., :0], V), ValueError, "d_k=0"),
    "length": (lambda: attention(Q, K, V[:, :, :4]), ValueError, "k has m=7 keys but v has m=4 values"),
    "heads": (lambda: attention(Q, K[:, :2], V[:, :2]), ValueError, "q has 3 heads and k has 2"),
    "heads_of_v": (lambda: attention(Q, K, V[:, :1]), ValueError, "k has 3 heads but v has 1"),
    "one_axis": (lambda: attention(Q[0, 0, 0], K, V), ValueError, r"q has shape \(11,\); it needs at least 2 axes"),
    "mixed": (lambda: attention(Q, K.double(), V), TypeError, "q is torch.float32, k is torch.float64.*autocast"),
    "devices": (lambda: attention(Q, K.to("meta"), V), ValueError, "q is on cpu but k is on meta"),
    "mask_device": (lambda: attention(Q, K, V, mask=YES.to("meta")), ValueError, "q is on cpu but mask is on meta"),
    "bias_device": (lambda: attention(Q, K, V, bias=YES.to("meta").float()), ValueError, "cpu but bias is on meta"),
    "mask_1_axis": (lambda: attention(Q, K, V, mask=YES[0]), ValueError,
                    r"mask has 1 axes, \(7,\); give 2, \(n, m\) = \(5, 7\)"),
    "bool_bias": (lambda: attention(Q, K, V, bias=YES), TypeError, "bias is torch.bool.*use mask="),
    "bias_3_axes": (lambda: attention(Q, K, V, bias=torch.zeros(H, N, M)), ValueError, r"ambiguous.*bias\[None\]"),
    "lost_offset": (lambda: attention(Q, K, V, offset=2), ValueError, "offset=2 does nothing by itself"),
    "window_number": (lambda: attention(SQUARE, SQUARE, SQUARE, window=3), ValueError,
                      r"must be a pair \(left, right\)"),
    "dropout": (lambda: attention(Q, K, V, dropout=1.5), ValueError, "dropout=1.5 is no probability"),
    "text_for_causal": (lambda: attention(SQUARE, SQUARE, SQUARE, causal="no"), TypeError,
                        "causal is 'no'; it must be True or False"),
    "nan_scale": (lambda: attention(Q, K, V, scale=float("nan")), ValueError, "scale=nan must be finite"),
    "softcap": (lambda: attention(Q, K, V, softcap=-1.0), ValueError, "softcap=-1.0 must be above 0"),
    "no_softcap": (lambda: attention(Q, K, V, softcap=float("inf")), ValueError, "softcap=inf.*leave it out"),
    "complex": (lambda: attention(Q.cfloat(), K.cfloat(), V.cfloat()), TypeError, "complex numbers is not defined"),
    "sparse_mask": (lambda: attention(Q, K, V, mask=YES.to_sparse()), TypeError, r"mask.to_dense\(\)"),
    "number_for_bias": (lambda: attention(Q, K, V, bias=0.5), TypeError, "bias is a float.*alibi_bias"),
    "mask_by_position": (lambda: attention(Q, K, V, YES), TypeError, "only q, k and v go by position, got 4 values"),
    "eight_bits": (lambda: attention(*(t.to(torch.float8_e4m3fn) for t in (Q, K, V))), TypeError,
                   r"q is torch.float8_e4m3fn; 8 bits are.*q.to\(torch.bfloat16\)"),
    "eight_bits_of_bias": (lambda: attention(Q, K, V, bias=YES.to(torch.float8_e5m2)), TypeError,
                           r"bias is torch.float8_e5m2.*bias.to\(torch.bfloat16\)"),
    "list": (lambda: attention([[1.0]], K, V), TypeError, "q is a list.*torch.as_tensor"),
    "mask_without_heads": (lambda: attention(Q[0, 0], K[0, 0], V[0, 0], mask=YES[None]), ValueError,
                           r"give 2, \(n, m\) = \(5, 7\)$"),
    "mask_of_sequences": (lambda: attention(Q, K, V, mask=YES[:2]), ValueError,
                          r"\(2, 7\).*rows are sequences, write mask\[:, None, None\]"),
    "learned_scale": (lambda: attention(Q, K, V, scale=torch.ones(H)), TypeError,
                      r"scale is a Tensor of shape \(3,\).*q \* factor"),
}


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)
