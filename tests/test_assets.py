"""Queries and keys of the trained model, and the cuts that the figures make of them."""
import pytest
import torch

from mha.lab.assets import trained_qk
from mha.attention import attention

STORED = [("tired", 0), ("tired", 5), ("wide", 5), ("bank", 0), ("deposit", 0), ("deposit", 5)]


@pytest.mark.parametrize("sentence,layer", STORED)
def test_what_is_stored_has_one_query_and_key_a_token(sentence, layer):
    trained = trained_qk(sentence, layer)
    assert trained.Q.shape == trained.K.shape == (len(trained.tokens), 384)
    assert trained.tokens[0] == "[CLS]" and trained.tokens[-1] == "[SEP]"


def test_the_trained_cut_is_a_partition_of_the_columns():
    trained = trained_qk("bank", 0)
    Q, _ = trained.heads()
    assert torch.equal(Q.transpose(0, 1).flatten(1), trained.Q)


def test_fewer_columns_are_the_first_of_each_head_and_more_are_shared():
    trained = trained_qk("bank", 0)
    assert torch.equal(trained.heads(12, 5)[0][3], trained.Q[:, 96:101])
    assert torch.equal(trained.heads(12, 384)[0][1], trained.Q.roll(-32, dims=1))


def test_columns_inside_a_head_go_from_strong_to_weak():
    Q, K = trained_qk("tired", 0).heads()
    energy = Q.square().mean(1) * K.square().mean(1)                  # (h, d_k)
    assert (energy[:, :8].mean(-1) > energy[:, -8:].mean(-1)).all()


def test_head_3_of_the_first_layer_looks_at_the_previous_token():
    Q, K = trained_qk("tired", 0).heads()
    weights = attention(Q, K, K, need_weights=True)[1]
    assert (weights[2].diagonal(-1) > 0.97).all()


def test_a_wide_head_is_the_normalised_product_of_the_twelve():
    trained = trained_qk("tired", 0)
    (Q, K), (Q1, K1) = trained.heads(), trained.heads(1)
    twelve, one = (attention(q, k, k, need_weights=True)[1] for q, k in ((Q, K), (Q1, K1)))
    product = (twelve.log().sum(0) * (32 / 384) ** 0.5).softmax(-1)
    torch.testing.assert_close(product, one[0])


def test_what_is_not_stored_is_named_with_what_is():
    with pytest.raises(ValueError, match="no queries and keys are stored for 'wide.0'.*bank.0.*wide.5"):
        trained_qk("wide", 0)
