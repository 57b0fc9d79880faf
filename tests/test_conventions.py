"""What appendix C tells of nine libraries: asked again where the library is installed, and held to `mha`."""
import importlib.util

import pytest
import torch

from mha import MultiHeadAttention, attention, masks
from mha.lab.assets.conventions import conventions
from mha.lab.findings import appendix_c
from tools import make_conventions
from tools.conventions import door, in_torch
from tools.make_conventions import NEEDS, ORDER, installed, version

STORED = {one.name: one for one in conventions()}
TORCHS = {"torch · function", "torch · layer"}
here = pytest.mark.parametrize("asked", installed(), ids=lambda asked: asked.name)


def test_each_of_the_nine_libraries_is_told_and_those_at_hand_are_asked():
    assert list(STORED) == list(ORDER)
    assert {one.package for one in STORED.values()} == {"torch", "transformers", "flash-attn", "xformers", "keras",
                                                        "jax", "flax", "x-transformers", "onnxruntime"}
    assert TORCHS <= {asked.name for asked in installed()}


def test_a_library_whose_version_lacks_what_is_called_is_named_and_the_others_are_asked(monkeypatch, capsys):
    def of_another_version():
        raise ImportError("no such function")

    needs = {of_another_version: ("pytest",), in_torch.torch_doors: ("torch",)}
    monkeypatch.setattr("tools.make_conventions.NEEDS", needs)
    assert {asked.name for asked in installed()} == TORCHS
    assert capsys.readouterr().out == f"pytest {version('pytest')} is not asked: no such function\n"


@pytest.mark.parametrize("raised", [ImportError, AttributeError, Exception])
def test_a_library_that_lacks_it_only_once_it_is_called_keeps_what_is_stored(raised, monkeypatch, capsys, tmp_path):
    """A flax without nnx, a jax without dot_product_attention, an onnxruntime without the opset: all are imported."""
    class Lacking:
        name, package = "torch · layer", "torch"

        def told(self, version):
            raise raised("no such function")

    file = tmp_path / "conventions.json"
    file.write_bytes(make_conventions.CONVENTIONS.read_bytes())
    asked, = (one for one in installed() if one.name == "torch · function")
    monkeypatch.setattr(make_conventions, "CONVENTIONS", file)
    monkeypatch.setattr(make_conventions, "installed", lambda: [Lacking(), asked])
    before = {one["name"]: one for one in make_conventions.stored()}
    assert make_conventions.main() == 0
    after = {one["name"]: one for one in make_conventions.stored()}
    said, told = capsys.readouterr().out.splitlines()
    assert said == f"torch {version('torch')} is not asked: no such function" and told.startswith(asked.name)
    assert after["torch · layer"] == before["torch · layer"] and list(after) == list(ORDER)


@here
def test_what_is_stored_is_what_comes_out(asked):
    told = asked.told(version(asked.package))
    stored = STORED[asked.name]
    same = told.pop("version") == stored.version
    assert {**vars(stored), "version": None, "where": None} == {**told, "version": None, "where": None} or not same


@pytest.mark.parametrize("one", [one for one in STORED.values() if one.how == "run"], ids=lambda one: one.name)
def test_the_line_that_is_told_gave_the_output_of_mha(one):
    assert one.found["line_holds"] and one.found["scale_given"] in ("factor", "refused") and not one.where


@pytest.mark.parametrize("one", [one for one in STORED.values() if one.how == "read"], ids=lambda one: one.name)
def test_what_was_read_says_where(one):
    assert {"axes", "true", "scale", "drops", "weights", "groups", "causal"} <= set(one.where)


@pytest.mark.parametrize("true, seen", [("may attend", "1 to 5 of 5"), ("masked", "0 to 4 of 5")])
def test_explain_tells_the_two_polarities_apart(true, seen):
    """A library that takes True for masked is handed the causal mask of mha: this is what it then sees."""
    mask = masks.causal(5)
    taken = mask if true == "may attend" else masks.from_torch(mask)
    assert f"A query sees {seen} keys" in masks.explain(taken)
    assert ("nothing leaks from the future" in masks.explain(taken)) == (true == "may attend")
    assert any(one.found["true"] == true for one in STORED.values())


