"""Small trainings for the chapters: many independent runs in one process.

`loop` holds what all of them share, `single` the trainings of one head, or of heads that are added up, `layers` those
of whole layers with their W_O, `positions` those of layers that find tokens by where they stand, `sharing` those of
layers whose heads share keys and values, and `pairs` those of layers that recall what they have read; `words` has one
that guesses the next word.
"""
from mha.lab.train.layers import TARGETS, fit_heads, fit_layers, fit_output, prune_heads
from mha.lab.train.loop import fit, normal, small_steps, xavier
from mha.lab.train.pairs import RECALLERS, answer_by_hand, draw_pairs, fit_pairs, unit_for_each_name
from mha.lab.train.positions import POSITIONS, TASKS, fit_positions
from mha.lab.train.sharing import SHARING_TASKS, fit_sharing, slices_floor
from mha.lab.train.single import (
    CARRIERS, LOOKUP_LOSSES, SCORES, fit_carrier, fit_lookup, fit_pattern, fit_pointers, fit_recall,
)

__all__ = [
    "fit", "small_steps", "normal", "xavier",
    "SCORES", "CARRIERS", "LOOKUP_LOSSES", "fit_lookup", "fit_recall", "fit_pointers", "fit_carrier", "fit_pattern",
    "TARGETS", "fit_heads", "prune_heads", "fit_output", "fit_layers",
    "TASKS", "POSITIONS", "fit_positions",
    "RECALLERS", "fit_pairs", "draw_pairs", "unit_for_each_name", "answer_by_hand",
    "SHARING_TASKS", "fit_sharing", "slices_floor",
]
