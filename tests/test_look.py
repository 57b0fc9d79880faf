"""mha.lab.look: what the figure of a model's heads measures and keeps."""
import re
from types import SimpleNamespace

import numpy
import pytest
import torch
from torch import nn

import mha
from look_models import IDS, Backwards, Own, Words, decoder, encoder, maps, returning, told, without_a_chance
from mha.lab.look import Look, look, page, scores
from mha.lab.look.reader import Reader, spaced

# --- Scores ----------------------------------------------------------------------------------------------------------

def test_a_head_that_looks_one_back_scores_1_beside_what_an_even_head_has():
    n = 7
    back = torch.eye(n).roll(1, 0)
    back[0] = torch.eye(n)[0]
    even = torch.ones(n, n).tril() / torch.arange(1, n + 1)[:, None]
    seen = look(torch.stack([back, even])[None], list("abcdefg"))
    assert seen.causal and seen.scores["previous"].tolist() == [[1.0, pytest.approx(float(even.diagonal(-1).mean()))]]
    assert seen.baselines["previous"][0].tolist() == pytest.approx([float(even.diagonal(-1).mean())] * 2)
    assert seen.scores["first"][0, 1] == pytest.approx(float((1 / torch.arange(2, n + 1)).mean()))


def test_an_even_head_sees_what_the_mask_of_its_layer_leaves():
    window = torch.ones(6, 6).tril() - torch.ones(6, 6).tril(-3)
    weights = (torch.rand(1, 2, 6, 6) + 0.1) * window
    weights[:, :, 4, 3] = 0                                                 # too small to be stored
    found = scores.even(weights / weights.sum(-1, keepdim=True))[0]
    torch.testing.assert_close(found, (window / window.sum(-1, keepdim=True)).double())


def reading(head):
    """A stand-in for a `Reader`, whose only head gives all its weight to the key that head(ids, i) names."""
    def weights(ids):
        rows = [head(ids[0].tolist(), i) for i in range(ids.shape[1])]
        return torch.eye(ids.shape[1])[rows][None, None, None]
    return SimpleNamespace(weights=weights)


def behind_the_same(ids, i):
    earlier = [j for j in range(i) if ids[j] == ids[i]]
    return earlier[-1] + 1 if earlier else 0


def test_induction_is_found_and_a_head_that_goes_by_position_is_no_better_than_its_baseline():
    ids = [0, *range(3, 23)]
    score, baseline = scores.induction(reading(behind_the_same), ids)
    assert score.item() == 1 and baseline.item() < 0.2
    score, baseline = scores.induction(reading(lambda ids, i: max(0, i - 19)), ids)
    assert score.item() == baseline.item() == 1
    assert scores.induction(reading(behind_the_same), [0, 1, 2, 3]) is None


def test_a_text_is_read_twice_only_as_far_as_the_positions_go():
    assert scores.twice(list(range(99)), 21) == ([0], list(range(1, 11)))
    assert len(scores.twice(list(range(99)))[1]) == scores.TESTED


def test_a_text_is_read_twice_only_as_far_as_the_positions_of_a_readers_own_model_go():
    assert look(Own().eval(), IDS + IDS).scores["induction"].isfinite().all()


def test_numbers_of_tokens_come_as_a_list_an_array_or_a_tensor():
    wanted = look(decoder := Own().eval(), IDS, switches=False).weights
    for given in (tuple(IDS), numpy.array(IDS), torch.tensor(IDS), torch.tensor([IDS]), [IDS], map_of(IDS)):
        assert torch.equal(look(decoder, given, switches=False).weights, wanted)


def map_of(ids):
    return [numpy.int64(number) for number in ids]

# --- Heads that are off ----------------------------------------------------------------------------------------------

def cut(model, layer, head):
    """The model with a head's part of W_O made 0."""
    attention = [m for m in model.modules() if isinstance(m, mha.MultiHeadAttention)][layer]
    W_O, d_v = attention.W_O.weight, attention.d_v
    kept = W_O.detach().clone()
    with torch.no_grad():
        W_O[:, head * d_v:(head + 1) * d_v] = 0
    yield model
    with torch.no_grad():
        W_O.copy_(kept)