def test_floats_cast_to_booleans_are_the_inverted_mask():
    mask = masks.causal(5)
    assert masks.explain((~mask * -1e9).bool()) == masks.explain(~mask)
    assert {one.name for one in STORED.values() if one.found["floats"] == "cast to booleans"} == {"Keras", "flax"}


@pytest.mark.parametrize("order, reads", [("interleaved", [0, 0, 1, 1]), ("tiled", [0, 1, 0, 1])])
def test_the_heads_that_the_table_names_are_those_that_are_read(order, reads):
    q, k, v = door.inputs(kv_heads=2)
    tensors = (k, v) if order == "interleaved" else [tensor.repeat(1, 2, 1, 1) for tensor in (k, v)]
    picked = attention(q, k[:, reads], v[:, reads])[0]
    torch.testing.assert_close(attention(q, *tensors)[0], picked)
    shown = {row[0]: row[2] for row in appendix_c.groups().rows[1:] if row[1] == order}
    assert shown and set(shown.values()) == {" ".join(map(str, reads))}


@pytest.mark.parametrize("corner, seen", [("upper left", "1 2 3"), ("lower right", "3 4 5")])
def test_the_keys_that_the_table_counts_are_those_that_are_seen(corner, seen):
    mask = masks.causal(3, 5, offset=0 if corner == "upper left" else 2)
    assert " ".join(map(str, mask.sum(-1).tolist())) == seen
    shown = {row[0]: row[2] for row in appendix_c.causal().rows[1:]}
    assert {shown[one.name] for one in STORED.values() if one.found["causal"] == corner} == {seen}


def test_torchs_layer_gives_each_heads_weights_if_it_is_told_so():
    x = torch.randn(2, 5, door.H * door.D)
    weights = in_torch.torch_layer()(x, x, x, average_attn_weights=False)[1]
    assert weights.shape == (2, door.H, 5, 5)


@pytest.mark.parametrize("need_weights", [True, False])
def test_torchs_layer_fills_a_blind_row_with_nan_or_with_zeros(need_weights):
    x = torch.randn(1, 5, door.H * door.D)
    with torch.no_grad():
        row = in_torch.torch_layer()(x, x, x, attn_mask=masks.causal(5), need_weights=need_weights)[0][0, -1]
    assert row.isnan().all() if need_weights else (row == 0).all()


FAST = [(batch_first, bias, h) for batch_first in (True, False) for bias in (True, False) for h in (1, 2, 3, 4)]


@pytest.mark.parametrize("batch_first, bias, h", FAST)
def test_the_fast_path_of_torchs_layer_fills_a_blind_row_with_nan(batch_first, bias, h):
    layer = torch.nn.MultiheadAttention(24, h, batch_first=batch_first, bias=bias).eval()
    x = torch.randn(5, 5, 24)
    with torch.no_grad():
        out = layer(x, x, x, attn_mask=masks.causal(5), need_weights=False)[0]
    row = out[:, -1] if batch_first else out[-1]
    assert row.isnan().all() if batch_first and bias and h % 2 == 0 else (row == 0).all()


@pytest.mark.parametrize("batch_first, bias, h", FAST)
def test_the_fast_path_of_torchs_layer_ignores_is_causal_alone(batch_first, bias, h):
    layer = torch.nn.MultiheadAttention(24, h, batch_first=batch_first, bias=bias).eval()
    x = torch.randn(5, 5, 24)
    with torch.no_grad():
        if batch_first and bias and h % 2 == 0:
            torch.testing.assert_close(layer(x, x, x, is_causal=True)[0], layer(x, x, x)[0])
        else:
            with pytest.raises(RuntimeError, match="Need attn_mask"):
                layer(x, x, x, is_causal=True)


