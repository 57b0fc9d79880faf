"""mha.lab.decoder: what a trace holds, texts of unlike lengths, masks, and the parts that only some families have."""
import pytest
import torch

from mha import MultiHeadAttention, masks
from mha.lab.decoder import Decoder, GatedLayer, NormedQK, words_of
from mha.position import Rope
from support import close


class Letters:
    """A tokenizer of 26 letters, after a token that starts a text."""

    def encode(self, text):
        return [0, *(ord(letter) - 96 for letter in text)]

    def decode(self, ids):
        return "".join(chr(96 + i) for i in ids if i)

    def piece(self, i):
        return chr(96 + i) if i else "<s>"


def small(tokenizer=None, **options):
    def heads():
        return MultiHeadAttention(24, 4, num_kv_heads=2, bias=False, causal=True, on_qk=Rope())

    layers = [GatedLayer(heads(), 13, **options) for _ in range(3)]
    made = Decoder(27, 23, layers, tokenizer=tokenizer or Letters()).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter) / parameter.shape[-1]**0.5 + (parameter.ndim == 1))
    return made


def some_ids(batch=2, n=11):
    return torch.randint(27, (batch, n))


@torch.no_grad()
def test_a_trace_holds_what_happened():
    model = small()
    trace = model.trace(["abcd", "xy"])
    assert trace.tokens == [["<s>", "a", "b", "c", "d"], ["<s>", "x", "y", "", ""]]
    assert trace.lengths.tolist() == [5, 3] and trace.real.sum() == 8 and trace.words[1] == [None, 0, 0, None, None]
    assert trace.weights.shape == (3, 2, 4, 5, 5) and trace.stream.shape == (4, 2, 5, 24)
    close(trace.logits, model(trace.ids))
    close(trace.logits[1, :3], model.trace(["xy"]).logits[0])
    close(model.norm(trace.stream[-1]), trace.hidden)
    close(model.layers[1].norm_1(trace.stream[1]), trace.inputs[1])
    close(model.layers[2](trace.stream[2])[0], trace.stream[3])
    assert model.decode(trace.ids[0]) == "abcd"


@torch.no_grad()
def test_a_trace_and_a_pass_agree_with_heads_off_and_tokens_hidden():
    model, ids, off = small(), some_ids(), torch.ones(3, 4)
    off[1, 2] = 0
    hidden = masks.causal(11)
    hidden[5:, 2] = False
    both = dict(head_mask=off, mask=hidden)
    trace = model.trace(ids, **both)
    close(trace.logits, model(ids, **both))
    assert not trace.weights[..., 5:, 2].any() and not torch.allclose(trace.logits, model(ids), atol=1e-3)


@torch.no_grad()
def test_it_writes_the_likeliest_token_with_a_head_off_too():
    model, ids, off = small(), some_ids(n=4), torch.ones(3, 4)
    off[0, 1] = 0
    told = model.generate(ids, 9, head_mask=off)
    assert torch.equal(model(told, head_mask=off)[:, 3:-1].argmax(-1), told[:, 4:])


@torch.no_grad()
def test_a_window_hides_what_lies_further_back():
    model, ids = small(window=(3, None)), some_ids()
    weights = model.trace(ids).weights
    far = torch.arange(11)[:, None] - torch.arange(11) > 3
    assert not weights[..., far].any() and weights[..., ~far & masks.causal(11)].all()
    caches = model.new_caches(2, 11)
    close(torch.cat([model(some, caches) for some in ids.split([5, 1, 5], 1)], 1), model(ids), 1e-10)


@torch.no_grad()
def test_more_tokens_than_positions_are_refused_however_they_come():
    model, long = small(), some_ids(n=24)
    caches = model.new_caches(2, 30)
    model(long[:, :20], caches)
    for call in (lambda: model(long), lambda: model(long[:, 20:], caches)):
        with pytest.raises(ValueError, match="a text has 24 tokens, and the model has 23 positions"):
            call()
    assert model.losses(long).shape == (2, 23)


@pytest.mark.parametrize("ids, came", [([[1, 2]], "a list"), (torch.tensor([1, 2]), r"a tensor of shape \(2,\)")])
def test_writing_needs_a_tensor_of_texts(ids, came):
    with pytest.raises(ValueError, match=f"ids is {came}; it must be a tensor"):
        small().generate(ids, 2)


def test_norms_take_the_length_from_queries_and_keys():
    made, Q, K, i = NormedQK(6, None), torch.randn(2, 4, 11, 6), torch.randn(2, 2, 11, 6), torch.arange(11)
    for a, b in zip(made(Q, K, i, i), made(9 * Q, 9 * K, i, i)):
        assert (a - b).abs().max() < 1e-4 and torch.allclose(a.square().mean(-1), torch.ones(()), atol=1e-3)


def test_words_start_at_spaces():
    assert words_of(["<s>", " Once", " upon", ",", "\n", "A", "nna"]) == [None, 0, 1, 1, 2, 3, 3]
    assert words_of(["The", " c", "at"]) == [0, 1, 1]


@pytest.mark.parametrize("texts, words", [
    ("abc", "texts must be a list of texts, at least one, or ids"),
    ([], "at least one"),
    (torch.zeros(0, 3, dtype=torch.long), "at least one"),
    (torch.zeros(3, dtype=torch.long), "each text must have a token, and ids must be"),
    ([[]], "each text must have a token"),
    (["a" * 23], "a text has 24 tokens, and the model has 23 positions"),
])
def test_texts_that_do_not_fit_are_refused(texts, words):
    with pytest.raises(ValueError, match=words):
        small().trace(texts)


def test_without_a_tokenizer_it_reads_numbers():
    model = small()
    model.tokenizer = None
    with pytest.raises(ValueError, match="no tokenizer"):
        model.encode("abc")
    assert model.trace(torch.tensor([[3, 1]])).tokens == [["3", "1"]]
