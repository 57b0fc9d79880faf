"""One head in three attempts, each against its formula written out in float64."""
import pytest
import torch

from mha import AsymmetricHead, Head, SymmetricHead
from mha.lab.data import rock_paper_scissors, turn
from support import close, nothing_leaks, tokens

B, N, M, D, D_K, D_V, D_CONTEXT = 2, 5, 7, 11, 3, 13, 17


def test_the_symmetric_head_has_symmetric_scores_and_carries_its_inputs():
    head, x = SymmetricHead(D, D_K).double(), tokens(B, N, D)
    scores = (x @ head.W.weight.T) @ (x @ head.W.weight.T).mT / D_K ** 0.5
    out, weights = head(x, need_weights=True)
    close(scores, scores.mT)
    close(weights, scores.softmax(-1))
    close(out, weights @ x)


def test_without_itself_a_token_gives_itself_no_weight():
    head, x = SymmetricHead(D, D_K, exclude_self=True).double(), tokens(B, N, D)
    weights = head(x, need_weights=True)[1]
    assert (weights.diagonal(dim1=-2, dim2=-1) == 0).all()
    close(weights.sum(-1), torch.ones(B, N, dtype=torch.float64))
    assert (head(x[:, :1])[0] == 0).all()


def test_without_itself_a_token_sees_only_what_its_mask_shows():
    head, x = SymmetricHead(D, D_K, exclude_self=True).double(), tokens(B, N, D)
    mask = torch.rand(B, 1, N, N) > 0.3
    weights = head(x, mask=mask, need_weights=True)[1]
    assert torch.equal(weights > 0, mask[:, 0] & ~torch.eye(N, dtype=torch.bool))


def test_the_asymmetric_head_carries_its_inputs():
    head, x = AsymmetricHead(D, D_K).double(), tokens(B, N, D)
    scores = (x @ head.W_Q.weight.T) @ (x @ head.W_K.weight.T).mT / D_K ** 0.5
    out, weights = head(x, need_weights=True)
    close(weights, scores.softmax(-1))
    close(out, weights @ x)
    assert not torch.allclose(scores, scores.mT)


@pytest.mark.parametrize("bias", [False, True])
def test_the_head_is_the_formula_of_the_paper(bias):
    head = Head(D, D_K, D_V, d_context=D_CONTEXT, bias=bias).double()
    x, context = tokens(B, N, D), tokens(B, M, D_CONTEXT)
    Q, K, V = head.W_Q(x), head.W_K(context), head.W_V(context)
    out, weights = head(x, context, need_weights=True)
    close(weights, (Q @ K.mT / D_K ** 0.5).softmax(-1))
    close(out, weights @ V)
    assert (head.W_V.bias is not None) == bias


@pytest.mark.parametrize("make", [SymmetricHead, AsymmetricHead, Head])
def test_a_head_has_a_bias_only_where_it_is_asked_for(make):
    for options, has in (({}, False), ({"bias": True}, True)):
        assert any("bias" in name for name, _ in make(D, D_K, **options).named_parameters()) == has


def test_dropout_of_a_head_acts_in_training_only():
    head, x = Head(D, D_K, dropout=0.5).double(), tokens(B, N, D)
    assert not torch.equal(head(x)[0], head(x)[0])
    close(head.eval()(x, need_weights=True)[1].sum(-1), torch.ones(B, N, dtype=torch.float64))


def test_nothing_leaks_from_the_future_of_a_causal_head():
    head = Head(D, D_K, causal=True).double()
    assert nothing_leaks(lambda x: head(x)[0], tokens(N, D))


@pytest.mark.parametrize("make", [SymmetricHead, AsymmetricHead, Head])
def test_wrong_sizes_get_a_sentence_that_helps(make):
    with pytest.raises(ValueError, match="d_k=0 must be a positive whole number"):
        make(D, 0)
    with pytest.raises(ValueError, match="last size is 5, but this layer has d_model=11"):
        make(D, D_K)(torch.zeros(N, 5))
    with pytest.raises(TypeError, match="numbers of tokens, look their vectors up first with nn.Embedding"):
        make(D, D_K)(torch.zeros(N, 5).long())
    with pytest.raises(TypeError, match="bias is 'no'; it must be True or False"):
        make(D, D_K, bias="no")
    with pytest.raises(TypeError, match="dtype=torch.int64 must be a floating-point torch.dtype"):
        make(D, D_K, dtype=torch.int64)
    with pytest.raises(TypeError, match="need_weights is None"):
        make(D, D_K)(torch.zeros(N, D), need_weights=None)


# --- Around a cycle of tokens -----------------------------------------------------------------------------------------

def around(weights, cycle):
    """The product of the weights along a cycle of tokens, one for each batch entry."""
    return torch.stack([weights[..., i, j] for i, j in zip(cycle, cycle[1:] + cycle[:1])]).prod(0)


@pytest.mark.parametrize("cycle", [[0, 1, 2], [3, 1, 4, 2], [0, 2, 4, 1, 3]])
@pytest.mark.parametrize("exclude_self", [False, True])
def test_a_symmetric_head_is_as_likely_forwards_as_backwards_around_any_cycle(cycle, exclude_self):
    head = SymmetricHead(D, D_K, exclude_self=exclude_self).double()
    weights = head(tokens(B, N, D), need_weights=True)[1]
    forwards, backwards = around(weights, cycle), around(weights, cycle[::-1])
    close(forwards, backwards)
    largest = 1 / 2 if exclude_self else 1 / 3                              # of the geometric mean along a cycle
    assert (forwards ** (1 / len(cycle)) <= largest + 1e-12).all()


def test_an_asymmetric_head_is_not_bound_by_the_cycle():
    _, x = rock_paper_scissors()
    head = AsymmetricHead(2, 2, dtype=torch.float64)
    head.W_Q.weight.data, head.W_K.weight.data = 10 * turn(120).T, torch.eye(2, dtype=torch.float64)
    assert around(head(x, need_weights=True)[1], [0, 1, 2]) > 0.99
