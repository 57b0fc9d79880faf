"""How parameters begin: as in torch.nn.init, with torch's own random numbers."""

import math

from torch import _core


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with _core.no_grad():
        return _core.uniform_(tensor, a, b, generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with _core.no_grad():
        return _core.normal_(tensor, mean, std, generator)


def zeros_(tensor):
    with _core.no_grad():
        return _core.zero_(tensor)


def constant_(tensor, val):
    with _core.no_grad():
        return _core.fill_(tensor, val)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_out, fan_in = tensor.shape
    bound = gain * math.sqrt(2.0 / float(fan_in + fan_out)) * math.sqrt(3.0)
    return uniform_(tensor, -bound, bound, generator)