def test_a_head_off_is_a_head_whose_part_of_w_o_is_0_in_a_decoder():
    model, ids = decoder(), torch.tensor([IDS])
    seen = look(model, IDS)
    whole = model(ids)[0].log_softmax(-1).detach()
    token, share = seen.removals["whole"][0]
    assert token == whole[-1].argmax() and share == pytest.approx(float(whole[-1].max().exp()), abs=1e-6)
    for layer, head in [(0, 0), (0, 5), (1, 2)]:
        for changed in cut(model, layer, head):
            without = changed(ids)[0].log_softmax(-1).detach()
        lost = (whole - without)[:-1].gather(-1, ids[0, 1:, None])[:, 0]
        torch.testing.assert_close(seen.removals["change"][layer, head], lost, rtol=0, atol=1e-5)
        for token, share in seen.removals["without"][6 * layer + head]:
            assert share == pytest.approx(float(without[-1, token].exp()), abs=1e-6)


def test_a_head_off_turns_the_outputs_of_an_encoder():
    model = encoder()
    seen = look(model, "1 5 7 3")
    ids, gate = torch.tensor([[1, 5, 7, 3]]), torch.ones(2, 3)
    gate[1, 2] = 0
    turn = 1 - torch.cosine_similarity(model(ids), model(ids, head_mask=gate), dim=-1)[0]
    torch.testing.assert_close(seen.removals["change"][1, 2], turn.detach(), rtol=0, atol=1e-5)
    assert "induction" not in seen.scores and seen.removals["without"] == []


def test_mean_in_place_of_zero_keeps_what_a_head_tells_all_tokens():
    model = decoder()
    reader = Reader(model)
    out = reader.means(torch.tensor([IDS]))
    assert out.shape == (2, 6, 2)
    zero, mean = (look(model, IDS, off_is=kind).removals["change"] for kind in ("zero", "mean"))
    assert not torch.allclose(zero, mean)
    one_token = look(model, [4, 4], off_is="mean").removals["change"]       # two equal tokens: the mean is each
    assert one_token[0].abs().max() < 1e-5


def test_several_heads_off_put_out_their_means_in_the_whole_model():
    model, off = decoder(), [(0, 2), (1, 1)]
    means = Reader(model).means(torch.tensor([IDS]))
    whole = look(model, IDS, off_is="mean")
    layers = [m for m in model.modules() if isinstance(m, mha.MultiHeadAttention)]

    def put(layer, head):
        def change(W_O, given):
            out = given[0].clone()
            out[..., head * 2:head * 2 + 2] = means[layer, head]
            return (out,)
        return change

    hooks = [layers[layer].W_O.register_forward_pre_hook(put(layer, head)) for layer, head in off]
    wanted = model(torch.tensor([IDS]))[0, -1].softmax(-1).detach()
    for hook in hooks:
        hook.remove()
    for seen in (whole.without(*off), look(model, IDS, off=off, off_is="mean"), whole.without(off[0]).without(off[1])):
        for token, share in seen.removals["whole"]:
            assert share == pytest.approx(float(wanted[token]), abs=1e-6)


@pytest.mark.parametrize("off_is", ["zero", "mean"])
def test_a_model_of_half_precision_is_looked_at_in_float32(off_is):
    model = decoder()
    own, half = look(model, IDS, off_is=off_is), look(model.bfloat16(), IDS, off_is=off_is)
    assert half.weights.dtype == half.removals["change"].dtype == torch.float32
    torch.testing.assert_close(half.weights, own.weights, rtol=0, atol=0.02)
    torch.testing.assert_close(half.removals["change"], own.removals["change"], rtol=0, atol=0.1)
    assert "NaN" not in half.html()


def test_several_heads_off_are_off_together():
    model = decoder()
    seen = look(model, IDS).without((0, 1), (1, 4))
    for one in cut(model, 0, 1):
        for both in cut(one, 1, 4):
            torch.testing.assert_close(seen.weights, look(both, IDS, switches=False).weights)
    assert page.numbers(seen)["off"] == [1, 10]


