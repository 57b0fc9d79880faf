"""The questions of chapter 11 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

LAYERS, H, H_KV, D_K, N, BYTES = 40, 40, 8, 128, 16384, 2
GIB = 2**30
KEPT = 2 * LAYERS * H_KV * D_K * N * BYTES                                     # keys and values

cache_memory = Number(
    id="11.5", title="The memory of a cache", chapter="11_sharing_heads", stars=1, minutes=5, after="section 1",
    core=True,
    statement=f"A model has {LAYERS} layers, each with {H} query heads and {H_KV} KV heads, d_k = d_v "
              f"= {D_K}. It has read a text of {N} tokens, and stores numbers of 16 bits. How many GiB (1024 times "
              "1024 times 1024 bytes) does its cache take for this one text?",
    answer=KEPT / GIB,
    mistakes=(
        (KEPT / 2 / GIB, Mistake("keys-only", "That is also what keys, or values, come to alone. Both are kept.")),
        (KEPT * H // H_KV / GIB, Mistake("query-heads",
                                         f"That is with {H} KV heads. Queries are not kept, and "
                                         f"{H_KV} heads of keys serve them all.")),
        (KEPT / LAYERS / GIB, Mistake("one-layer", "That is one layer. Each has a cache of its own.")),
        (8 * KEPT / GIB, Mistake("bits-for-bytes", "That is what 16 bytes for a number give; 16 bits are two bytes.")),
        (2 * KEPT / GIB, Mistake("four-bytes", "That is what four bytes for a number give; 16 bits are two.")),
        (KEPT / H_KV / GIB, Mistake("one-head", f"That is also what one KV head gives. "
                                                    f"There are {H_KV}.")),
        (KEPT, Mistake("bytes-not-GiB", "That is in bytes.")),
        (KEPT / 2**20, Mistake("MiB", "That is in MiB. A GiB has 1024 of them.")),
        (KEPT / 1e9, Mistake("GB", "That is in GB, of a thousand million bytes. A GiB is a little more.")),
        (KEPT / N / GIB, Mistake("one-token", f"That is one token. There are {N}.")),
    ),
    hints=("How many numbers does one token add to the cache of one layer?",
           "2 times h_kv times d_k numbers, for each token and each layer, two bytes each."),
    note=f"2 times {H_KV} times {D_K} numbers for each token and layer. It goes for each text that is answered at the "
         f"same time, and with as many KV heads as query heads it would be {H // H_KV} times as much.",
)

D_C, D_R, WIDTH = 512, 64, 128
GROUPED = 2 * H_KV * WIDTH                                                     # what a token adds in a layer

latent_for_groups = Number(
    id="11.6", title="A latent in place of groups", chapter="11_sharing_heads_lab", stars=1, minutes=4,
    after="section 5",
    predicted=True,
    statement=f"A layer has {H} query heads and {H_KV} KV heads, d_k = d_v = {WIDTH}. Somebody "
              f"replaces it by a latent layer with as many heads, d_c = {D_C} and d_r = {D_R}. Which part of the "
              "numbers that a token added to the cache does it add now? (1 means as many as before.) Guess first.",
    answer=(D_C + D_R) / GROUPED, tolerance=0.005,
    mistakes=(
        (GROUPED / (D_C + D_R), Mistake("turned-over", "It is the other way round: the latent layer keeps less.")),
        (D_C / GROUPED, Mistake("rotated-forgotten", f"That is without the {D_R} rotated numbers.")),
        (2 * (D_C + D_R) / GROUPED, Mistake("half-or-twice", "Of a group a key and a value are kept, two vectors of a "
                                                             "token; the latent is kept once, for both.")),
        ((2 * D_C + D_R) / GROUPED, Mistake("latent-twice", "The latent is kept once. Keys and values are both made "
                                                            "from it.")),
        ((D_C + H * D_R) / GROUPED, Mistake("rotated-in-each-head", f"The {D_R} rotated numbers are one key that all "
                                                                    "heads share.")),
        ((D_C + D_R) * H_KV / GROUPED, Mistake("groups", f"That is beside one KV head, or with a "
                                                         f"latent for each of {H_KV}. There are {H_KV} such heads, and "
                                                         "one latent.")),
        ((D_C + D_R) * H / GROUPED, Mistake("latent-for-each-head", f"One latent serves all {H} heads.")),
        ((D_C + D_R) / (GROUPED // H_KV * H), Mistake("query-heads", f"That is beside {H} KV heads. "
                                                                     f"There are {H_KV}.")),
    ),
    hints=("What does each of the two keep of one token? A latent serves for keys and for values, and for all heads.",),
    note=f"{D_C + D_R} numbers against {GROUPED}. With two KV heads of this width a grouped "
         f"layer keeps {2 * 2 * WIDTH}, already less than the latent; with one, {2 * WIDTH}.",
)

R, C, SHARED, D_V = 8, 16, 1, 16

one_value_for_eight = Number(
    id="11.7", title="One value head, eight wishes", chapter="11_sharing_heads_lab", stars=2, minutes=6,
    after="section 3",
    statement=f"A token holds {R * C} independent, normally distributed numbers of variance 1, in {R} slices of {C}. "
              f"There are {R} relations, and the k-th wants the k-th slice of the token that it points to. A layer "
              f"of {R} query heads finds every token without an error, by names alone. But all its heads share one "
              f"head of values, d_v = {D_V}, and what is read comes out of these values. Below which mean squared "
              "error (per number) can it not get?",
    answer=1 - SHARED * D_V / (R * C),
    mistakes=(
        (0, Mistake("heads-suffice",
                    "The eight heads look at the right tokens. But what they return are the same 16 numbers of a "
                    "token, whichever head asks.")),
        (SHARED * D_V / (R * C), Mistake("explained-share",
                                         "That is the share that can be explained. The error is what is left.")),
        (1, Mistake("nothing", "The values keep 16 of the 128 numbers of a token. That much can be known.")),
        (1 - 1 / C, Mistake("slices-for-numbers", f"That would be right with {C} slices of {C}, {C * C} numbers. There "
                                                 f"are {R}.")),
        (0.5, Mistake("half", "How many of the 128 numbers of a token can be told from 16?")),
        (R * C - D_V, Mistake("not-a-mean", "That many numbers are not explained. The error is a mean over all.")),
    ),
    hints=("How many numbers does the value of a token keep, and how many different ones are wanted of tokens, over "
           "all relations?",
           "Sixteen mixtures of 128 such numbers explain at most sixteen numbers' worth of variance."),
    note="One slice can be kept whole, or a bit of each: the explained shares of the slices add up to 1, and seven of "
         "eight stay unexplained on average. In general it is 1 - h_kv d_v / (r s). A wider value would help as much "
         "as more value heads. And where all relations want the same slice, nothing is lost.",
)

D, LONG = 256, 2048
WITH = sum(4 * D * D + 2 * i * D for i in range(1, LONG + 1))
WITHOUT = sum(4 * i * D * D + 2 * i * i * D for i in range(1, LONG + 1))

linear_decoding = Choice(
    id="11.8", title="\"With a cache decoding is O(n)\"", chapter="11_sharing_heads_lab", stars=2, minutes=4,
    after="section 1",
    statement="You read: \"With a key-value cache, decoding costs O(n) in the length n of the text.\" What is true of "
              "the attention (scores and weighted means) of a layer that sees all earlier tokens?",
    options=(
        Option("The whole text costs in proportion to n, since each token is projected once.",
               "Projections are O(n) for the whole text. But each new token is scored against all that are kept.",
               "projections-only"),
        Option("The next token costs in proportion to n; all n tokens together to n², where reading everything anew at "
               "each step costs in proportion to n³.",
               "Token i meets i keys, and 1 + 2 + ... + n grows in proportion to n²."),
        Option("The next token costs the same, whatever the length.",
               "Its query meets every key that is kept.", "constant"),
        Option("The next token costs in proportion to n², as without a cache.",
               "Without one, all i tokens ask all i keys again. With one, only the new token asks.", "no-gain"),
        Option("All n tokens together cost in proportion to n³, with a cache as without one.",
               "Each step scores one query against at most n keys. That makes n times n at most.", "cubic"),
    ),
    hints=("How many products of a query and a key are there at step i? Add them up.",),
    note="The sentence is about one token; over n tokens, 1 + 2 + ... + n = n(n + 1)/2. Multiplications of one layer "
         f"with h d_k = d_model = {D}, projections included, for {LONG} tokens one by one: {WITHOUT / WITH:.0f} times "
         "as many without a cache as with one.",
)

NOPE, ROPE, VALUE = 128, 64, 128
EXPANDED, ABSORBED = NOPE + ROPE + VALUE, D_C + D_R + D_C

latent_claims = Choice(
    id="11.9", title="What a latent layer is", chapter="11_sharing_heads_lab", stars=3, minutes=6, after="section 5",
    statement="Five sentences on multi-head latent attention. One of them holds. Which?",
    options=(
        Option("It keeps fewer numbers of a token than any layer whose heads share one key and value.",
               f"DeepSeek-V2 keeps {D_C + D_R} numbers of a token in a layer; one shared head of width {WIDTH} keeps "
               f"{2 * WIDTH}.",
               "smallest"),
        Option("Whatever a grouped layer without biases and rotations computes, a latent layer can compute too, with "
               "the same number of numbers kept, h_kv (d_k + d_v).",
               "Let the latent be the keys and values of the groups side by side; then W_UK and W_UV copy the right "
               "part to each head."),
        Option("It computes approximately what multi-head attention computes, at a lower rank.",
               "It approximates nothing: it is a layer of its own, trained as it is. Its rank is bounded, d_c for the "
               "keys and values of all heads together; so is that of a grouped layer that keeps as many numbers.",
               "approximation"),
        Option("With W_UK and W_UV absorbed it gives other outputs, even in exact arithmetic.",
               "These are the same sums in another order: equal but for rounding, if the scale stays that of the keys "
               "as written.",
               "absorbed-differs"),
        Option("Absorbed it is always cheaper, so prompts should be read that way too.",
               f"With the sizes of DeepSeek-V2 a query and a key of one head cost {EXPANDED} multiplications with "
               f"keys and values made, and {ABSORBED} absorbed. Making them costs once for each token. A long prompt "
               "has many queries to share that; a new token is one.",
               "absorbed-cheaper"),
    ),
    hints=("For each: what is kept, what is computed, and is it equal or nearly so?",
           "Try to write a grouped layer as a latent one: what would c be?"),
    note="Sharing is a latent whose maps W_UK and W_UV only copy; learned maps may do more. The price is paid in "
         "multiplications for each token that is kept.",
)

explain_rotation = Explanation(
    id="11.10", title="Explain it: the rotation in between", chapter="11_sharing_heads_lab", stars=2, minutes=6,
    after="section 5",
    statement="In a latent layer W_UK can be absorbed into the queries, by one matrix that is made in "
              "advance. With rotary positions on these keys it cannot. Explain why, and what DeepSeek-V2 does about "
              "it. Then open the checklist.",
    checklist=("Without a rotation a score is x W_Q W_UK^T c^T. The two matrices in the middle are the same for all "
               "pairs of tokens, so x W_Q W_UK^T is made once and meets every latent.",
               "With a rotation of query and key by their positions a score is x W_Q R W_UK^T c^T, where R turns by "
               "the difference of the two positions.",
               "So the matrix in the middle is another for each distance, a sum of d_k fixed ones with weights that go "
               "with the distance. The new query would need up to d_k products in place of one, with each kept token.",
               "To keep the rotated keys themselves would work, and cost what the latent should save.",
               "DeepSeek-V2 splits the key: one part is made from the latent and never rotated, and a few more numbers "
               "are rotated, kept beside the latent, and shared by all heads.",
               "Both parts give scores, which are added; the scale is that of both widths together."),
    hints=(), note="One rotated key for all heads: that part is multi-query attention. With d_k / 2 different speeds "
                   "the matrices W_Q R W_UK^T of all distances span d_k dimensions where one is needed.",
)

prove_too_narrow = Explanation(
    id="11.11", title="Prove it: two numbers are too narrow for three heads", chapter="11_sharing_heads_lab", stars=3,
    minutes=12, after="section 4",
    statement="Section 4 shows that a shared key of one number cannot serve two heads. Now there are three heads and "
              "a shared key of two numbers, d_k = 2: any two, that depend on the kind of token. Each token has three "
              "properties, each of them yes or no; all eight kinds of tokens occur. Head k should score every token "
              "that has property k above every token that lacks it, with one query of its own. Show that this cannot "
              "be done, and say what would do it. Then open the checklist.",
    checklist=("A score is the query times the key. So the keys that one head scores above a threshold are those on "
               "one side of a straight line in the plane of keys, and between those that have the property and those "
               "that lack it there is room for such a line.",
               "Three heads make three lines. Two kinds of tokens differ in some property, so a line runs between "
               "them: no two kinds lie in the same region.",
               "Three lines cut a plane into at most seven regions: one line makes two; a second is cut once by the "
               "first, so it adds two; a third is cut at most twice, so it adds at most three.",
               "But there are eight kinds. So at least one head must fail.",
               "Nothing was assumed of how the key is computed: it may be any function of the token, linear or not.",
               "A private key of one number for each head does it, and so does one shared key of three, where each "
               "query reads one."),
    hints=("Take one head. Where, in the plane of keys, do the tokens lie that it should score high?",
           "How many regions do three straight lines make?"),
    note="With one number it is the same: two points cut a line into three pieces, and there are four kinds. In "
         "general h heads that may be asked for all combinations need a shared key of h numbers. So sharing costs "
         "width, and can be paid for with width: private keys, if none is rotated, are one shared key of h d_k "
         "numbers.",
)

QUESTIONS = [cache_memory, latent_for_groups, one_value_for_eight, linear_decoding, latent_claims,
             explain_rotation, prove_too_narrow]
