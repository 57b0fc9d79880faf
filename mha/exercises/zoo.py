"""The bug zoo: real bugs of public code, to be named from what they put out.

A specimen's two functions, the buggy one and the sound one, are run on the same input, and the maps of both stand side
by side. To add one, add a Specimen to the list, and what it is made of to specimen.py.
"""
import torch

from mha.exercises.question import Option
from mha.exercises.specimen import (alibi, asked, attend_over_batch, attend_over_heads, CAUSAL, dropped, FOUR, GITHUB,
                                    H, influence, layer, merge_by_view, merge_into_batch, OLD, read_heads, REAL,
                                    repeated_mask, SCORES, Specimen, split_by_view, TOKENS, TWO, weights, WIDE, WORDS)

IN_OUT = ("Two sentences, a and b, of four tokens go through a layer of two heads. The maps show which output (row) "
          "depends on which token (column): light is yes, dark is no.")
ONE_MAP = "The maps show the weights of one head on four tokens, rows = queries."

VIEW = "The heads were cut with view, without a transpose."
MERGE = "The heads were merged with view, without a transpose."

SPECIMENS = [
    Specimen(
        id="B.1", title="Halves that never meet", core=True, buggy=lambda: influence(split_by_view),
        sound=lambda: influence(layer()), rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} No mask. What is wrong?",
        options=(Option("The mask of a sliding window was left in.",
                        "A window moves with the token: where 1 sees 2, 2 sees 3. Here the sentence falls into fixed "
                        "halves.",
                        "window"),
                 Option(VIEW, "Each head holds all columns of half of the tokens."),
                 Option("The heads were cut right, and merged with view.",
                        "In each head every token has met every other by then, so every output would depend on its "
                        "whole sentence.",
                        "merge-by-view"),
                 Option("The softmax runs over the queries.",
                        "Then every output would still depend on every token of its sentence.",
                        "softmax-axis-queries")),
        note="Two heads, four tokens: head 1 gets tokens 1 and 2 with all their columns, head 2 the others, and a view "
             "puts them back in the same way. Shapes, row sums and even a causal mask look right. Reported for three "
             f"click-rate models, whose source was a blog post: {GITHUB}reczoo/FuxiCTR/issues/30 (2022); the same "
             f"line stood in {GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 for two "
             "years."),
    Specimen(
        id="B.2", title="A causal layer that sees ahead", core=True, stars=3, buggy=lambda: influence(merge_by_view),
        sound=lambda: influence(layer(CAUSAL)), rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} The layer has a causal mask, and its weights are right. What is wrong?",
        options=(Option("The diagonal of the mask is off by one.",
                        "Then output 1 would depend on token 2 and output 2 on token 3, and each on itself.",
                        "off-by-one"),
                 Option("The mask was transposed.",
                        "Then outputs would depend on themselves and on later tokens only.", "mask-transposed"),
                 Option(MERGE, "A row of the output then holds two tokens of one head."),
                 Option("The mask was applied after the softmax.",
                        "Then output 1 would depend on all tokens, and so would all others.", "mask-after-softmax")),
        note="Row 1 of the output is made of tokens 1 and 2 of head 1, and row 3 of head 2's. The training test had "
             f"passed, \"probably because the copy task is too easy\": {GITHUB}jsbaan/transformer-from-scratch/pull/6 "
             "(2026)."),
    Specimen(
        id="B.3", title="Sentences that talk to each other", buggy=lambda: influence(merge_into_batch),
        sound=lambda: influence(layer()), rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} No mask. What is wrong?",
        options=(Option("Batch and tokens were exchanged: the layer attends over the batch.",
                        "Then output a1 would depend on a1 and b1 only.", "batch-as-sequence"),
                 Option(VIEW, "Then the sentences would stay apart.", "split-by-view"),
                 Option("The batch was shuffled between two layers.",
                        "Then all outputs of one sentence would depend on the same sentence.", "shuffled"),
                 Option("The heads stand before the batch, and the merge by view mistakes one for the other.",
                        "The tensor is (h B, n, d_v), and view makes (B, n, h d_v) of it.")),
        note="With the heads stacked in front, half of the outputs of sentence a come from sentence b. Right for one "
             f"head only. {GITHUB}jadore801120/attention-is-all-you-need-pytorch/issues/7 (2017), mended a day later. "
             "Predictions that change with the rest of the batch are the symptom to test for."),
    Specimen(
        id="B.4", title="Every token for itself", buggy=lambda: influence(attend_over_heads),
        sound=lambda: influence(layer()), rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} No mask. What is wrong?",
        options=(Option("A mask hides everything but the token itself.",
                        "That would give this picture too. But no mask was made.", "diagonal-mask"),
                 Option("The heads attend to each other, inside one token.",
                        "The tensors stand as (b, n, h, d), and the product over the last two axes makes h by h "
                        "scores."),
                 Option("The temperature is so low that each token takes only itself.",
                        "Then a row would be light where its best key stands, and with W_Q and W_K that is the token "
                        "itself by chance, for one in four, and not for all.",
                        "temperature"),
                 Option("The values come from the queries.", "Each output would still mix all values.",
                        "queries-as-values")),
        note="The function expected (b, h, n, d) and got (b, n, h, d): \"totally wrong\", says the report, "
             f"{GITHUB}kyegomez/FlashMHA/issues/1 (2024). No information passes between tokens, and every shape is as "
             "it should be."),
    Specimen(
        id="B.5", title="Neighbours in the batch", buggy=lambda: influence(attend_over_batch),
        sound=lambda: influence(layer()), rows=TOKENS, columns=TOKENS,
        statement=f"{IN_OUT} No mask. What is wrong?",
        options=(Option("Batch and tokens are exchanged: the layer attends over the batch.",
                        "It takes the first axis for the tokens."),
                 Option("The heads were merged into the wrong sentences.",
                        "Then an output would depend on several tokens of a sentence.", "merge-mixes-batch"),
                 Option("The positions were added twice.", "Positions do not say who depends on whom.", "positions"),
                 Option("The heads attend to each other, inside one token.", "Then a1 would depend on a1 only.",
                        "attention-over-heads")),
        note="torch's encoder layers take the tokens first unless batch_first=True. Given (batch, tokens, d) they "
             "attend across the batch; in a batch of one each token sees only itself. "
             f"{GITHUB}IBM/TabFormer/pull/14 (2021)."),
    Specimen(
        id="B.6", title="Rows that do not sum to 1", core=True, buggy=lambda: weights(SCORES, CAUSAL, -2)[None],
        sound=lambda: weights(SCORES, CAUSAL)[None], rows=WORDS, columns=WORDS,
        statement=f"{ONE_MAP} There is a causal mask. The numbers below the picture list what each row sums to. What "
                  "is wrong?",
        options=(Option("The softmax runs over the queries.", "Every column sums to 1, and the rows do not."),
                 Option("The weights were multiplied by the mask after the softmax.",
                        "Then the last row, which nothing is hidden from, would be right.", "mask-after-softmax"),
                 Option("The powers were not divided by their sum.",
                        "Then the numbers in a row would still stand in the right ratios. Compare the last rows.",
                        "no-normalisation"),
                 Option("The mask is transposed.", "The dark half is where it should be.", "mask-transposed")),
        note="\"That's a typo and a big bug!\", said the maintainer of "
             f"{GITHUB}labmlai/annotated_deep_learning_paper_implementations/issues/146 (2022). The one who found it "
             "measured no difference in the quality of the pictures that the model draws: a metric need not notice. "
             "And it leaks: the sum of a column runs over later queries."),
    Specimen(
        id="B.7", title="Two heads that share", stars=3, buggy=lambda: TWO.softmax(1)[0],
        sound=lambda: TWO.softmax(-1)[0], rows=WORDS, columns=WORDS, titles=("head 1", "head 2"),
        statement="The maps show the weights of two heads on four tokens, rows = queries. No mask. What is wrong?",
        options=(Option("The softmax runs over all scores of a head.", "Then a whole map would sum to 1.",
                        "softmax-over-everything"),
                 Option("The two heads got each other's scores.", "Then every row would still sum to 1.",
                        "heads-exchanged"),
                 Option("The softmax runs over the heads.", "For each pair of tokens the two heads' weights sum to 1."),
                 Option("Each score went through a sigmoid.",
                        "That would look alike, but the two maps would not add up to 1 everywhere. (With two heads, "
                        "it is the sigmoid of their difference.)",
                        "sigmoid")),
        note="nn.Softmax() without dim takes axis 1 of a tensor with four axes, and prints a warning. In (B, h, n, n) "
             f"that is the heads. {GITHUB}hyunwoongko/transformer/commit/391c9cd469cd17ce3af26cb10078978e6a44c142 "
             "(2021) mended it."),
    Specimen(
        id="B.8", title="A mask that is too polite", core=True,
        buggy=lambda: SCORES.masked_fill(~CAUSAL, -1e-12).softmax(-1)[None],
        sound=lambda: weights(SCORES, CAUSAL)[None], rows=WORDS, columns=WORDS,
        statement=f"{ONE_MAP} There should be a causal mask. What is wrong? Compare the hidden weights within one row.",
        options=(Option("The mask was not applied at all.",
                        "Then the hidden weights of a row would differ from each other as its scores do.", "no-mask"),
                 Option("The mask was applied after the softmax.", "Then the hidden weights would be 0.",
                        "mask-after-softmax"),
                 Option("The mask came before the softmax and its fill is nearly zero.",
                        "All hidden keys of a row have the same weight: that of a score of 0."),
                 Option("The diagonal is off by one.", "More than one hidden key has a weight.", "off-by-one")),
        note="masked_fill(mask == 0, -e) with e = 1e-12: minus a millionth of a millionth, where minus a lot was "
             f"meant. It stood from 2019 to 2022, {GITHUB}hyunwoongko/transformer/issues/10. The mending of specimen "
             "B.1 in FuxiCTR brought in the same slip, -1e-10, for five months."),
    Specimen(
        id="B.9", title="A mask that does nothing", buggy=lambda: weights(SCORES)[None],
        sound=lambda: weights(SCORES, CAUSAL)[None], rows=WORDS, columns=WORDS,
        statement=f"{ONE_MAP} The code has the line `scores.masked_fill(~causal, -inf)`. What is wrong?",
        options=(Option("The fill is nearly zero.",
                        "Then the hidden weights of one row would be equal.", "fill-nearly-zero"),
                 Option("True and False are exchanged.", "Then the past would be hidden.", "polarity"),
                 Option("The mask has the wrong shape.", "It would raise, or hide something.", "shape"),
                 Option("The result of the line is thrown away.",
                        "masked_fill returns a new tensor; masked_fill_ works in place.")),
        note=f"Found in {GITHUB}opendilab/DI-engine/issues/333 (2022), whose test had used a mask that hides nothing; "
             f"in {GITHUB}facebookresearch/ParlAI/pull/3068 (2020); and in "
             f"{GITHUB}lucidrains/flamingo-pytorch/issues/10 (2022). One underscore, three times."),
    Specimen(
        id="B.10", title="Reading the filling", core=True, buggy=lambda: weights(FOUR[:, 0], ~REAL)[1:],
        sound=lambda: weights(FOUR[:, 0], REAL)[1:], rows=WORDS, columns=("real", "real", "filling", "filling"),
        statement="The maps show the weights of one head on a sentence of two words that was filled up to four "
                  "places. What is wrong?",
        options=(Option("The mask lies on the queries, not on the keys.",
                        "Then rows would be empty or even; here columns are.", "query-mask"),
                 Option("The mask is there, and True and False are exchanged.", "Only the filling is read."),
                 Option("The filling was put in front.", "The columns are named in the order of the tokens.",
                        "left-padding"),
                 Option("The mask was added as 0 and 1.",
                        "Then nothing would be hidden; some scores would only be larger by 1.", "float-mask")),
        note="scaled_dot_product_attention takes True for \"take part\", nn.MultiheadAttention for \"leave out\". "
             f"{GITHUB}InseeFrLab/torchTextClassifiers/pull/92 (2026) and {GITHUB}rasbt/LLMs-from-scratch/issues/1061 "
             "(2026) passed the one for the other. The comment in the code said what the author believed."),
    Specimen(
        id="B.11", title="The neighbour's mask", stars=3, buggy=lambda: repeated_mask(lambda m: m.repeat(H, 1, 1)),
        sound=lambda: repeated_mask(lambda m: m.repeat_interleave(H, 0)), rows=WORDS, columns=WORDS,
        titles=("a, head 1", "a, head 2", "b, head 1", "b, head 2"),
        statement="Sentence a has four words, sentence b has two, filled up to four. The maps show the weights of "
                  "both heads. What is wrong?",
        options=(Option("The second head has no mask.", "In sentence a it has one, and should have none.", "one-head"),
                 Option("The masks are repeated in the wrong order for the heads.",
                        "Batch and heads are one axis, a a b b. The masks come as a b a b."),
                 Option("The lengths of the two sentences are exchanged.",
                        "Then both heads of each sentence would be wrong.", "lengths-exchanged"),
                 Option("The mask is on the queries.", "Columns are hidden, not rows.", "query-mask")),
        note="repeat makes a b a b, repeat_interleave makes a a b b. Some heads use another sentence's mask; with a "
             f"batch of one, or equal lengths, nothing shows. {GITHUB}ArrowLuo/CLIP4Clip/issues/22 (2021), and again "
             f"in {GITHUB}line/lighthouse/pull/77 (2026)."),
    Specimen(
        id="B.12", title="A little too even", stars=3, buggy=lambda: weights(2 * WIDE[0] @ WIDE[1].mT / 512**0.5)[None],
        sound=lambda: weights(2 * WIDE[0] @ WIDE[1].mT / 64**0.5)[None], rows=("1", "2", "3"),
        columns=("1", "2", "3", "4", "5"),
        statement="The maps show the weights of one of eight heads, d_model = 512, three queries on five keys. Rows "
                  "sum to 1, and the order of the keys in each row is right. What is wrong?",
        options=(Option("The scores were divided by the root of d_model.",
                        "It should be the root of d_k = 64. The leads are smaller by the root of 8."),
                 Option("The scores were not divided at all.", "Then the weights would be more decided, not less.",
                        "no-scale"),
                 Option("The softmax was taken twice.",
                        "Then no weight could be more than e times another.", "softmax-twice"),
                 Option("The scores were divided by d_k.",
                        "Then the leads would be smaller by 8, and the rows almost even.", "scale-d_k")),
        hints=("Take one row and compare the logarithms of the ratios of two weights, right and wrong.",),
        note="Nothing in shapes or sums shows it, and with one head it is right. "
             f"{GITHUB}lucidrains/vit-pytorch/issues/65 (2021), where the author says that he still makes rookie "
             f"mistakes after a year of attention; and {GITHUB}karpathy/ng-video-lecture/pull/6 (2023), from where it "
             "was copied."),
    Specimen(
        id="B.13", title="One key takes all", buggy=lambda: weights(WIDE[0] @ WIDE[1].mT * 64**0.5)[None],
        sound=lambda: weights(WIDE[0] @ WIDE[1].mT / 64**0.5)[None], rows=("1", "2", "3"),
        columns=("1", "2", "3", "4", "5"),
        statement="The maps show the weights of a new head, d_k = 64, before any training: three random queries on "
                  "five random keys. What is wrong?",
        options=(Option("The scores were multiplied by the root of d_k, where they should be divided.",
                        "Their spread is then d_k, and the softmax has decided."),
                 Option("The mask hides all keys but one.",
                        "A mask does not look at scores, and row 3 keeps two keys.", "mask"),
                 Option("The argmax was taken.",
                        "Row 3 has two weights that are not 0; an argmax leaves one.", "argmax"),
                 Option("The weights are divided by their largest.", "Then the others would still keep their ratios.",
                        "largest")),
        note=f"scale = dim ** -0.5, and then the scores were divided by it: {GITHUB}esceptico/perceiver-io/issues/9 "
             "(2021). With d_k = 64 the scores of a new model have a spread of 64, where 1 is meant."),
    Specimen(
        id="B.14", title="Only the oldest", core=True, buggy=lambda: weights(OLD, torch.ones(2, 6).tril() > 0)[None],
        sound=lambda: weights(OLD, torch.ones(2, 6).tril(4) > 0)[None], rows=("5", "6"),
        columns=("1", "2", "3", "4", "5", "6"),
        statement="A model writes a text. The keys of tokens 1 to 4 are kept, and tokens 5 and 6 ask. The maps show "
                  "their weights under the causal mask. What is wrong?",
        options=(Option("The cache holds only two tokens.",
                        "All six keys are there; four or five get no weight.", "cache-short"),
                 Option("The mask starts at the top left: query 5 is taken for token 1.",
                        "The first new query sees the first key, the second the first two."),
                 Option("The order of the keys is reversed.",
                        "Then the weights would stand elsewhere; here most are hidden.", "keys-reversed"),
                 Option("The mask is transposed.", "It has two rows and six columns, as it should.",
                        "mask-transposed")),
        note="A causal mask with more keys than queries must end at the bottom right. \"The entire prompt history is "
             f"masked out\", says {GITHUB}hyprstream/hyprstream/pull/1521 (2026); is_causal of "
             "scaled_dot_product_attention starts at the top left by definition, "
             f"{GITHUB}pytorch/pytorch/issues/144858 (2025)."),
    Specimen(
        id="B.15", title="Who reads which", buggy=lambda: read_heads([0, 1, 0, 1]),
        sound=lambda: read_heads([0, 0, 1, 1]), rows=("query head 1", "query head 2", "query head 3", "query head 4"),
        columns=("kv 1", "kv 2"),
        statement="Four query heads share two heads of keys and values: the first two read kv 1, the others kv 2. The "
                  "maps show which kv head each query head reads. What is wrong?",
        options=(Option("The kv heads were tiled, where they should be repeated.",
                        "Tiling gives 1 2 1 2, repeating each gives 1 1 2 2."),
                 Option("The query heads were shuffled by a view.", "They stand in order; what they read does not.",
                        "split-by-view"),
                 Option("Each query head reads its own kv head.", "There are only two.", "no-sharing"),
                 Option("The kv heads are exchanged.", "Then the first two would read kv 2.", "exchanged")),
        note="Right with one kv head, and right with as many as query heads; wrong only in between: "
             f"{GITHUB}ekzhang/jax-js/pull/180 (2026), and the same slip in {GITHUB}apple/axlearn/pull/842 (2024). A "
             "model trained elsewhere then reads the wrong heads."),
    Specimen(
        id="B.16", title="More than everything", buggy=dropped, sound=lambda: weights(SCORES)[None], rows=WORDS,
        columns=WORDS,
        statement=f"{ONE_MAP} They come from a layer in training, which returns its weights. The numbers below list "
                  "what each row sums to. What happened?",
        options=(Option("The softmax runs over the queries.", "Then the columns would sum to 1.",
                        "softmax-axis-queries"),
                 Option("Dropout was applied to the weights before they were returned.",
                        "Some are 0, and all others are larger by the same factor."),
                 Option("A mask hides single pairs.",
                        "With a mask before the softmax the rows would sum to 1.", "mask"),
                 Option("The powers were not divided by their sum.",
                        "Compare the numbers one by one: those that are not 0 differ from the right ones by one "
                        "factor.",
                        "no-normalisation")),
        note=f"{GITHUB}pytorch/pytorch/issues/33360 (2020): the weights that nn.MultiheadAttention returns in training "
             f"have been through dropout. In {GITHUB}kanyun-inc/fairseq-gec/issues/18 (2019) they served as "
             "probabilities above 1, and the loss became negative."),
    Specimen(
        id="B.17", title="The farther the better", buggy=lambda: alibi(+1), sound=lambda: alibi(-1),
        rows=tuple("123456"), columns=tuple("123456"),
        statement="A causal head of six tokens adds a bias to its scores, so that near tokens are preferred. The maps "
                  "show its weights. What is wrong?",
        options=(Option("The bias was added after the softmax.", "Then rows would not sum to 1.", "after-softmax"),
                 Option("The bias was added twice.", "Then near keys would be preferred even more.", "bias-twice"),
                 Option("The bias has the wrong sign.", "Distance is rewarded, where it should cost."),
                 Option("The mask is inverted.", "The dark half is where it should be.", "polarity")),
        note=f"(q_idx - kv_idx) in place of (kv_idx - q_idx): {GITHUB}meta-pytorch/attention-gym/pull/86 (2024). The "
             "bias is ALiBi's."),
    Specimen(
        id="B.18", title="A layer with two paths", core=True, stars=3,
        buggy=lambda: torch.cat([influence(lambda x: asked(x, asks, False)) for asks in (False, True)]),
        sound=lambda: torch.cat([influence(lambda x: asked(x, asks, True)) for asks in (False, True)]), rows=TOKENS,
        columns=TOKENS, titles=("plain", "weights asked for"),
        statement=f"{IN_OUT} The layer is causal. It can be asked to return its weights as well. What is wrong?",
        options=(Option("Returning the weights changes the dropout.", "Dropout does not say who depends on whom.",
                        "dropout"),
                 Option("The weights are averaged over the heads.",
                        "That changes what is returned, not what the output depends on.", "averaged"),
                 Option("The layer forgets its causal mask on the path that returns weights.",
                        "The fast path has the mask built in; the other has to make it, and does not."),
                 Option("The mask is changed in place by the first call.",
                        "Then the second call would be wrong in the same way without weights, too.", "in-place")),
        note="\"In particular, dropout=0 is not safe — a layer with no dropout still leaks the moment it is called "
             f"with return_attention_scores=True\", says {GITHUB}keras-team/keras/issues/23038 (2026), a regression. "
             "The specimen shows that one case. Two more lose the mask there, each by itself: dropout above 0, and "
             "inputs that have not four axes. With dropout, the layer that leaks is the layer that is trained. So "
             "test every path, not only the one you use."),
]
