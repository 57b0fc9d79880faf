"""How things are called: arguments and attributes that are missing, too many, or known elsewhere by another name."""

import difflib
import functools
import inspect
import re

# --- Whatever has a signature ----------------------------------------------------------------------------------------


def call(function, look=None):
    """The function, whose calls with missing, unknown or too many arguments meet a sentence.

    Python finds them out by itself, so a right call pays nothing: only after a TypeError is the signature read. And
    only after an error are the arguments given to `look`, which raises one with a better sentence where it has it.
    """
    @functools.wraps(function)
    def answered(*args, **named):
        try:
            return function(*args, **named)
        except Exception as raised:
            better = _better(raised, function, args, named, look)
            if better is None:
                raise
        raise better from None
    return answered


def _better(raised: Exception, function, args: tuple, named: dict, look) -> Exception | None:
    """An error that says more than the one that was raised, if there is one."""
    sentence = misfit(function, args, named) if isinstance(raised, TypeError) else None
    if sentence is not None:
        return TypeError(sentence)
    try:
        if look is not None:
            look(*args, **named)
    except (TypeError, ValueError) as found:
        return found
    return None


def calls(kind: type) -> type:
    """`call` for a class's constructor and all that it offers; its `_look` sees what its forward has failed on."""
    for name, member in list(vars(kind).items()):
        function = member.__func__ if isinstance(member, classmethod) else member
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            answered = call(function, vars(kind).get("_look") if name == "forward" else None)
            setattr(kind, name, answered if function is member else classmethod(answered))
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
    meaning = re.search(rf"\b{missing[0]}(?:, \w+)*: (\([^)]*\))?,? ?([^.;\n]*)", docs)  # its shape, and words
    return f"got no {', '.join(missing)}" + (f" ({(meaning[2] or meaning[1]).strip(',()')})" if meaning else ""), None


ONES = "for ones and zeros of shape (B, m) use mask=attention_mask.bool()[:, None, None]"
NOTES = {
    "Rope": ": sizes and positions come with the queries, a base goes by name, and other frequencies too",
    "padding": f"; {ONES}",
    "prune": ", where keep names the heads that stay",
}
SYNONYMS = {  # what an argument is called here, and elsewhere
    "d_model": "embed_dim hidden_size n_embd dim d_in query_dim",
    "num_heads": "n_heads n_head nhead num_attention_heads",
    "num_kv_heads": "num_key_value_heads n_kv_heads num_query_groups",
    "d_k": "head_dim key_dim dim_head head_size d_head", "d_v": "value_dim v_head_dim",
    "d_context": "kdim vdim context_dim cross_attention_dim", "d_out": "out_features out_dim", "d_c": "kv_lora_rank",
    "d_r": "qk_rope_head_dim", "base": "theta rope_theta", "bias": "use_bias qkv_bias attention_bias",
    "dropout": "attention_dropout attn_dropout dropout_p attn_drop attn_pdrop", "causal": "is_causal",
    "batch": "batch_size max_batch_size", "max_len": "max_seq_len max_length", "positions": "position_ids pos",
    "frequencies": "inv_freq freqs", "length": "original_max_position_embeddings", "slow": "beta_slow low_freq_factor",
    "fast": "beta_fast high_freq_factor", "n": "max_len max_seq_len seq_len length", "m": "max_len max_length seq_len",
    "attn_mask": "mask",
}
_ROPE = ("a layer counts positions by itself, from 0 or on from what its cache holds: build it with "
         "on_qk=mha.position.Rope(), latent heads with d_r=")
_SINK = ("a sink is one more key and value of zeros, in front of those of mha.attention, with its score in bias=; "
         "beside causal=True give offset=1")
