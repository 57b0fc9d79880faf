"""Decoders that others trained, out of this package's own layers: Llama's kind and its relatives.

A model comes as its configuration, a dict as in Hugging Face's config.json, and its tensors under the names that
Hugging Face's transformers gives them. What this module has no place for, it refuses, with a sentence that names it.
"""
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mha.lab.decoder import Decoder, GatedLayer, NormedQK
from mha.multihead import MultiHeadAttention
from mha.position import Rope, frequencies, llama3


@dataclass(frozen=True)
class Family:
    """What a configuration does not say, since all models of the family have it."""

    eps: float = 1e-6  # where the configuration is silent, as all that follows
    tied: bool = False
    activation: str = "silu"
    bias: bool = False  # of queries, keys and values
    base: float = 10000.0  # of the rotary positions
    normed_qk: bool = False  # queries and keys are normalised in each head
    norm_after: bool = False  # as of `GatedLayer`
    one_is_zero: bool = False  # a norm's weight w is stored as w - 1, and embeddings grow by the root of d_model


FAMILIES = {
    "llama": Family(),
    "mistral": Family(),
    "qwen2": Family(bias=True),
    "qwen3": Family(normed_qk=True),
    "smollm3": Family(tied=True, base=2000000.0),
    "gemma": Family(tied=True, activation="gelu_tanh", one_is_zero=True),
    "gemma2": Family(tied=True, activation="gelu_tanh", one_is_zero=True, norm_after=True),
    "gemma3_text": Family(tied=True, activation="gelu_tanh", one_is_zero=True, norm_after=True, normed_qk=True,
                          base=1000000.0),
}
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh",
               "gelu_new": "gelu_tanh"}  # theirs -> ours
HEADS = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "o_proj"}
NETWORK = {"gate": "gate_proj", "up": "up_proj", "down": "down_proj"}
NORMS = {"norm_1": "input_layernorm", "norm_2": "post_attention_layernorm"}
NORMS_AFTER = {"norm_1": "input_layernorm", "after_1": "post_attention_layernorm",
               "norm_2": "pre_feedforward_layernorm", "after_2": "post_feedforward_layernorm"}


def build(config: Mapping, theirs: Mapping[str, Tensor], *, interleaved: bool = False, tokenizer=None,
          dtype: torch.dtype | None = None) -> Decoder:
    """A decoder in evaluation mode, whose tensors are copies.

    Args:
        config: of the model, with "model_type" one of FAMILIES.
        theirs: name -> tensor, as transformers' state_dict of the model with its head.
        interleaved: pairs that rotate are neighbours, as llama.cpp stores them; by default they are halves.
        tokenizer: as of `Decoder`.
        dtype: of the copies; that of the tensors by default.
    Raises:
        ValueError: another kind of model, or one with parts that have no place here; the message names them.
    """
    kind = config["model_type"]
    if kind not in FAMILIES:
        raise ValueError(f"mha.lab.real has no layers for a model of the kind {kind!r}; as decoders it reads "
                         f"{', '.join(FAMILIES)}")
    family = FAMILIES[kind]
    _refuse(config, kind)
    ours = _renamed(config, family, theirs, dtype)
    with torch.device("meta"):  # no room for numbers that would be drawn in vain
        layers = [_layer(config, family, number, ours, interleaved) for number in range(config["num_hidden_layers"])]
        model = Decoder(
            len(ours["embedding.weight"]), config["max_position_embeddings"], layers,
            eps=_get(config, "rms_norm_eps", family.eps), tied="unembedding.weight" not in ours,
            embed_scale=config["hidden_size"] ** 0.5 if family.one_is_zero else 1.0,
            softcap=_get(config, "final_logit_softcapping", None), tokenizer=tokenizer)
    model.load_state_dict(ours, assign=True)
    return model.eval()


def _get(config: Mapping, name: str, default):
    """What a configuration says, or what it means where it is silent."""
    found = config.get(name)
    return default if found is None else found


