"""mha.lab.real.from_transformers: each kind of model, small and random, computes in our layers what it computes in
transformers', map by map and layer by layer; and what ours cannot compute is named.
"""
import json

import pytest
import torch
from torch import nn

import mha
from mha.lab import real
from mha.lab.decoder import Decoder
from mha.lab.real.families import FAMILIES, build
from mha.lab.transformer import Transformer
from support import needs_gpu

transformers = pytest.importorskip(
    "transformers", reason="no oracle for from_transformers: pip install transformers")

SIZES = dict(vocab_size=37, hidden_size=24, intermediate_size=29, num_hidden_layers=3, num_attention_heads=6,
             num_key_value_heads=2, head_dim=14, max_position_embeddings=43)
LOCAL = ["sliding_attention", "full_attention", "sliding_attention"]
SLOWER = {"rope_theta": 500.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 29}
DECODERS = {  # test -> (class before Config and ForCausalLM, what differs from SIZES)
    "llama": ("Llama", {}),
    "llama, one matrix for both ends": ("Llama", dict(tie_word_embeddings=True)),
    "llama with biases": ("Llama", dict(attention_bias=True)),
    "llama 3.1": ("Llama", dict(rope_parameters=SLOWER)),
    "llama, slower": ("Llama", dict(rope_parameters={"rope_theta": 100.0, "rope_type": "linear", "factor": 4.0})),
    "smollm, d_k by default": ("Llama", dict(head_dim=None, tie_word_embeddings=True)),
    "mistral": ("Mistral", dict(sliding_window=5)),
    "mistral without a window": ("Mistral", dict(sliding_window=None)),
    "qwen 2": ("Qwen2", dict(head_dim=None)),
    "qwen 2 with a window": ("Qwen2", dict(head_dim=None, use_sliding_window=True, sliding_window=4,
                                           max_window_layers=1)),
    "qwen 3": ("Qwen3", {}),
    "smollm 3": ("SmolLM3", dict(head_dim=14, no_rope_layers=[1, 0, 1], pad_token_id=0, bos_token_id=1,
                                 eos_token_id=2)),
    "gemma": ("Gemma", {}),
    "gemma 2": ("Gemma2", dict(query_pre_attn_scalar=11, sliding_window=5, layer_types=LOCAL,
                               attn_logit_softcapping=0.7, final_logit_softcapping=3.0)),
    "gemma 3": ("Gemma3Text", dict(query_pre_attn_scalar=11, sliding_window=5, layer_types=LOCAL)),
}
OF_BERT = dict(vocab_size=37, hidden_size=20, intermediate_size=29, num_hidden_layers=3, num_attention_heads=5,
               max_position_embeddings=43)
ENCODERS = {
    "bert": ("Bert", OF_BERT),
    "bert by tanh": ("Bert", OF_BERT | dict(hidden_act="gelu_new", layer_norm_eps=1e-3)),
    "roberta": ("Roberta", OF_BERT | dict(type_vocab_size=1, pad_token_id=1)),
    "xlm-roberta": ("XLMRoberta", OF_BERT | dict(type_vocab_size=1, pad_token_id=1)),
    "camembert": ("Camembert", OF_BERT | dict(type_vocab_size=1, pad_token_id=1)),
    "electra": ("Electra", OF_BERT | dict(embedding_size=20)),
    "distilbert": ("DistilBert", dict(vocab_size=37, dim=20, hidden_dim=29, n_layers=3, n_heads=5,
                                      max_position_embeddings=43)),
}