def test_the_fast_path_of_torchs_layer_asks_for_a_batch():
    layer, x = torch.nn.MultiheadAttention(24, 2, batch_first=True).eval(), torch.randn(5, 24)
    with torch.no_grad():
        assert (layer(x, x, x, attn_mask=masks.causal(5), need_weights=False)[0][-1] == 0).all()
        with pytest.raises(RuntimeError, match="Need attn_mask"):
            layer(x, x, x, is_causal=True)


def test_torchs_function_shares_a_single_kv_head_without_being_asked():
    q, k, v = door.inputs(kv_heads=1)
    torch.testing.assert_close(torch.nn.functional.scaled_dot_product_attention(q, k, v), attention(q, k, v)[0])
    with pytest.raises(RuntimeError, match="must match"):
        torch.nn.functional.scaled_dot_product_attention(*door.inputs(kv_heads=2))


@pytest.mark.parametrize("h, kv_heads", [(4, 2), (8, 2), (12, 3)])
def test_the_order_moves_a_layer_with_its_query_bias(h, kv_heads):
    layer, x = MultiHeadAttention(8 * h, h, num_kv_heads=kv_heads, d_k=8), torch.randn(2, 5, 8 * h)
    rows = torch.arange(8 * h).view(h, 8)[torch.arange(h).view(kv_heads, -1).T.flatten()].flatten()
    torch.nn.init.normal_(layer.W_Q.bias)
    q = torch.nn.functional.linear(x, layer.W_Q.weight[rows], layer.W_Q.bias[rows])
    k, v = (in_torch.swap(W(x).unflatten(-1, (kv_heads, 8))).repeat(1, h // kv_heads, 1, 1)
            for W in (layer.W_K, layer.W_V))
    out = in_torch.merge(attention(in_torch.swap(q.unflatten(-1, (h, 8))), k, v)[0])
    moved = torch.nn.functional.linear(out, layer.W_O.weight[:, rows], layer.W_O.bias)
    torch.testing.assert_close(moved, layer(x)[0])


@pytest.mark.parametrize("h, kv_heads", [(4, 2), (8, 2), (12, 3)])
def test_the_order_that_the_page_gives_moves_interleaved_heads_to_a_tiled_library(h, kv_heads):
    q, k, v = torch.randn(h, 5, 8), *torch.randn(2, kv_heads, 5, 8)
    order = torch.arange(h).view(kv_heads, -1).T.flatten()
    tiles = [t.repeat(h // kv_heads, 1, 1) for t in (k, v)]
    torch.testing.assert_close(attention(q[order], *tiles)[0][order.argsort()], attention(q, k, v)[0])
    torch.testing.assert_close(attention(q[order.argsort()], k, v)[0][order], attention(q, *tiles)[0])


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
def test_a_model_of_hugging_face_makes_the_mask_that_its_function_wants():
    from transformers import LlamaConfig
    from transformers.masking_utils import create_causal_mask
    made = {}
    for kind in ("eager", "sdpa"):
        config = LlamaConfig(hidden_size=8, num_attention_heads=2, num_hidden_layers=1, vocab_size=9)
        config._attn_implementation = kind
        made[kind] = create_causal_mask(config=config, inputs_embeds=torch.zeros(1, 3, 8), cache=None,
                                        attention_mask=torch.tensor([[0, 1, 1]]))
    seen = masks.causal(3) & torch.tensor([[[[False, True, True]]]])
    assert torch.equal(made["sdpa"], seen) and torch.equal(made["eager"] == 0, seen)


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
def test_a_model_of_hugging_face_hands_on_a_mask_of_four_axes():
    from transformers import LlamaConfig
    from transformers.masking_utils import create_causal_mask
    config = LlamaConfig(hidden_size=8, num_attention_heads=2, num_hidden_layers=1, vocab_size=9)
    config._attn_implementation = "eager"
    mask = masks.causal(3)[None, None]
    assert torch.equal(mask, create_causal_mask(config=config, inputs_embeds=torch.zeros(1, 3, 8), cache=None,
                                                attention_mask=mask))


def test_what_asks_names_only_packages_that_the_table_has():
    assert {package for packages in NEEDS.values() for package in packages} - {"onnx"} <= {
        one.package for one in STORED.values()}
