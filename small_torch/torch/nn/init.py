"""How parameters begin: as in torch.nn.init, with torch's own random numbers."""

import math

from torch._base import OPS
from torch._gradient import Mode


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with Mode(False):
        return OPS["uniform_"](tensor, a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with Mode(False):
        return OPS["normal_"](tensor, mean, std, generator=generator)


def zeros_(tensor):
    with Mode(False):
        return OPS["zero_"](tensor)


def constant_(tensor, val):
    with Mode(False):
        return OPS["fill_"](tensor, val)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_out, fan_in = tensor.shape
    bound = gain * math.sqrt(2.0 / float(fan_in + fan_out)) * math.sqrt(3.0)
    return uniform_(tensor, -bound, bound, generator)