_ROOM = "no length is needed: it comes with x, and a cache's with layer.new_cache(batch, max_len)"
BUILDS = {  # what other libraries' layers are built with, and ours are not
    "batch_first": "the batch always comes first: x is (B, n, d_model)",
    **dict.fromkeys(("add_bias_kv", "add_zero_attn"), "append the extra key and value to the context yourself"),
    **dict.fromkeys(("mask", "scale", "softcap", "window", "need_weights"), "it goes with each call, layer(x, ...)"),
    **dict.fromkeys(("window_size", "sliding_window"), "each call takes it: layer(x, window=(left, right))"),
    **dict.fromkeys(("softcapping", "attn_logit_softcapping"), "each call takes it: layer(x, softcap=...)"),
    **dict.fromkeys(("rope", "use_rope", "rotary", "rotary_emb", "rope_theta", "rope_scaling"), _ROPE),
    **dict.fromkeys(("sinks", "attention_sinks"), _SINK),
    **dict.fromkeys(("max_len", "max_seq_len", "max_position_embeddings", "block_size", "context_length"), _ROOM),
    **dict.fromkeys(("qk_norm", "use_qk_norm", "q_norm"), "on_qk= takes a function (Q, K, i, j) -> (Q, K)"),
    **dict.fromkeys(("proj_drop", "resid_pdrop"), "dropout= loses weights; put an nn.Dropout behind the layer"),
    "multi_query": "num_kv_heads=1 is multi-query attention",
    "layer_idx": "a layer has no number: each has a cache of its own, layer.new_cache(batch, max_len)",
}


# --- Attributes -------------------------------------------------------------------------------------------------------


def lacks(thing, name: str) -> AttributeError:
    """The error for an attribute that is not there, with the way to what others call so."""
    ours = [ours for ours, theirs in SYNONYMS.items() if ours in vars(thing) and name in theirs.split()]
    way = f"here that is {ours[0]}" if ours else ATTRIBUTES.get(name, "")
    if not {*re.findall(r"W_\w", way)} <= {*vars(thing).get("_modules", ())}:  # a cache has none, latent heads no W_K
        way = ""
    return AttributeError(f"{type(thing).__name__} has no {name}{f'; {way}' if way else ''}", name=name, obj=thing)


