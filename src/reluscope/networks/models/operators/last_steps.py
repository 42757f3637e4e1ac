"""What may be left off before a model's output, by the names of ATen and ONNX, and how to find it.

A softmax is the last step; an increasing function of each entry may be followed by steps that only move entries, such
as ``squeeze``, with which it commutes.
"""

from collections.abc import Callable
from typing import TypeVar

_N = TypeVar("_N")

SOFTMAX = {
    **dict.fromkeys(("softmax", "_softmax", "Softmax"), "softmax"),
    **dict.fromkeys(("log_softmax", "_log_softmax", "LogSoftmax"), "log_softmax"),
}
INCREASING = {"Sigmoid": "sigmoid", "Softplus": "softplus", "Tanh": "tanh"}
INCREASING |= {name: name for name in ("sigmoid", "log_sigmoid", "softplus", "tanh")}
_PASSING = {"_to_copy", "to", "clone", "contiguous", "alias", "detach", "Identity", "Cast", "Dropout"}
_MOVING = {"view", "_unsafe_view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "select"}
_MOVING |= {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"}


def before_moves(
    end: _N | None, name_of: Callable[[_N], str], source_of: Callable[[_N], _N | None]
) -> tuple[_N | None, bool]:
    """Return the last node that computes, None if there is none, and whether entries are moved behind it."""
    moved = False
    while end is not None and (name := name_of(end)) in _PASSING | _MOVING:
        moved |= name in _MOVING
        end = source_of(end)
    return end, moved
