"""The questions of appendix C."""
from mha.exercises.engine.question import Choice, Number, Option
from mha.exercises.engine.report import Mistake

HERE = "C_conventions"

silent = Choice(
    id="C.1", title="Which calls are wrong in silence?", chapter=HERE, stars=2, minutes=4, after="section 1",
    several=True,
    statement="`mask` is boolean, of five queries and five keys, and causal: True on and below the diagonal. Which of "
              "these calls raise no error, but let a query attend to later keys? Pick all.",
    options=(
        Option("`scaled_dot_product_attention(q, k, v, attn_mask=mask)` of torch",
               "There True means may attend, so this call is right.", "function"),
        Option("`layer(x, x, x, attn_mask=mask)`, a `torch.nn.MultiheadAttention`",
               "There True means masked, so queries see later keys only."),
        Option("`layer(x, x, attention_mask=mask)`, a `keras.layers.MultiHeadAttention`",
               "There True means may attend, so this call is right.", "keras"),
        Option("`eager_attention_forward(layer, q, k, v, mask, scale)` of Hugging Face",
               "It adds the mask to the scores: 1 for a visible key, 0 for a later one, which hides nothing."),
    ),
    hints=("Two of them follow the convention of `mha`.", "What does adding True to a score do?"),
    note="Change the last token: outputs of earlier queries that move have seen it.",
)

TOKENS, THIRD = 5, 3

cast = Number(
    id="C.2", title="Floats where booleans are expected", chapter=HERE, stars=2, minutes=4, after="section 1",
    statement=f"Somebody makes a causal mask of floats for {TOKENS} tokens, 0 where a key may be seen and -1e9 where "
              "not, and passes it to Keras as `attention_mask`, which casts it to booleans. How many keys does the "
              f"query of token {THIRD} see, counted from 1?",
    answer=TOKENS - THIRD,
    mistakes=(
        (THIRD, Mistake("added", "That would be so if Keras added the floats. As a boolean, 0 is False.")),
        (TOKENS, Mistake("all-true", "-1e9 is True as a boolean, but what is 0?")),
        (0, Mistake("all-false", "Only 0 becomes False. What does -1e9 become?")),
        (1, Mistake("one", "Two later keys have -1e9, which is True.")),
    ),
    hints=("What is `bool(0.0)`, and what is `bool(-1e9)`?",),
    note="The mask is inverted: the query sees the two later tokens, and not itself.",
)

HEADS, KV_HEADS, HEAD = 8, 2, 3

tiled = Number(
    id="C.3", title="Whose keys?", chapter=HERE, stars=2, minutes=4, after="section 2",
    statement=f"A layer was trained with {HEADS} query heads and {KV_HEADS} KV heads, interleaved as in `mha`. Its "
              "queries, keys and values are passed to `Attend` of `x-transformers` as they are. Which KV head does "
              f"query head {HEAD} read there? Heads are counted from 0.",
    answer=HEAD % KV_HEADS,
    mistakes=(
        (HEAD * KV_HEADS // HEADS, Mistake("interleaved", "That is the one it was trained with. Attend tiles.")),
        (HEAD, Mistake("own", f"There are only {KV_HEADS} KV heads.")),
        (2, Mistake("from-one", "Count heads from 0.")),
    ),
    hints=("Tiled, eight query heads read 0 1 0 1 0 1 0 1.",),
    note="Query heads 1, 3, 4 and 6 read the other KV head than in training, and nothing says so.",
)

CACHED, NEW = 6, 3

cached = Number(
    id="C.4", title="Three new tokens", chapter=HERE, stars=2, minutes=4, after="section 3",
    statement=f"A cache holds {CACHED} tokens, and {NEW} new ones come together, so {NEW} queries meet "
              f"{CACHED + NEW} keys. The call has `is_causal=True` of torch's function. How many keys does the last "
              "query see?",
    answer=NEW,
    mistakes=(
        (CACHED + NEW, Mistake("lower-right", "It should, but torch's mask starts at the upper left.")),
        (CACHED, Mistake("cache-only", "The mask does not know of the cache, and starts at the upper left.")),
        (1, Mistake("first-query", "The first query sees one key. The last is the third.")),
        (CACHED + 1, Mistake("first-right", "That is what the first query should see.")),
    ),
    hints=("Query i, counted from 1, sees the keys up to the i-th.",),
    note="They are the oldest three of the cache, and none is the query's own token.",
)

QUESTIONS = [silent, cast, tiled, cached]
