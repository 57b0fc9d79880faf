"""A file of llama.cpp, .gguf: weights in few bits, the configuration and the tokenizer in one."""
from pathlib import Path

import torch

from mha.lab.decoder import Decoder
from mha.lab.real.families import build
from mha.lab.real.files import digest_of
from mha.lab.real.hub import HubTokenizer

PARTS = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
WHOLE = {"token_embd": "embed_tokens", "output_norm": "norm", "output": "lm_head"}
CONTROL = 3  # the type of a token that is no text


def from_gguf(path: str | Path, *, sha256: str | None = None) -> Decoder:
    """A model of Llama's kind out of a .gguf file, in float32, with its tokenizer.

    Numbers that are stored in few bits are widened: what they lost is lost.

    Args:
        path: of the file.
        sha256: of the file, checked before it is read.
    Raises:
        ValueError: another file than sha256 names, another kind of model than "llama", or another tokenizer than one
            over bytes as GPT-2's.
        ImportError: gguf or tokenizers is missing.
    Source:
        Layout: github.com/ggml-org/ggml, docs/gguf.md. Rows of queries and keys stand so that neighbours rotate.
    """
    from gguf import GGUFReader, dequantize

    if sha256 is not None and digest_of(Path(path)) != sha256:
        raise ValueError(f"{path} has sha256 {digest_of(Path(path))}, wanted {sha256}")
    reader = GGUFReader(path)
    said = {name: field.contents() for name, field in reader.fields.items()}
    kind = said["general.architecture"]
    if kind != "llama":
        raise ValueError(f"from_gguf reads models of the kind 'llama', got {kind!r}")
    tensors = {}
    for tensor in reader.tensors:
        tensors[_name(tensor.name)] = torch.tensor(dequantize(tensor.data, tensor.tensor_type))
    config = {
        "model_type": kind, "hidden_size": said["llama.embedding_length"],
        "num_hidden_layers": said["llama.block_count"], "num_attention_heads": said["llama.attention.head_count"],
        "num_key_value_heads": said["llama.attention.head_count_kv"],
        "intermediate_size": said["llama.feed_forward_length"],
        "max_position_embeddings": said["llama.context_length"],
        "rms_norm_eps": said["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": said.get("llama.rope.freq_base", 10000.0),
        "tie_word_embeddings": "lm_head.weight" not in tensors,
    }
    return build(config, tensors, interleaved=True, tokenizer=HubTokenizer(_tokenizer(said)))


def _name(theirs: str) -> str:
    """blk.3.attn_q.weight -> layers.3.self_attn.q_proj.weight"""
    *where, part, kind = theirs.split(".")
    if not where:
        return f"{WHOLE.get(part, part)}.{kind}"
    return f"layers.{where[1]}.{PARTS.get(part, part)}.{kind}"


def _tokenizer(said: dict):
    """The tokenizer that a file describes, which makes the texts' bytes to letters and joins neighbours as learned."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    kind, cut = said["tokenizer.ggml.model"], said.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2" or cut not in ("smollm", "gpt-2"):
        raise ValueError(f"from_gguf reads a tokenizer 'gpt2' that cuts as 'smollm' or 'gpt-2', got {kind!r} and "
                         f"{cut!r}")
    pieces = said["tokenizer.ggml.tokens"]
    made = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)},
                                [tuple(pair.split(" ")) for pair in said["tokenizer.ggml.merges"]]))
    cuts = [pre_tokenizers.Digits(individual_digits=True)] if cut == "smollm" else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([piece for piece, kind in zip(pieces, said["tokenizer.ggml.token_type"])
                             if kind == CONTROL])
    return made