def _refuse(config: Mapping, kind: str) -> None:
    """Raise a ValueError where a model computes what no layer of ours does."""
    missing = {
        "attention in both directions": config.get("use_bidirectional_attention"),
        "several experts in a layer": config.get("num_experts") or config.get("num_local_experts"),
        f"the activation {_activation(config, None)!r}": _activation(config, "silu") not in ACTIVATIONS,
        "weights in fewer bits": config.get("quantization_config"),
    }
    for what, wanted in missing.items():
        if wanted:
            raise ValueError(f"this {kind} model has {what}, which mha.lab.real cannot compute")


def _activation(config: Mapping, default):
    return _get(config, "hidden_activation", _get(config, "hidden_act", default))


def _layer(config: Mapping, family: Family, number: int, ours: Mapping[str, Tensor], interleaved: bool) -> GatedLayer:
    """One layer, without its numbers."""
    h, eps = config["num_attention_heads"], _get(config, "rms_norm_eps", family.eps)
    d_k = _get(config, "head_dim", config["hidden_size"] // h)
    local = _is_local(config, number)
    attention = MultiHeadAttention(
        config["hidden_size"], h, num_kv_heads=_get(config, "num_key_value_heads", h), d_k=d_k, causal=True,
        bias=f"layers.{number}.attention.W_Q.bias" in ours,
        on_qk=_on_qk(config, family, number, d_k, eps, interleaved))
    scalar = config.get("query_pre_attn_scalar")
    activation = ACTIVATIONS.get(_activation(config, None), family.activation)
    return GatedLayer(
        attention, config["intermediate_size"], eps=eps, norm_after=family.norm_after, activation=activation,
        window=(config["sliding_window"] - 1, None) if local else None,
        scale=None if scalar is None else scalar ** -0.5, softcap=config.get("attn_logit_softcapping"))


def _is_local(config: Mapping, number: int) -> bool:
    """Whether a layer sees only the last `sliding_window` tokens."""
    kind = config["model_type"]
    if kind in ("llama", "gemma") or not config.get("sliding_window"):
        return False
    if kind == "mistral":
        return True
    if config.get("layer_types"):
        return config["layer_types"][number] == "sliding_attention"
    if kind == "gemma2":
        return number % 2 == 0
    if kind == "gemma3_text":
        return (number + 1) % (config.get("sliding_window_pattern") or 6) != 0
    return bool(config.get("use_sliding_window")) and number >= config["max_window_layers"]


def _on_qk(config: Mapping, family: Family, number: int, d_k: int, eps: float, interleaved: bool) -> nn.Module | None:
    """What happens to queries and keys in one layer."""
    turn, said = None, config.get("no_rope_layers")  # 1 for a layer that has rotary positions
    if not said or said[number]:
        turn = _rope(_rope_options(config, family, number), d_k, interleaved)
    return NormedQK(d_k, turn, eps) if family.normed_qk else turn


def _rope_options(config: Mapping, family: Family, number: int) -> dict:
    """Of one layer, by the names of transformers 5: rope_type, rope_theta, factor, ..."""
    said = config.get("rope_parameters")
    if said is None:  # as up to transformers 4
        said = {"rope_theta": _get(config, "rope_theta", family.base), **(config.get("rope_scaling") or {})}
        if config["model_type"] == "gemma3_text" and _is_local(config, number):
            return {"rope_theta": _get(config, "rope_local_base_freq", 10000.0)}
    elif "full_attention" in said:
        said = said["sliding_attention" if _is_local(config, number) else "full_attention"]
    return said


def _rope(options: Mapping, d_k: int, interleaved: bool) -> nn.Module:
    """Rotary positions, plain or with frequencies that were changed for longer texts."""
    kind, base = options.get("rope_type", options.get("type", "default")), float(options["rope_theta"])
    if options.get("partial_rotary_factor", 1.0) != 1.0:
        raise ValueError("mha.lab.real turns every pair of a query, and this model only "
                         f"{options['partial_rotary_factor']} of them")
    if kind == "default":
        return Rope(base=base, interleaved=interleaved)
    if kind == "linear":
        return Rope(frequencies=frequencies(d_k, base) / options["factor"], interleaved=interleaved)
    if kind == "llama3":
        return Rope(frequencies=llama3(
            d_k, base, factor=options["factor"], length=options["original_max_position_embeddings"],
            slow=options["low_freq_factor"], fast=options["high_freq_factor"]), interleaved=interleaved)
    raise ValueError(f"mha.lab.real has no rotary positions of the kind {kind!r}; it has default, linear and llama3")


def _device(theirs: Mapping[str, Tensor]) -> torch.device:
    """Where a model's first tensor lies, and so all of ours."""
    device = next(iter(theirs.values())).device
    if any(tensor.is_meta for tensor in theirs.values()):
        raise ValueError("some of the model's tensors are not in memory (device 'meta'): load it without offloading")
    return device


def _renamed(config: Mapping, family: Family, theirs: Mapping[str, Tensor], dtype) -> dict[str, Tensor]:
    """Their tensors under our names, as copies. None may be missing, and none left over."""
    rest = {name.removeprefix("model."): tensor for name, tensor in theirs.items()
            if not name.endswith(("rotary_emb.inv_freq", "masked_bias"))}
    ours, norms, device = {}, [], _device(theirs)

    def take(our, their):
        if their not in rest:
            raise ValueError(f"the {config['model_type']} model lacks the tensor {their!r}")
        tensor = rest.pop(their).detach()
        ours[our] = tensor.to(device, dtype or tensor.dtype, copy=True)

    take("embedding.weight", "embed_tokens.weight")
    take("norm.weight", "norm.weight")
    norms.append("norm.weight")
    for number in range(config["num_hidden_layers"]):
        at, there = f"layers.{number}.", f"layers.{number}."
        for our, their in {**HEADS, **({"on_qk.norm_q": "q_norm", "on_qk.norm_k": "k_norm"} if family.normed_qk
                                       else {})}.items():
            take(f"{at}attention.{our}.weight", f"{there}self_attn.{their}.weight")
            if f"{there}self_attn.{their}.bias" in rest:
                take(f"{at}attention.{our}.bias", f"{there}self_attn.{their}.bias")
        if f"{at}attention.W_Q.bias" in ours and f"{at}attention.W_O.bias" not in ours:  # Qwen 2
            ours[f"{at}attention.W_O.bias"] = torch.zeros_like(ours[f"{at}attention.W_O.weight"][:, 0])
        for our, their in NETWORK.items():
            take(f"{at}{our}.weight", f"{there}mlp.{their}.weight")
        for our, their in (NORMS_AFTER if family.norm_after else NORMS).items():
            take(f"{at}{our}.weight", f"{there}{their}.weight")
            norms.append(f"{at}{our}.weight")
        norms += [f"{at}attention.on_qk.norm_{letter}.weight" for letter in "qk" if family.normed_qk]
    head = rest.pop("lm_head.weight", None)
    if not _get(config, "tie_word_embeddings", family.tied):
        if head is None:
            raise ValueError("the model has no head that scores the next token: read it by "
                             "transformers.AutoModelForCausalLM")
        rest["lm_head.weight"] = head
        take("unembedding.weight", "lm_head.weight")
    if rest:
        raise ValueError(f"this {config['model_type']} model has {len(rest)} tensors that mha.lab.real has no place "
                         f"for: {', '.join(sorted(rest)[:3])}{', ...' if len(rest) > 3 else ''}")
    if family.one_is_zero:
        for name in norms:
            ours[name] = (ours[name].float() + 1).to(ours[name].dtype)
    return ours
