"""BERT's kind and GPT-2's, out of `mha.lab.transformer`: their tensors under our names."""
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from mha.lab.real.files import TOKENIZER, WEIGHTS, Source
from mha.lab.transformer import Transformer


def read(folder: Path, source: Source) -> Transformer:
    """The model in a folder, without a look at its sha256."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    theirs = load_file(folder / WEIGHTS)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ours = _from_gpt2(theirs) if source.causal else _from_bert(theirs)
    (vocabulary, d_model), positions = ours["embedding.weight"].shape, len(ours["position.weight"])
    model = Transformer(vocabulary, positions, d_model, _count(ours, "layers."), source.num_heads, causal=source.causal,
                        tokenizer=tokenizer)
    model.load_state_dict(ours)
    return model


BERT = {  # our name -> theirs, in each layer
    "attention.W_Q": "attention.self.query",
    "attention.W_K": "attention.self.key",
    "attention.W_V": "attention.self.value",
    "attention.W_O": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm_2": "output.LayerNorm",
}
DISTILBERT = {
    "attention.W_Q": "attention.q_lin",
    "attention.W_K": "attention.k_lin",
    "attention.W_V": "attention.v_lin",
    "attention.W_O": "attention.out_lin",
    "norm_1": "sa_layer_norm",
    "up": "ffn.lin1",
    "down": "ffn.lin2",
    "norm_2": "output_layer_norm",
}
GPT2 = {"attention.W_O": "attn.c_proj", "norm_1": "ln_1", "norm_2": "ln_2", "up": "mlp.c_fc", "down": "mlp.c_proj"}
ENCODERS = ("bert", "electra", "roberta", "xlm-roberta", "camembert", "distilbert")
GELU = {"gelu": "none", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}


def build(config: Mapping, theirs: Mapping[str, Tensor], *, tokenizer=None,
          dtype: torch.dtype | None = None) -> Transformer:
    """An encoder as BERT, or GPT-2, in evaluation mode, whose tensors are copies.

    Args:
        config: as in Hugging Face's config.json, with "model_type" one of ENCODERS, or "gpt2".
        theirs: name -> tensor, as transformers' state_dict. What stands on top of an encoder is left away.
        tokenizer: of the library `tokenizers`.
        dtype: of the copies; that of the tensors by default.
    Raises:
        ValueError: a model that computes what ours does not; the message says what.
    """
    kind = config["model_type"]
    causal = kind == "gpt2"
    activation = next(config[name] for name in ("activation_function", "hidden_act", "activation") if name in config)
    _refuse(kind, {
        f"the activation {activation!r}": activation not in GELU,
        "a decoder's mask or attention to another text": config.get("is_decoder") and not causal
        or config.get("add_cross_attention"),
        "positions that are not a vector each": config.get("position_embedding_type", "absolute") != "absolute",
        "scores without the usual scale": not config.get("scale_attn_weights", True)
        or config.get("scale_attn_by_inverse_layer_idx"),
        "a matrix of its own that scores the next token": causal and not config.get("tie_word_embeddings", True),
        "weights in fewer bits": config.get("quantization_config"),
    })
    inside = "transformer." if causal else f"{kind.replace('xlm-', '').replace('camembert', 'roberta')}."
    if any(name.startswith(inside) for name in theirs):
        theirs = {name: tensor for name, tensor in theirs.items() if name.startswith(inside)}
    theirs = {name.removeprefix(inside): tensor.detach() for name, tensor in theirs.items()}
    ours = _from_gpt2(theirs) if causal else _from_bert(theirs, DISTILBERT if kind == "distilbert" else BERT)
    if inside == "roberta.":  # its first position is that of padding, and the numbers of tokens begin behind it
        ours["position.weight"] = ours["position.weight"][config["pad_token_id"] + 1:]
    _refuse(kind, {"a projection behind the embeddings": any("embeddings_project" in name for name in theirs)})
    model = Transformer(
        *ours["embedding.weight"].shape[:1], len(ours["position.weight"]), ours["embedding.weight"].shape[1],
        _count(ours, "layers."), config.get("n_head") or config.get("n_heads") or config["num_attention_heads"],
        causal=causal, tokenizer=tokenizer, gelu=GELU[activation], hidden=len(ours["layers.0.up.weight"]),
        eps=config.get("layer_norm_epsilon") or config.get("layer_norm_eps") or 1e-12)
    device = ours["embedding.weight"].device
    model.load_state_dict({name: tensor.to(device, dtype or tensor.dtype, copy=True) for name, tensor in ours.items()},
                          assign=True)
    return model.eval()


def _refuse(kind: str, missing: Mapping[str, bool]) -> None:
    """Raise a ValueError that names the first thing that a model has and ours has not."""
    for what, there in missing.items():
        if there:
            raise ValueError(f"this {kind} model has {what}, which mha.lab.real cannot compute")


def _from_bert(theirs: Mapping[str, Tensor], names: Mapping[str, str] = BERT) -> dict[str, Tensor]:
    """BERT's tensors, or DistilBERT's, under our names.

    BERT also embeds whether a sentence is the first or the second of a pair. Of these two vectors we keep the first;
    DistilBERT has none.
    """
    theirs = {name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias"): tensor
              for name, tensor in theirs.items()}
    words, segments = theirs["embeddings.word_embeddings.weight"], theirs.get("embeddings.token_type_embeddings.weight")
    ours = {"embedding.weight": words,
            "segment": torch.zeros_like(words[0]) if segments is None else segments[0],
            "position.weight": theirs["embeddings.position_embeddings.weight"]}
    ours |= {f"norm.{part}": theirs[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")}
    at = "encoder.layer." if names is BERT else "transformer.layer."
    for number in range(_count(theirs, at)):
        ours |= {f"layers.{number}.{our}.{part}": theirs[f"{at}{number}.{their}.{part}"]
                 for our, their in names.items() for part in ("weight", "bias")}
    return ours


def _from_gpt2(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """GPT-2's tensors under our names.

    Its matrices stand to the right of row vectors, so nn.Linear wants them transposed; Q, K and V are packed in one.
    """
    theirs = {name.removeprefix("transformer."): tensor for name, tensor in theirs.items()}
    ours = {"embedding.weight": theirs["wte.weight"], "position.weight": theirs["wpe.weight"]}
    ours |= {f"norm.{part}": theirs[f"ln_f.{part}"] for part in ("weight", "bias")}
    for number in range(_count(theirs, "h.")):
        at = f"layers.{number}."
        ours |= {f"{at}{our}.{part}": theirs[f"h.{number}.{their}.{part}"].t().contiguous()
                 for our, their in GPT2.items() for part in ("weight", "bias")}
        for part in ("weight", "bias"):
            packed = theirs[f"h.{number}.attn.c_attn.{part}"].t().chunk(3, 0)
            ours |= {f"{at}attention.W_{letter}.{part}": one.contiguous() for letter, one in zip("QKV", packed)}
    return ours


def _count(theirs: Mapping[str, Tensor], prefix: str) -> int:
    """How many layers there are: one more than the largest number that follows the prefix."""
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in theirs if name.startswith(prefix))
