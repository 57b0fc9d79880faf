"""What stories15M (`mha.lab.stories`) writes when something is changed on its way: heads off, keys or values of another
text in its cache, a window (`heads_that_write.npz`).
"""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

WRITING = FOLDER / "heads_that_write.npz"
HEADS = tuple((layer, head) for layer in range(6) for head in range(6))
MEASURED_OFF = ("zero", "mean", "resample")         # what stands in the place of a head's output
SWAPS = ("nothing", "all keys and values", "all keys", "all values", "values of 5.1", "keys of 5.1",
         "all values but those of 5.1", "all keys, of a thing", "keys of 5.1, of a thing", "values of 5.1, of a thing",
         "all keys, of a small word", "keys of 5.1, of a small word")
WAYS = ("network", "queries and network", "all and network", "queries alone")       # who reads 4.4 (`name_ways`)
WINDOWS = (64, 32, 16, 8, 4)                        # how many tokens each sees, itself among them
TELLERS = ("whole, opening 0", "5.1 zero, opening 0", "1.2 zero, opening 0", "1.2 mean, opening 0",
           "4.4 zero, opening 0", "5.1 mean, opening 0", "4.4 mean, opening 0", "whole, opening 1",
           "5.1 zero, opening 1", "1.2 zero, opening 1", "1.2 mean, opening 1", "whole, drawn opening 0",
           "5.1 zero, drawn opening 0", "1.2 zero, drawn opening 0", "4.4 zero, drawn opening 0", "whole, opening 2",
           "1.2 zero, opening 2", "1.2 mean, opening 2", "whole, opening 3", "1.2 zero, opening 3",
           "1.2 mean, opening 3")                   # head off, how, and how the story begins


@dataclass(frozen=True)
class Writing:
    """Probabilities of the next token after openings that differ in a word (`mha.lab.openings`), in float16.

    45 names, three openings; the heads are those of HEADS, by layer and then by head.
    """
    name_whole: Tensor
    """(3, 45), of the own name, by the model as it is."""
    name_off: Tensor
    """(MEASURED_OFF, 3, 36, 45), with one head off."""
    name_first: Tensor
    """(2, 3, 45), 1 where the own name is the likeliest token: whole, and with 5.1 off."""
    name_shuffled: Tensor
    """(2, 3, 45), the same two of the own name when the opening's words are shuffled, all but the last three tokens."""
    name_looks: Tensor
    """(3, 36), the mean weight of the last token on the name's places."""
    name_path: Tensor
    """(3, PATHS_KEPT, 45), of the name, with head 4.4 kept from what layer 5 reads, or off (`decoders.PATHS_KEPT`)."""
    name_ways: Tensor
    """(3, WAYS, 45), of the name, with 4.4 kept from network 4; from it and the queries of layer 5; from it and all
    that layer 5 reads; and with 4.4 read by the queries of layer 5 and by nothing else."""
    rename: Tensor
    """(3, SWAPS, 2, 45), of the own name and of the other after an exchange at the name's places in the cache."""
    rename_one: Tensor
    """(3, 36, 45), of the other name after its values in one head alone have been put there."""
    rename_thing: Tensor
    """(3, 45), of the thing whose values 5.1 has been given."""
    rename_told: Tensor
    """(3, 3, 2, 45), how often own and other name stand in the next 40 tokens: after nothing, after the values of 5.1,
    after all keys and values."""
    rename_roles: Tensor
    """(2, 2, 45), in the first opening, of the hero's name and of the friend's, Max: with the friend's keys in 5.1 at
    the hero's places, and with the two exchanged (`tools.make_roles`)."""
    pronoun_whole: Tensor
    """(45,), the share of the right one of "she" and "he"."""
    pronoun_off: Tensor
    """(2, 36, 45), with one head off, by zero and by its mean."""
    number_whole: Tensor
    """(2, 2 k), the share of the right one of "was" and "were", for k nouns alone and then with an s; two openings."""
    number_off: Tensor
    """(2, 2, 36, 2 k), with one head off: zero and mean, openings, heads."""
    number_both: Tensor
    """(2, 2, 2 k), with 4.4 and 5.3 off: zero and mean, openings."""
    number_unseen: Tensor
    """(2, 2 k), with the noun hidden from the last token."""
    told: Tensor
    """(TELLERS, 3, 50), of the 48 tokens that follow an opening: 1 where the hero is named, the share of runs of four
    tokens that came before, and the share of pronouns that fit (NaN where there are none)."""
    told_off: Tensor
    """(36, 3, 30), the same of opening 0 with one head off, by zero."""
    reach: Tensor
    """(7, 32), mean losses of stories: whole, each of WINDOWS, and with the first token hidden from all others."""
    reach_names: Tensor
    """(7, names), the same of each name that came before in its story."""
    first_left_out: Tensor
    """(2, 32), the mean loss behind the tenth token, whole and when the story is read without its first token."""
    first_weight: Tensor
    """(6, 6), the mean weight on the first token, after the eighth."""


@cache
def writing():
    """What stories15M writes when something is changed: Writing.

    Read once and then shared by all who ask, so change none of its tensors in place.
    """
    return Writing(**arrays(WRITING))
