"""The fits behind the pattern fitter; the browser tests hold the page to them."""
import pytest
import torch

from mha.lab import train
from mha.widgets import pattern_fitter as fitter

PATTERNS = list(fitter.PATTERNS.values())


def test_every_pattern_is_made_of_weights():
    for pattern in PATTERNS:
        assert (pattern >= 0).all()
        assert torch.allclose(pattern.sum(-1), torch.ones(fitter.N, dtype=torch.float64), atol=1e-12, rtol=0)


@pytest.mark.parametrize("pattern, start, d_k", [(0, 2, 1), (1, 0, 3), (4, 1, 7)])
def test_a_width_fitted_alone_goes_the_same_way_as_among_all_widths(pattern, start, d_k):
    weights, kl = fitter.fits(pattern, start)
    Q, K = (numbers[None, :, :d_k].clone().requires_grad_() for numbers in fitter.STARTS[start])
    entropy = torch.special.entr(PATTERNS[pattern]).sum(-1).mean()

    def loss():
        return -(PATTERNS[pattern] * (Q @ K.mT / d_k**0.5).log_softmax(-1)).sum(-1).mean(-1) - entropy

    alone = train.fit([Q, K], loss, steps=fitter.STEPS, rate=fitter.RATE, warm_up=0, eps=fitter.EPS)[:, 0]
    assert torch.allclose(kl[:-1, d_k - 1], alone, atol=1e-8, rtol=0)
    last = (Q @ K.mT / d_k**0.5).softmax(-1)[0]
    assert torch.allclose(weights[-1, d_k - 1], last, atol=1e-7, rtol=0)


def test_a_row_is_right_where_its_largest_weight_is_one_of_the_largest_wanted_and_no_other_comes_near():
    wanted = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    weights = torch.tensor([[0.1, 0.6, 0.3], [0.1, 0.45, 0.45], [0.5, 0.3, 0.2]])
    assert fitter.right(weights, wanted).tolist() == [True, False, False]
    assert fitter.right(torch.full((3, 3), 1 / 3), torch.full((3, 3), 1 / 3)).all()


def test_no_fit_magnifies_rounding_so_far_that_two_machines_could_show_different_numbers(monkeypatch):
    g = torch.Generator().manual_seed(3)
    fits = [(pattern, start) for pattern in range(len(PATTERNS)) for start in range(len(fitter.STARTS))]
    before = [fitter.fits(*fit)[0] for fit in fits]
    monkeypatch.setattr(fitter, "STARTS",
                        fitter.STARTS + 1e-14 * torch.randn(fitter.STARTS.shape, generator=g, dtype=torch.float64))
    for fit, weights in zip(fits, before):
        assert (fitter.fits.__wrapped__(*fit)[0] - weights).abs().max() < 1e-6, fit
