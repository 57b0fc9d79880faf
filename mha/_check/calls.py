"""How things are called: arguments and attributes that are missing, too many, or known elsewhere by another name."""

import difflib
import functools
import inspect
import re

# --- Whatever has a signature ----------------------------------------------------------------------------------------


def call(function):
    """The function, whose calls with missing, unknown or too many arguments meet a sentence.

    Python finds them out by itself, so a right call pays nothing: only after a TypeError is the signature read.
    """
    @functools.wraps(function)
    def answered(*args, **named):
        try:
            return function(*args, **named)
        except TypeError:
            sentence = misfit(function, args, named)
            if sentence is None:
                raise
        raise TypeError(sentence)
    return answered


def calls(kind: type) -> type:
    """`call` for a class's constructor and all that it offers."""
    for name, member in list(vars(kind).items()):
        function = member.__func__ if isinstance(member, classmethod) else member
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, classmethod(call(function)) if function is not member else call(function))
    return kind


def misfit(function, args: tuple, named: dict) -> str | None:
    """What is wrong with a call's arguments, and how the call is written; None where they fit."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **named)
    except TypeError:
        if set(named) - set(signature.parameters) and len(_own(function)) < len(signature.parameters):
            return _with_nothing(function, args, named)
        called, is_method = _called(function)
        parameters = _own(function)[is_method:]
        fault, way = _fault(called, parameters, args[is_method:], named, _docs(function, args))
        return f"{called} {fault}; {way or 'write ' + written(function)}{NOTES.get(called, '')}"
    return None


def _own(function) -> list[inspect.Parameter]:
    """The parameters that have a name, and take no others."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _with_nothing(function, args: tuple, named: dict) -> str | None:
    """What a function that takes any name, and looks at it itself, says where None stands for what is missing."""
    missing = [p.name for p in _own(function) if p.default is p.empty][len(args):]
    try:
        function(*args, **{**dict.fromkeys(missing), **named})
    except TypeError as own:
        return str(own)


def _called(function) -> tuple[str, bool]:
    """The name under which a function is called, and whether its first parameter is self or cls."""
    owner, _, name = function.__qualname__.rpartition(".")
    is_method = bool(owner) and not owner.endswith("<locals>")
    return {"__init__": owner, "forward": f"{owner}(...)"}.get(name, name), is_method


def written(function) -> str:
    """A call as one writes it, with the defaults: rope(x, positions, *, base=10000.0, interleaved=False)."""
    called, is_method = _called(function)
    parameters = _own(function)[is_method:]
    shown = inspect.Signature([p.replace(annotation=p.empty) for p in parameters if p.name not in ("device", "dtype")])
    return re.sub(r"<function (\w+)[^>]*>", r"\1", f"{called}{shown}".replace("(*, ", "("))


def _docs(function, args: tuple) -> str:
    """What describes the arguments: the function's docstring, of a constructor its class's; its Args where it has."""
    docs = function.__doc__ or (args and type(args[0]).__doc__) or ""
    return docs.partition("Args:")[2] or docs


def _fault(called: str, parameters: list, args: tuple, named: dict, docs: str) -> tuple[str, str | None]:
    """What is wrong, and the way out where that is a single word."""
    names = [p.name for p in parameters]
    places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in named:
        if name not in names:
            ours = [ours for ours, theirs in SYNONYMS.items() if ours in names and name in theirs.split()]
            ours = ours or name not in SYNONYMS and difflib.get_close_matches(name, names, 1, cutoff=0.7)
            way = f"here that is {ours[0]}=" if ours else BUILDS.get(name) if called.endswith("Attention") else None
            return f"has no {name}=", way
    if len(args) > len(places):
        takes = f"{len(places)} value{'s' * (len(places) != 1)}" if places else "nothing"
        return f"takes {takes} by position, got {len(args)}", None
    twice = [name for name in places[:len(args)] if name in named]
    if twice:
        return f"got {twice[0]} twice, by position and by name", None
    given = {*places[:len(args)], *named}
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in given]
    meaning = re.search(rf"\b{missing[0]}(?:, \w+)*: (?:\([^)]*\),? )?([^.;\n]+)", docs)
    return f"got no {', '.join(missing)}" + (f" ({meaning[1].rstrip(',')})" if meaning else ""), None


ONES = "for ones and zeros of shape (B, m) use mask=attention_mask.bool()[:, None, None]"
NOTES = {
    "Rope": ": sizes and positions come with the queries, and a base goes by name",
    "padding": f"; {ONES}",
    "prune": ", where keep names the heads that stay",
}
SYNONYMS = {  # what an argument is called here, and elsewhere
    "d_model": "embed_dim hidden_size n_embd dim d_in", "num_heads": "n_heads n_head nhead num_attention_heads",
    "num_kv_heads": "num_key_value_heads n_kv_heads", "d_k": "head_dim key_dim", "d_v": "value_dim v_head_dim",
    "d_context": "kdim vdim", "d_c": "kv_lora_rank", "d_r": "qk_rope_head_dim", "base": "theta rope_theta",
    "bias": "use_bias qkv_bias", "dropout": "attention_dropout attn_dropout dropout_p", "causal": "is_causal",
    "batch": "batch_size max_batch_size", "max_len": "max_seq_len max_length", "positions": "position_ids pos",
    "n": "max_len max_seq_len seq_len length", "m": "max_len max_length seq_len", "attn_mask": "mask",
}
BUILDS = {  # what other libraries' layers are built with, and ours are not
    "batch_first": "the batch always comes first: x is (B, n, d_model)",
    **dict.fromkeys(("add_bias_kv", "add_zero_attn"), "append the extra key and value to the context yourself"),
    **dict.fromkeys(("mask", "scale", "softcap", "window", "need_weights"), "it goes with each call, layer(x, ...)"),
}


