"""mha.lab.look: what it refuses, and what it says to do."""
import pytest
import torch
from torch import nn

import mha
from look_models import IDS, Crossed, Odd, Own, broken, decoder, encoder, maps, returning
from mha.lab.look import look


def test_a_model_that_cannot_be_read_is_told_a_way_out_that_works():
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 13, "hidden_size": 12, "num_hidden_layers": 2}
    unknown = transformers.GPTNeoXForCausalLM(transformers.GPTNeoXConfig(
        **sizes, num_attention_heads=6, intermediate_size=7))
    with pytest.raises(ValueError, match="of the kind 'gpt_neox'.*first model.set_attn_implementation\\(\"eager\"\\), "
                                         "then look\\(model\\(ids, output_attentions=True\\).attentions, tokens"):
        look(unknown, IDS)
    ids, tokens = torch.tensor([IDS]), list(map(str, IDS))
    for given in (unknown(ids, output_attentions=True).attentions, unknown(ids, output_attentions=True)):
        with pytest.raises(TypeError, match='only after model.set_attn_implementation\\("eager"\\)'):
            look(given, tokens)
    unknown.set_attn_implementation("eager")
    assert look(unknown(ids, output_attentions=True).attentions, tokens).weights.shape == (2, 6, 8, 8)
    for other in (transformers.MambaForCausalLM(transformers.MambaConfig(**sizes)),
                  transformers.T5ForConditionalGeneration(transformers.T5Config(
                      vocab_size=13, d_model=12, d_kv=2, d_ff=7, num_layers=2, num_heads=6))):
        with pytest.raises(ValueError) as caught:
            look(other, IDS)
        assert "of the kind" in str(caught.value) and "attentions" not in str(caught.value)


def wider():
    """A model whose layers have heads of two widths."""
    model = Own()
    model.blocks[1] = mha.MultiHeadAttention(12, 3, d_v=5, causal=True)
    return model