def random(name, sizes, head="ForCausalLM"):
    """A small model of transformers whose norms and biases are not 1 and 0."""
    torch.manual_seed(7)
    sizes = {size: number for size, number in sizes.items() if number is not None or size != "head_dim"}
    config = getattr(transformers, f"{name}Config")(**sizes)
    model = getattr(transformers, f"{name.replace('3Text', '3')}{head}")._from_config(
        config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
    return model.eval()


def some_ids(batch=2, n=11):
    return torch.randint(2, 37, (batch, n))


@torch.no_grad()
def compare(theirs, ours, ids):
    """Every map, every layer and the output are equal to 1e-5."""
    wanted = theirs(input_ids=ids, output_attentions=True, output_hidden_states=True)
    trace = ours.trace(ids)
    assert len(wanted.attentions) == len(trace.weights) == 3
    for ours_, theirs_ in zip(trace.weights, wanted.attentions):
        assert (ours_ - theirs_).abs().max() < 1e-5
    for ours_, theirs_ in zip([*trace.stream[:-1], trace.hidden], wanted.hidden_states):
        assert (ours_ - theirs_).abs().max() < 1e-5 * max(1, theirs_.abs().max())
    return wanted, trace


@pytest.mark.parametrize("kind", DECODERS)
@torch.no_grad()
def test_a_decoder_computes_what_it_does_in_transformers(kind):
    name, changes = DECODERS[kind]
    theirs = random(name, SIZES | changes)
    ours, ids = real.from_transformers(theirs), some_ids()
    assert isinstance(ours, Decoder) and not ours.training
    wanted, trace = compare(theirs, ours, ids)
    assert (trace.logits - wanted.logits).abs().max() < 1e-5 * max(1, wanted.logits.abs().max())
    caches = ours.new_caches(2, 11)
    steps = torch.cat([ours(some, caches) for some in ids.split([6, 1, 4], 1)], 1)
    assert (steps - trace.logits).abs().max() < 1e-5 * max(1, wanted.logits.abs().max())
    written = theirs.generate(ids, max_new_tokens=9, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(ours.generate(ids, 9), written)


def test_every_family_of_decoders_is_tried():
    assert {getattr(transformers, f"{name}Config").model_type for name, _ in DECODERS.values()} == {*FAMILIES}


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("head", ["Model", "ForMaskedLM"])
def test_an_encoder_computes_what_it_does_in_transformers(kind, head):
    name, sizes = ENCODERS[kind]
    theirs = random(name, sizes, head)
    ours = real.from_transformers(theirs)
    assert isinstance(ours, Transformer) and not ours.causal
    _, trace = compare(theirs, ours, some_ids())
    assert trace.logits is None


@pytest.mark.parametrize("changes", [{}, dict(n_inner=29, activation_function="gelu", layer_norm_epsilon=1e-3)])
def test_gpt2_computes_what_it_does_in_transformers(changes):
    sizes = dict(vocab_size=37, n_embd=20, n_layer=3, n_head=5, n_positions=43)
    theirs = random("GPT2", sizes | changes, "LMHeadModel")
    wanted, trace = compare(theirs, real.from_transformers(theirs), some_ids())
    assert (trace.logits - wanted.logits).abs().max() < 1e-5 * max(1, wanted.logits.abs().max())


def test_ours_is_a_copy_in_the_dtype_that_is_asked_for():
    theirs = random("Llama", SIZES).bfloat16()
    ours, ids = real.from_transformers(theirs, dtype=torch.float32), some_ids()
    assert ours.layers[0].attention.W_Q.weight.dtype == torch.float32
    assert real.from_transformers(theirs).embedding.weight.dtype == torch.bfloat16
    before = ours(ids)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.zero_()
    assert torch.equal(ours(ids), before)


@pytest.mark.parametrize("name, sizes, head", [("Qwen3", SIZES, "ForCausalLM"), ("Roberta", ENCODERS["roberta"][1],
                                                                                 "Model")])
def test_a_folder_is_read_as_the_model_that_was_saved_in_it(tmp_path, name, sizes, head):
    pytest.importorskip("safetensors")
    theirs, ids = random(name, sizes, head), some_ids()
    theirs.save_pretrained(tmp_path)
    ours = real.from_folder(tmp_path)
    assert torch.equal(ours.trace(ids).hidden, real.from_transformers(theirs).trace(ids).hidden)
    with pytest.raises(ValueError, match="model.safetensors has sha256 [0-9a-f]{64}, wanted 00"):
        real.from_folder(tmp_path, sha256={"model.safetensors": "00"})


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma 2", "gemma 3", "qwen 2 with a window"])
def test_a_configuration_as_of_transformers_4_means_the_same(tmp_path, kind):
    """There rotary positions stand in several places, and layer_types may be left out."""
    pytest.importorskip("safetensors")
    name, changes = DECODERS[kind]
    theirs, ids = random(name, SIZES | changes | dict(rope_parameters=None)), some_ids()
    theirs.save_pretrained(tmp_path)
    said = json.loads((tmp_path / "config.json").read_text())
    rope = said.pop("rope_parameters")
    said.pop("layer_types", None)
    if kind == "gemma 3":
        said |= dict(rope_theta=rope["full_attention"]["rope_theta"], sliding_window_pattern=2,
                     rope_local_base_freq=rope["sliding_attention"]["rope_theta"])
    (tmp_path / "config.json").write_text(json.dumps(said))
    assert torch.equal(real.from_folder(tmp_path).trace(ids).hidden, real.from_transformers(theirs).trace(ids).hidden)


# --- Texts ----------------------------------------------------------------------------------------------------------

def word_tokenizer():
    """Of whole words, with a token that starts a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    words = ["<unk>", "<s>", "a", "cat", "sat", "."]
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.add_special_tokens(["<s>"])
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return made


def fast():
    return transformers.PreTrainedTokenizerFast(tokenizer_object=word_tokenizer(), unk_token="<unk>", bos_token="<s>")


@pytest.mark.parametrize("tokenizer", [word_tokenizer, fast])
def test_a_tokenizer_may_be_given_beside_it(tokenizer):
    pytest.importorskip("tokenizers")
    ours = real.from_transformers(random("Llama", SIZES), tokenizer())
    assert ours.encode("a cat sat .") == [1, 2, 3, 4, 5] and ours.decode([1, 3, 4]).split() == ["cat", "sat"]
    trace = ours.trace(["a cat sat .", "a cat"])
    assert trace.tokens == [["<s>", "a", "cat", "sat", "."], ["<s>", "a", "cat", "", ""]]
    alone = ours.trace(["a cat"])
    assert torch.allclose(trace.logits[1, :3], alone.logits[0], atol=1e-5) and trace.lengths.tolist() == [5, 3]
    encoder = real.from_transformers(random("Bert", OF_BERT, "Model"), tokenizer())
    assert encoder.trace(["a cat"]).tokens == [["<s>", "a", "cat"]]


def test_without_a_tokenizer_it_says_so():
    for theirs in (random("Llama", SIZES), random("Bert", OF_BERT, "Model")):
        ours = real.from_transformers(theirs)
        with pytest.raises(ValueError, match="no tokenizer, so it reads numbers of tokens: give ids, a tensor"):
            ours.trace(["a cat"])
        assert ours.trace(torch.tensor([[3, 7]])).tokens == [["3", "7"]]


# --- What does not fit ----------------------------------------------------------------------------------------------

def refused(changes, name="Llama", sizes=SIZES, head="ForCausalLM"):
    real.from_transformers(random(name, sizes | changes, head))


@pytest.mark.parametrize("wanted, case", [
    ("has the activation 'relu'", dict(changes=dict(hidden_act="relu"))),
    ("this llama model has 9 tensors that mha.lab.real has no place for: layers.0.mlp.*, ...",
     dict(changes=dict(mlp_bias=True))),
    ("no rotary positions of the kind 'yarn'; it has default, linear and llama3",
     dict(changes=dict(rope_parameters={"rope_theta": 100.0, "rope_type": "yarn", "factor": 4.0}))),
    ("has no head that scores the next token: read it by transformers.AutoModelForCausalLM",
     dict(changes={}, head="Model")),
    ("no layers for a model of the kind 'gpt_neox'; it reads bert, .*, gemma3_text",
     dict(changes={}, name="GPTNeoX")),
    ("this bert model has the activation 'relu'", dict(changes=dict(hidden_act="relu"), name="Bert", sizes=OF_BERT,
                                                       head="Model")),
    ("this bert model has a decoder's mask", dict(changes=dict(is_decoder=True), name="Bert", sizes=OF_BERT,
                                                  head="Model")),
    ("this electra model has a projection behind the embeddings",
     dict(changes=dict(embedding_size=12), name="Electra", sizes=OF_BERT, head="Model")),
    ("this gpt2 model has scores without the usual scale",
     dict(changes=dict(n_embd=20, n_head=5, scale_attn_by_inverse_layer_idx=True), name="GPT2",
          sizes=dict(vocab_size=37), head="LMHeadModel")),
])
def test_what_is_missing_is_named(wanted, case):
    with pytest.raises(ValueError, match=wanted):
        refused(**case)


@pytest.mark.parametrize("changes, words", [
    (dict(num_local_experts=8), "this llama model has several experts in a layer, which mha.lab.real cannot compute"),
    (dict(quantization_config={"bits": 4}), "has weights in fewer bits"),
    (dict(use_bidirectional_attention=True), "has attention in both directions"),
    (dict(rope_parameters={"rope_theta": 100.0, "partial_rotary_factor": 0.5}), "and this model only 0.5 of them"),
    (dict(num_hidden_layers=4), "the llama model lacks the tensor 'layers.3.self_attn.q_proj.weight'"),
    (dict(model_type="mamba"), "no layers for a model of the kind 'mamba'; as decoders it reads llama, .*"),
])
def test_a_configuration_that_does_not_fit_is_refused(changes, words):
    theirs = random("Llama", SIZES)
    with pytest.raises(ValueError, match=words):
        build(theirs.config.to_dict() | changes, theirs.state_dict())


def test_tensors_that_are_not_in_memory_are_refused():
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))
    with pytest.raises(ValueError, match="are not in memory"):
        real.from_transformers(theirs)


@needs_gpu
def test_it_stays_where_it_was():
    theirs, ids = random("Llama", SIZES | dict(rope_parameters=SLOWER)), some_ids()
    there = mha.pick_device()
    before = real.from_transformers(theirs).trace(ids).logits
    assert (real.from_transformers(theirs.to(there)).trace(ids).logits - before).abs().max() < 1e-3


@pytest.mark.parametrize("model", [nn.Linear(3, 3), "gpt2", None])
def test_no_model_of_transformers_is_refused(model):
    with pytest.raises(TypeError, match="reads a model of the library transformers, got"):
        real.from_transformers(model)


@pytest.mark.parametrize("tokenizer", ["bert-base-uncased", 3])
def test_no_tokenizer_is_refused(tokenizer):
    with pytest.raises(TypeError, match="tokenizer must"):
        real.from_transformers(random("Bert", OF_BERT, "Model"), tokenizer)
    with pytest.raises(TypeError, match="tokenizer must|must have encode"):
        real.from_transformers(random("Llama", SIZES), 3)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold config.json and at least one file .safetensors"):
        real.from_folder(tmp_path)