_FORGET = "cache.crop(0) forgets all, cache.crop(n) all but the first n"
_MOVE = "layer.to(...).new_cache(batch, max_len) makes one with the device and dtype of the layer"
PROJECTIONS = {
    **dict.fromkeys(("in_proj_weight", "in_proj_bias", "c_attn", "qkv", "qkv_proj", "query_key_value", "Wqkv"),
                    "W_Q, W_K and W_V hold its three parts"),
    **{name.format(letter.lower()): f"here that is W_{letter}" for letter in "QKVO"
       for name in ("{}", "{}_proj", "w{}", "to_{}", "linear_{}")},
    **{name: f"here that is W_{letter}" for name, letter in zip(("query", "key", "value"), "QKV")},
    **dict.fromkeys(("out_proj", "c_proj", "to_out"), "here that is W_O"),
}
ATTRIBUTES = PROJECTIONS | {
    "batch_first": BUILDS["batch_first"],
    "max_len": "the room is cache.K.shape[2]",
    "prune_heads": "layer.prune(keep) gives a smaller layer, where keep names the heads that stay",
    **dict.fromkeys(("reset", "clear", "rewind"), _FORGET),
    **dict.fromkeys(("reorder", "reorder_cache", "index_select", "batch_select_indices"),
                    "cache.select(rows) keeps these sequences, in this order"),
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
        way = CALLS.get(name, "")
        option = re.search(r"\w+=", way)
        if not way or option and option[0] in OURS and option[0] not in options:  # some layers take fewer
            way = f"a layer takes {options}"
        raise TypeError(f"there is no {name}= here; {way}")


def call_of_x_alone(more: tuple, unknown: dict, options: str) -> None:
    """`call_style` of a layer that has no context."""
    if more:
        raise TypeError(f"this layer takes x alone, got {1 + len(more)} tensors: keys and values are made from x too; "
                        f"by name go {options}")
    call_style((), unknown, options)


_CAUSAL = "build the layer with causal=True, or use mask=mha.masks.causal(n, m)"
_TOKENS = "self-attention is layer(x), attention from x to y is layer(x, y): keys and values come from one context"
_WEIGHTS = "need_weights=True asks for the weights of every head"
_LSE = "attention(q, k, v, need_lse=True) also returns the log-sum-exp of each query; mha.merge joins parts by it"
_CACHE = "what a layer keeps while it decodes is cache=layer.new_cache(batch, max_len)"
_HIDDEN = "use mask=mha.masks.from_torch(key_padding_mask=...), or mask=mha.masks.padding(lengths, m)"
_PACKED = ("sequences lie side by side: pad them to (B, n, ...), with mask=mha.masks.padding(lengths, m); or end to "
           "end in one row, with mask=mha.masks.blocks(ids)")
_POSITIONS = ("position_ids", "positions", "input_pos", "start_pos", "cache_position", "position_embeddings",
              "rotary_emb", "rotary_pos_emb", "freqs_cis", "cos", "sin")
BOTH = {  # what layers elsewhere take, and functions
    "attention_mask": ONES,
    **dict.fromkeys(("key_padding_mask", "src_key_padding_mask", "padding_mask"), _HIDDEN),
    **dict.fromkeys(("key_mask", "context_mask", "block_mask"), "use mask=, bool, True = may attend"),
    **dict.fromkeys(("attn_bias", "position_bias", "score_mod", "rel_pos"), "use bias=, floats added to the scores"),
    "alibi_slopes": "use bias=mha.position.alibi_bias(num_heads, n)[None]",
    **dict.fromkeys(("return_attention_scores", "output_attentions", "need_head_weights", "return_attn"), _WEIGHTS),
    **dict.fromkeys(("return_lse", "return_softmax_lse", "return_attn_probs", "return_aux"), _LSE),
    **dict.fromkeys(("softmax_scale", "sm_scale", "scaling"), "use scale="),
    **dict.fromkeys(("window_size", "sliding_window"), "use window=(left, right)"),
    **dict.fromkeys(("logits_soft_cap", "softcapping", "attn_logit_softcapping"), "use softcap="),
    **dict.fromkeys(("sinks", "s_aux", "attention_sinks"), _SINK),
    **dict.fromkeys(("cu_seqlens", "cu_seqlens_q", "cu_seqlens_k", "max_seqlen", "max_seqlen_q", "seqlens"), _PACKED),
    **dict.fromkeys(("use_cache", "past_key_value", "past_key_values", "layer_past", "kv_cache"), _CACHE),
}
CALLS = BOTH | {
    **dict.fromkeys(("attn_mask", "src_mask"),
                    "use mask=mha.masks.from_torch(attn_mask) for a bool one, bias=attn_mask for one of floats"),
    "average_attn_weights": "the weights of every head come back: weights.mean(-3) is their average",
    **dict.fromkeys(("training", "deterministic"), "layer.train() and layer.eval() switch dropout on and off"),
    **dict.fromkeys(("dropout", "dropout_p"), "build the layer with dropout="),
    **dict.fromkeys(("num_kv_heads", "num_key_value_heads", "enable_gqa"), "build the layer with num_kv_heads="),
    **dict.fromkeys(("is_causal", "causal", "use_causal_mask"), _CAUSAL),
    **dict.fromkeys(("query", "key", "value", "q", "k", "v", "inputs", "hidden_states", "encoder_hidden_states",
                     "key_value_states", "memory", "x_kv"), _TOKENS),
    **dict.fromkeys(_POSITIONS, _ROPE),
    "need_lse": _LSE,
}


def function_style(more: tuple, unknown: dict) -> None:
    """Arguments of torch's function that `attention` has under other names, or not at all."""
    if more:
        raise TypeError(f"only q, k and v go by position, got {3 + len(more)} values; give the others by name: mask=, "
                        f"bias=, causal=, ...")
    for name in unknown:
        raise TypeError(f"attention has no {name}=; {FUNCTION.get(name, 'help(mha.attention) lists its own')}")


FUNCTION = BOTH | {
    **dict.fromkeys(("query", "key", "value"), "the tensors go by position: attention(q, k, v)"),
    **dict.fromkeys(("attn_mask", "src_mask"),
                    "use mask=attn_mask for a bool one (True = may attend), bias=attn_mask for one of floats"),
    "is_causal": "use causal=True",
    "dropout_p": "use dropout=",
    **dict.fromkeys(("training", "deterministic"), "give dropout= while you train, and else leave it out"),
    **dict.fromkeys(("enable_gqa", "num_kv_heads", "num_key_value_heads"),
                    "heads share keys wherever k and v have fewer heads than q"),
    **dict.fromkeys(_POSITIONS, "turn q and k first, mha.position.rope(q, positions)"),
    "head_mask": "multiply the output by it: out * head_mask[..., None, None]",
}