@pytest.mark.parametrize("make, sentence", [
    (lambda: look((), "x"), "got a tuple of 0 layers without weights; .*eager"),
    (lambda: look((None, None), "x"), "got a tuple of 2 layers without weights; .*eager"),
    (lambda: look({}, "x"), "takes a model, or weights .*got dict"),
    (lambda: look(nn.Linear(2, 2), "x"), "Linear has no mha.MultiHeadAttention inside"),
    (lambda: look(decoder(), "1 5"), "has no tokenizer: write look\\(model, text, tokenizer\\)"),
    (lambda: look(decoder(), [4]), "at least two tokens, and .* has 1"),
    (lambda: look(encoder(), [4] * 18), "has 18 tokens, and the model has positions for 17"),
    (lambda: look(encoder(), " 4" * 18), "look\\(model, tokenizer.encode\\(text\\)\\[:17\\], tokenizer"),
    (lambda: look(encoder(), [4] * 18), "look\\(model, ids\\[:17\\], tokenizer"),
    (lambda: look(encoder(), ""), "at least two tokens, and '' has 0"),
    (lambda: look(encoder(), []), "at least two tokens, and \\[\\] has 0"),
    (lambda: look(encoder(), None), "one text, or the numbers of its tokens, and got None"),
    (lambda: look(encoder(), {"input_ids": [IDS]}), "got a dict; give its input_ids"),
    (lambda: look(encoder(), ["1 5", "7 3"]), "got a list of 2 of type str; give one text as it is, or names"),
    (lambda: look(encoder(), [IDS, IDS]), "got numbers of the shape \\(2, 8\\); give those of one text, such as ids"),
    (lambda: look(encoder(), [IDS, IDS[:3]]), "got 2 lists; give those of one text"),
    (lambda: look(encoder(), torch.tensor([IDS, IDS])), "numbers of the shape \\(2, 8\\)"),
    (lambda: look(encoder(), [1, None, 2]), "got a list of NoneType, int; the numbers are integers"),
    (lambda: look(encoder(), torch.rand(5)), "are integers, got float32"),
    (lambda: look(encoder(), [1, 5, -3]), "are 0 or more, got -3"),
    (lambda: look(encoder(), [1, 5, 13]), "numbers go up to 13, and the model's embedding has 13 rows, 0 to 12"),
    (lambda: look(decoder(), [1, 5, 13]), "numbers go up to 13, and the model's embedding has 13 rows, 0 to 12"),
    (lambda: look(Own(), [4] * 24), "has 23 rows, 0 to 22, and was asked for 23; if it is that of positions"),
    (lambda: look(Odd(0), IDS), "layers that run once on a text, and 'blocks.0' of this Odd runs 0 times"),
    (lambda: look(Odd(3), IDS), "'blocks.0' of this Odd runs 3 times; record the weights of each run"),
    (lambda: look(Odd(1, shared=True), IDS), "'blocks.0' of this Odd runs 2 times"),
    (lambda: look(Crossed(causal=False), IDS), "'blocks.1' has weights .3, 8, 3"),
    (lambda: look(returning(lambda out: {"logits": out}), IDS), "returns a dict, and look reads a tensor \\(B, n, voc"),
    (lambda: look(returning(lambda out: out[:, [-1]]), IDS), "returns \\(1, 1, 13\\) for ids \\(1, 8\\), .*s=False"),
    (lambda: look(returning(lambda out: out.mean(1)), IDS), "returns \\(1, 13\\) for ids \\(1, 8\\)"),
    (lambda: look(returning(lambda out: out[..., :9]), IDS), "returns 9 numbers a token, and .* number 11, so"),
    (lambda: look(wider(), IDS, off_is="mean"), "one width d_v, and these have 4 and 5; off_is=.zero. does not"),
    (lambda: look(broken("token"), IDS), "some weights of this Own are NaN on this text"),
    (lambda: look(broken("out"), IDS), "output is NaN on this text.*switches=False draws their maps"),
    (lambda: look(decoder(), IDS, off=[(2, 0)]), "layers 0 to 1 and heads 0 to 5, got \\(2, 0\\)"),
    (lambda: look(decoder(), IDS, off=[3]), "write off=.*layer, head.*, got \\[3\\]"),
    (lambda: look(decoder(), IDS, off=3), "write off=\\[\\(layer, head\\)\\], got 3"),
    (lambda: look(decoder(), IDS, off=(0, 2)), "write off=\\[\\(0, 2\\)\\], got \\(0, 2\\)"),
    (lambda: look(decoder(), IDS).without(0, 2), "write figure.without\\(\\(0, 2\\)\\), got \\(0, 2\\)"),
    (lambda: look(decoder(), IDS, off=[(0, 1.0)]), "heads 0 to 5, got \\(0, 1.0\\)"),
    (lambda: look(decoder(), IDS, off=["0.2"]), "heads 0 to 5, got \\('0.2',\\)"),
    (lambda: look(decoder(), IDS, off_is="median"), 'must be "zero" or "mean", got \'median\''),
    (lambda: look(nn.ModuleList([mha.MultiHeadAttention(12, 2), mha.MultiHeadAttention(12, 3)]), IDS), "have 2 and 3;"),
    (lambda: look(maps(), "abcde"), "the tokens as a list of 5 names"),
    (lambda: look(maps(), list("abc")), "of 5 tokens, and there are 3 names"),
    (lambda: look(maps()[0], list("abcde")), "must be \\(layers, h, n, n\\), of one text, got \\(3, 5, 5\\)"),
    (lambda: look([maps()[0], maps(h=2)[0]], list("abcde")), "one shape, got \\(2, 5, 5\\) and \\(3, 5, 5\\)"),
    (lambda: look(maps().log(), list("abcde")), "comes after the softmax"),
    (lambda: look(maps(), list("abcde"), off=[(0, 0)]), "give look the model"),
    (lambda: look(maps(), list("abcde")).without((0, 0)), "give look the model"),
    (lambda: look(maps(), list("abcde")).save(""), "name of a file, such as .* got ''"),
    (lambda: look(maps(), list("abcde")).save(None), "name of a file, such as .* got None"),
    (lambda: look(maps(), list("abcde")).save("nowhere/x.html"), "no folder 'nowhere' to save 'x.html' in"),
    (lambda: look(maps(), list("abcde")).save("heads.png"), "must end in .html, got 'heads.png'"),
])
def test_what_it_cannot_draw_is_told_in_a_sentence(make, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        make()
