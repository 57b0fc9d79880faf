"""The questions of chapter 12 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

HERE = "12_fast_heads"
LAB = HERE + "_lab"
HEADS, KV_HEADS, D_K = 48, 8, 128

decode_bytes = Number(
    id="12.3", title="Operations for each byte", chapter=HERE, stars=2, minutes=4, after="section 2", core=True,
    statement=f"A layer decodes one token after a long text: {HEADS} query heads share {KV_HEADS} KV heads of width "
              f"{D_K}, and each number has 2 bytes. A product that is summed counts as two operations. How many "
              "operations does attention do for each byte of the cache that it reads?",
    answer=HEADS / KV_HEADS,
    mistakes=(
        (1, Mistake("one-query-head-each", f"That is MHA. Here {HEADS // KV_HEADS} query heads use each key read.")),
        (HEADS / KV_HEADS / 2, Mistake("operations-halved", "A multiplication and an addition are two operations.")),
        (2 * HEADS / KV_HEADS, Mistake("bytes-halved", "Each number has two bytes. Are keys and values both read?")),
        (KV_HEADS / HEADS, Mistake("turned-over", "That is bytes for each operation.")),
        (HEADS, Mistake("one-kv-head", "That would be MQA, where all query heads share one KV head.")),
        (D_K, Mistake("width", "The width cancels: it counts in the operations and in the bytes.")),
    ),
    hints=("Count for one cached token: numbers read, and products of all query heads with its keys and values.",
           f"Read: 2 times {KV_HEADS} times {D_K} numbers. Products: 2 times {HEADS} times {D_K}."),
    note="So it is h / h_kv with 16 bits: 1 for MHA. An H100 balances near 295, so it waits for memory.",
)

why_fast = Choice(
    id="12.4", title="Why is FlashAttention faster?", chapter=HERE, stars=1, minutes=3, after="section 2", core=True,
    statement="Every query sees every key. On an H100, training with FlashAttention takes less time than with the "
              "plain code. Why?",
    options=(
        Option("It does fewer operations.",
               "It does more: backward makes the scores again, 10 n² d operations instead of 8.", "fewer"),
        Option("It approximates the softmax.",
               "It is exact: tiles are joined by their log-sum-exp, whatever their order.", "approximate"),
        Option("It moves fewer numbers to and from slow memory.",
               "The scores and weights stay in fast memory, one tile at a time."),
        Option("It skips keys with small weights.",
               "Every key is read, and counts.", "skips"),
    ),
    hints=("Both compute every score. What else does the plain code do with each?",),
    note="Under a causal mask it may do fewer operations, too: it can skip tiles that are masked altogether.",
)

N, D, ROWS = 65536, 96, 8

traffic = Number(
    id="12.5", title="Tiles that are too small", chapter=LAB, stars=2, minutes=5, after="section 2",
    statement="The plain code moves 4 n d + 4 n² numbers for one head; with tiles of r queries it is "
              f"2 n d + 2 n² d / r. How many times the plain code's traffic do tiles of {ROWS} queries move, for "
              f"n = {N} and d = {D}? Give it to the nearest whole number.",
    answer=(2 * N * D + 2 * N * N * D / ROWS) / (4 * N * D + 4 * N * N),
    mistakes=(
        (2 * ROWS / D, Mistake("turned-over", "That is the plain code's traffic over that of the tiles.")),
        (D / ROWS, Mistake("four-not-two", "Scores and weights are each written and read: 4 n², not 2 n².")),
        (1, Mistake("break-even", f"They break even at {D // 2} queries.")),
    ),
    hints=("For long texts only the terms with n² count.", f"2 d / r over 4, with d = {D} and r = {ROWS}."),
    note="It is d / 2r: every tile of queries reads all keys and values again.",
)

explain_decode = Explanation(
    id="12.6", title="Explain it: why is decoding slow?", chapter=LAB, stars=2, minutes=5, after="the chapter",
    statement="In an interview: \"Our GPU is idle most of the time when it decodes. Why, and what would help?\" Answer "
              "in a minute, then open the checklist.",
    checklist=("A step reads all parameters and the whole KV cache, and does few operations with each number.",
               "With 16 bits, attention does h / h_kv operations for each byte of its cache: 1 for MHA.",
               "An H100 could do about 295 in the time that it reads a byte, so it waits for memory.",
               "A larger batch uses each parameter more often, but not the cache, since each text has its own.",
               "Fewer KV heads help twice: a step reads fewer bytes, and the cache leaves room for a larger batch.",
               "An absorbed latent with 128 heads reaches about 242, with fewer bytes and more operations than MHA."),
    hints=(), note="Prefill is another matter: there each key that is read meets many queries.",
)

MACHINES, D_MODEL = 8, 4096
VECTOR = 2 * D_MODEL                     # bytes, in bfloat16
SENT = 2 * 2 * (MACHINES - 1) * VECTOR // MACHINES

all_reduce_bytes = Number(
    id="12.8", title="Bytes of an all-reduce", chapter=LAB, stars=2, minutes=6, after="section 5",
    statement="Eight machines split a decoder of 32 blocks, each an attention layer and an MLP, so that every one of "
              f"these {2 * 32} layers ends in a sum over all machines of a vector for each token, {D_MODEL} numbers in "
              "bfloat16. A ring sums it: each machine cuts its vector into as many pieces as there are machines, and "
              f"hands a piece on at each of {2 * (MACHINES - 1)} steps. In the first half of the steps the pieces are "
              "summed, and in the second the sums go to all. How many bytes does a machine send for a token in one "
              "block?",
    answer=SENT,
    mistakes=(
        (2 * MACHINES * VECTOR, Mistake("p-times", f"That is {MACHINES} whole vectors for each sum. A step sends a "
                                                   f"piece, 1/{MACHINES} of a vector.")),
        (2 * (MACHINES - 1) * VECTOR, Mistake("sent-to-all", "That sends the whole vector to every other machine. In "
                                                             "the ring a step sends a piece.")),
        (2 * 2 * VECTOR, Mistake("a-step-too-many", f"Each half has {MACHINES - 1} steps, not {MACHINES}: a machine "
                                                    "begins with pieces of its own.")),
        (SENT / 2, Mistake("half", "Half of it. A block has two sums, and each takes both halves of the steps.")),
        (SENT / 4, Mistake("quarter", "A quarter of it. A block has two sums, and each takes both halves of the "
                                      "steps.")),
        (2 * SENT, Mistake("four-bytes", "Twice too many. A number in bfloat16 has two bytes; four are float32.")),
        (32 * SENT, Mistake("whole-model", "That is for all 32 blocks.")),
        (2 * VECTOR, Mistake("one-way", "That sends each vector once. Which part of it does a machine send, and how "
                                        "often?")),
    ),
    hints=(f"A piece is 1/{MACHINES} of {VECTOR} bytes. How many pieces does a machine send for one sum?",
           f"{2 * (MACHINES - 1)} pieces for each sum, and two sums: one after attention, one after the MLP."),
    note="For P machines a sum costs each 2 (P - 1) / P vectors: 1.75 for 8 machines, and less than 2 for any number.",
)

QUESTIONS = [decode_bytes, why_fast, traffic, explain_decode, all_reduce_bytes]