def test_heads_are_named_by_whole_numbers_of_any_kind_and_in_a_list_too():
    seen = look(decoder(), IDS)
    asked = [((0, 1), (1, 4)), ([(0, 1), (1, 4)],), (torch.tensor([[0, 1], [1, 4]]),), ([0, 1], numpy.array([1, 4])),
             ((numpy.int64(0), torch.tensor(1)), (torch.tensor(1), torch.tensor([4])[0]))]
    for heads in asked:
        assert page.numbers(seen.without(*heads))["off"] == [1, 10]
    for off in (numpy.array([[0, 1]]), [torch.tensor([0, 1])], ((0, torch.tensor(1)),), [[0, 1]]):
        assert page.numbers(look(seen.reader.model, IDS, off=off))["off"] == [1]


def test_layers_are_counted_as_they_run():
    model, ids = Backwards().eval(), torch.tensor([IDS])
    seen = look(model, IDS)
    with mha.record(model) as weights:
        whole = model(ids)[0].log_softmax(-1).detach()
    for number, name in enumerate(("blocks.1", "blocks.0")):
        torch.testing.assert_close(seen.weights[number], weights[name][0])
        for changed in cut(model, 1 - number, 2):                             # `cut` counts as they are registered
            without = changed(ids)[0].log_softmax(-1).detach()
        lost = (whole - without)[:-1].gather(-1, ids[0, 1:, None])[:, 0]
        torch.testing.assert_close(seen.removals["change"][number, 2], lost, rtol=0, atol=1e-5)
    assert look(model, IDS, off=[(0, 2)], switches=False).weights[0].equal(seen.weights[0])


def test_maps_alone_need_no_output():
    model = returning(lambda out: {"logits": out})
    assert look(model, IDS, switches=False).weights.shape == (2, 3, 8, 8)


def test_layers_named_logits_or_positions_are_layers():
    model = Own().eval()
    model.logits, model.positions = model.out, nn.Embedding(23, 12)
    assert look(model, IDS).removals["change"].isfinite().all()


def test_the_model_is_as_it_was():
    model, ids = decoder().train(), torch.tensor([IDS])
    model.norm.eval()
    before = model(ids)
    look(model, IDS, off_is="mean")
    assert torch.equal(model(ids), before) and model.training and not model.norm.training

# --- What is kept ----------------------------------------------------------------------------------------------------

