"""What is stored, not computed: where it comes from, and how each thing in it is called.

Of a trained encoder (`NOTICE.md` names it, its licence and the changes):
    minilm.npz         queries and keys on a few sentences: `trained_qk`
    real_heads.npz     what its 72 heads do on the sentences of `mha.lab.sentences`: `real_heads`
    pruning.npz        what it loses without some of them: `pruning`
    interventions.json what it becomes without [CLS], or one head: `without_cls`, `switched_off`
Of a trained decoder (named there too):
    pooled.npz         what it loses when its heads share keys and values: `pooled`
    told.npz           what it tells as heads go off, or another text lends keys or values: `mha.lab.assets.told`
    heads_that_write.npz   what it writes when heads are off, or its cache is exchanged: `writing`
Of that one and of a second (named there too):
    heads_of_decoders.npz  their induction heads, sinks and rotary positions: `decoder_heads`
Of small models trained for the book:
    lookup.npz         the heads of chapter 2, by scale, width and learning rate: `lookup_runs`
    trained_heads.npz  the layers of chapter 7: `trained_heads`, `trained_samples`
    induction.npz      the language models of chapter 8: `induction_runs`
    paths.npz          those with two layers, twenty of them, and what each head is needed for: `path_runs`
    positions.npz      the layers of chapter 10: `position_runs`
    longer.npz         the same on longer sentences: `longer_runs`; with ALiBi, head by head: `alibi_runs`
    pairs.npz          the layers of chapter 6b, which recall pairs: `pair_runs`
    sharing.npz        the layers of chapter 11, which share keys and values: `shared_runs`
    board.json         what the models of chapter 14 came to, one line for each configuration: `board`
    journeys.npz       the runs behind it: `journey_runs`; and one configuration's heads: `journey_heads`,
                       `journey_model`
    more_seeds.npz     four of these configurations from 32 other seeds: `more_seeds`
Of other libraries:
    conventions.json   what each expects of a mask, of shapes, of grouped heads: `mha.lab.assets.conventions`

What a loader returns is a dataclass, with a line under each field that says what it holds. Each file is made again by
`python -m tools.make_NAME`, all in about two hours on one core; tests make a part of each again, drawn at random.
"""
from mha.lab.assets.decoder import POOLED, Pooled, pooled
from mha.lab.assets.decoders import DECODERS, DecoderHeads, decoder_heads
from mha.lab.assets.encoder import (
    BROWSED, MINILM, REAL_HEADS, UNTRAINED, Agreement, Browsed, Itself, LookedAt, Places, PronounRows, RealHeads,
    Special, Surgery, TokenBefore, TrainedQK, real_heads, trained_qk,
)
from mha.lab.assets.interventions import INTERVENTIONS, switched_off, without_cls
from mha.lab.assets.journeys import (
    BOARD, JOURNEYS, LOOKED_INTO, MODELS, MORE_SEEDS, OTHERS, PLAYED, PLAYED_ON, JourneyRuns, board, journey_heads,
    journey_model, journey_runs, more_seeds,
)
from mha.lab.assets.longer import LONGER_RUNS, AlibiRuns, LongerRuns, alibi_runs, longer_runs
from mha.lab.assets.paths import PATHS, PathRuns, path_runs
from mha.lab.assets.removal import (MEAN_ORDERS, PRUNING, PRUNING_ORDERS, RANDOM_ORDERS, SCALES, Kept, Means, Pruning,
                                    Retrieval, pruning)
from mha.lab.assets.trainings import (
    FIXED_HEADS, FIXED_VALUES, FIXED_WIDTHS, HEADS, INDUCTION, KINDS, LONG_HEADS, LONG_PAIRS, LONG_SHARING, LOOKUP_FILE,
    LOOKUP_POWERS, LOOKUP_RATES, LOOKUP_WIDTHS, PAIRS, PAIRS_FILE, POSITION_RUNS, RELATIONS, SHARING, SHARING_FILE,
    TRAINED_HEADS, InductionRuns, PositionRuns, induction_runs, lookup_runs, pair_runs, position_runs, shared_runs,
    trained_heads, trained_samples,
)
from mha.lab.assets.writing import WRITING, Writing, writing

__all__ = [
    "Agreement", "AlibiRuns", "BOARD", "BROWSED", "Browsed", "DECODERS", "DecoderHeads", "FIXED_HEADS", "FIXED_VALUES",
    "FIXED_WIDTHS", "HEADS", "INDUCTION", "INTERVENTIONS", "InductionRuns", "Itself", "JOURNEYS", "JourneyRuns",
    "KINDS", "Kept", "LONGER_RUNS", "LONG_HEADS", "LONG_PAIRS", "LONG_SHARING", "LOOKED_INTO", "LOOKUP_FILE",
    "LOOKUP_POWERS", "LOOKUP_RATES", "LOOKUP_WIDTHS", "LongerRuns", "LookedAt", "MEAN_ORDERS", "MINILM", "MODELS",
    "MORE_SEEDS", "Means", "OTHERS", "PAIRS", "PAIRS_FILE", "PATHS", "PLAYED", "PLAYED_ON", "POOLED", "POSITION_RUNS",
    "PRUNING", "PRUNING_ORDERS", "PathRuns", "Places", "Pooled", "PositionRuns", "PronounRows", "Pruning",
    "RANDOM_ORDERS", "REAL_HEADS", "RELATIONS", "RealHeads", "Retrieval", "SCALES", "SHARING", "SHARING_FILE",
    "Special", "Surgery", "TRAINED_HEADS", "TokenBefore", "TrainedQK", "UNTRAINED", "WRITING", "Writing", "alibi_runs",
    "board", "decoder_heads", "induction_runs", "journey_heads", "journey_model", "journey_runs", "longer_runs",
    "lookup_runs", "more_seeds", "pair_runs", "path_runs", "pooled", "position_runs", "pruning", "real_heads",
    "shared_runs", "switched_off", "trained_heads", "trained_qk", "trained_samples", "without_cls", "writing",
]