# --- Attributes -------------------------------------------------------------------------------------------------------


def lacks(thing, name: str) -> AttributeError:
    """The error for an attribute that is not there, with the way to what others call so."""
    ours = [ours for ours, theirs in SYNONYMS.items() if ours in vars(thing) and name in theirs.split()]
    way = f"here that is {ours[0]}" if ours else ATTRIBUTES.get(name)
    return AttributeError(f"{type(thing).__name__} has no {name}{f'; {way}' if way else ''}", name=name, obj=thing)


_FORGET = "cache.rewind(0) forgets all, cache.rewind(n) all but the first n"
_MOVE = "layer.to(...).new_cache(batch, max_len) makes one with the device and dtype of the layer"
ATTRIBUTES = {
    "batch_first": BUILDS["batch_first"],
    "max_len": "the room is cache.K.shape[2]",
    "prune_heads": "layer.prune(keep) gives a smaller layer, where keep names the heads that stay",
    **dict.fromkeys(("in_proj_weight", "in_proj_bias"), "W_Q, W_K and W_V hold its three parts"),
    **{f"{letter.lower()}_proj": f"here that is W_{letter}" for letter in "QKVO"},
    **dict.fromkeys(("out_proj", "c_proj", "to_out"), "here that is W_O"),
    **dict.fromkeys(("reset", "clear", "crop"), _FORGET),
    **dict.fromkeys(("to", "cpu", "cuda", "half", "float", "bfloat16", "double"), _MOVE),
    **dict.fromkeys(("update", "add", "extend"), "cache.append(K, V) keeps more tokens"),
    **dict.fromkeys(("get_seq_length", "seq_len", "size", "shape"), "cache.length tells how many tokens it holds"),
}


# --- Calls of a layer, and of `attention`: they take what comes, and look at it themselves ---------------------------

OURS = "mask=, bias=, head_mask=, cache=, offset=, window=, scale=, softcap= and need_weights="


def call_style(more: tuple, unknown: dict, options: str = OURS) -> None:
    """Arguments of other libraries' layers that ours has under other names, or not at all."""
    if more:
        raise TypeError(
            f"a layer takes x and context, got {2 + len(more)} tensors: self-attention is layer(x), attention from x "
            f"to y is layer(x, y); keys and values come from one context; by name go {options}"
        )
    for name in unknown:
        raise TypeError(f"there is no {name}= here; {CALLS.get(name, 'a layer takes ' + options)}")


def call_of_x_alone(more: tuple, unknown: dict, options: str) -> None:
    """`call_style` of a layer that has no context."""
    if more:
        raise TypeError(f"this layer takes x alone, got {1 + len(more)} tensors: keys and values are made from x too; "
                        f"by name go {options}")
    call_style((), unknown, options)


_CAUSAL = "build the layer with causal=True, or use mask=mha.masks.causal(n, m)"
_TOKENS = "self-attention is layer(x), attention from x to y is layer(x, y): keys and values come from one context"
_WEIGHTS = "need_weights=True asks for the weights of every head"
_CACHE = "what decoding keeps is cache=layer.new_cache(batch, max_len)"
CALLS = {
    "attn_mask": "use mask=mha.masks.from_torch(attn_mask) for a bool one, bias=attn_mask for one of floats",
    "key_padding_mask": "use mask=mha.masks.from_torch(key_padding_mask=...), or mask=mha.masks.padding(lengths, m)",
    "attention_mask": ONES,
    "average_attn_weights": "the weights of every head come back: weights.mean(-3) is their average",
    "training": "layer.train() and layer.eval() switch dropout on and off",
    **dict.fromkeys(("is_causal", "causal", "use_causal_mask"), _CAUSAL),
    **dict.fromkeys(("query", "key", "value", "inputs", "hidden_states"), _TOKENS),
    **dict.fromkeys(("return_attention_scores", "output_attentions"), _WEIGHTS),
    **dict.fromkeys(("use_cache", "past_key_value", "past_key_values"), _CACHE),
}


def function_style(more: tuple, unknown: dict) -> None:
    """Arguments of torch's function that `attention` has under other names, or not at all."""
    if more:
        raise TypeError(f"only q, k and v go by position, got {3 + len(more)} values; give the others by name: mask=, "
                        f"bias=, causal=, ...")
    for name in unknown:
        raise TypeError(f"attention has no {name}=; {FUNCTION.get(name, 'help(mha.attention) lists its own')}")


FUNCTION = {
    **dict.fromkeys(("query", "key", "value"), "the tensors go by position: attention(q, k, v)"),
    "attn_mask": "use mask=attn_mask for a bool one (True = may attend), bias=attn_mask for one of floats",
    "key_padding_mask": CALLS["key_padding_mask"],
    "is_causal": "use causal=True",
    **dict.fromkeys(("softmax_scale", "sm_scale"), "use scale="),
    **dict.fromkeys(("window_size", "sliding_window"), "use window=(left, right)"),
    **dict.fromkeys(("logits_soft_cap", "softcapping"), "use softcap="),
    "alibi_slopes": "use bias=mha.position.alibi_bias(num_heads, n)[None]",
    "dropout_p": "use dropout=",
    "enable_gqa": "heads share keys wherever k and v have fewer heads than q",
}