def test_a_page_holds_the_weights_in_256_steps_and_asks_for_nothing():
    weights = maps()
    data, bytes_ = told(look(weights, list("abcde")).html())
    kept = (torch.frombuffer(bytearray(bytes_), dtype=torch.uint8).float() / 255).square().view(2, 3, 5, 5)
    assert (kept - weights).abs().max() < 0.004
    assert data["tokens"] == list("abcde") and data["kv"] == [3, 3]
    text = look(weights, list("abcde")).html()
    assert not re.findall(r"(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)


def test_a_token_cannot_end_the_script_that_holds_it():
    text = look(decoder(), "1 5 7 5 3 11 2 7", Words()).html()
    data, _ = told(text)
    assert data["tokens"][:3] == ["<s>", "five", "##teen"] and data["tokens"][5] == "</script><b>"
    assert data["begins"][:3] == [1, 1, 0] and data["kv"] == [3, 3] and text.count("</script>") == 3


def test_next_tokens_that_share_a_name_are_told_apart_by_their_numbers():
    class Same(Words):
        def id_to_token(self, number):
            return ["the", "Ġthe"][number % 2] if number < 12 else "a"

    gone = page.numbers(seen := look(decoder(), IDS, Same()))["gone"]
    assert [number for _, _, number in gone["whole"]] == [token for token, _ in seen.removals["whole"]]
    assert {number: name for name, _, number in gone["whole"]}.items() <= {
        **{k: ["the", "␣the"][k % 2] for k in range(12)}, 12: "a"}.items()


def test_where_there_is_no_number_the_page_says_null():
    seen = look(without_a_chance([7]), IDS)
    assert seen.removals["change"].isnan().any()
    data, _ = told(seen.html())                                             # json.loads would take NaN, JSON.parse not
    change = numpy.array(data["gone"]["change"], dtype=object).reshape(6, 7)
    assert all((row == None).tolist() == [token == 7 for token in IDS[1:]] for row in change)       # noqa: E711
    assert "NaN" not in seen.html()


def test_twelve_layers_of_twelve_heads_on_60_tokens_take_less_than_3_mb():
    raw = (6 * torch.randn(12, 12, 60, 60)).softmax(-1)
    assert len(look(raw, ["word"] * 60).html().encode()) < 3e6


def test_a_long_text_is_kept_in_blocks_whose_rows_sum_to_1():
    size = page.block_of(512, 144, False)
    assert size > 1 and 144 * -(-512 // size)**2 <= page.CELLS and page.block_of(60, 144, False) == 1
    weights = maps(n=11)
    blocks = page.in_blocks(weights, 4)
    assert blocks.shape[-2:] == (3, 3)
    torch.testing.assert_close(blocks.sum(-1), torch.ones(2, 3, 3))
    torch.testing.assert_close(blocks[..., 0, 2], weights[..., :4, 8:].sum(-1).mean(-1))


def test_save_writes_the_page_and_a_notebook_shows_it_in_a_frame_without_rights(tmp_path):
    seen = look(maps(), list("abcde"), name='"Mine" & <others>')
    path = seen.save(tmp_path / "heads.html")
    assert path.read_text(encoding="utf-8") == seen.html() and seen.save(tmp_path / "HEADS.HTML").is_file()
    assert 'sandbox="allow-scripts"' in seen._repr_html_() and "<others>" not in seen._repr_html_()
    assert "6 heads of" in repr(seen) and "previous token" in repr(seen)


def test_weights_come_as_transformers_and_numpy_give_them():
    weights = maps()
    for given in (weights, weights.numpy(), tuple(layer[None] for layer in weights), list(weights),
                  numpy.asarray(weights)[:, None]):
        seen = look(given, ["Ġa", "b", "Ċ", "Ġd", "e"])
        assert isinstance(seen, Look) and torch.equal(seen.weights, weights)
        assert page.numbers(seen)["tokens"] == ["a", "b", "⏎", "d", "e"]
        assert page.numbers(seen)["begins"] == [1, 0, 1, 1, 0] and "gone" not in page.numbers(seen)


@pytest.mark.parametrize("names, begins", [
    (["[CLS]", "the", "over", "##flow", "[SEP]"], [1, 1, 1, 0, 1]),
    (["\n<s>\n", " Once", "up", " on"], [1, 1, 0, 1]),
    (["<|endoftext|>", "The", " cat", "\n"], [1, 0, 1, 0]),
])
def test_words_begin_where_the_tokenizer_says_so(names, begins):
    assert [int(name.startswith(" ")) for name in spaced(names)] == begins


def test_tokens_are_named_as_one_reads_them():
    tokenizers = pytest.importorskip("tokenizers")
    bytewise = tokenizers.ByteLevelBPETokenizer()
    bytewise.train_from_iterator(["Le caf\u00e9 est ferm\u00e9. " * 9], vocab_size=300)
    ids = bytewise.encode("Le caf\u00e9").ids
    reader = Reader(decoder(), bytewise)
    assert "".join(map(reader.name, ids)) == "Le caf\u00e9"


def test_a_model_of_transformers_is_read():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=13, hidden_size=12, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=3,
        intermediate_size=7, max_position_embeddings=64, attn_implementation="eager")).eval()
    seen = look(theirs, IDS)
    wanted = theirs(torch.tensor([IDS]), output_attentions=True)
    torch.testing.assert_close(seen.weights, torch.cat(wanted.attentions).detach(), rtol=0, atol=1e-5)
    token, share = seen.removals["whole"][0]
    assert share == pytest.approx(float(wanted.logits.detach()[0, -1].softmax(-1)[token]), abs=1e-5)
    assert seen.name == "LlamaForCausalLM"
