"""A network on its way out of PyTorch, with what it is to be checked against."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class TorchSource:
    """A network loaded from PyTorch, together with what it is to be checked against.

    ``logits`` are the traced operators up to the softmax of ``tail``, which would hide differences.
    """

    network: Network  # with its trace
    reference: Callable[[Tensor], Tensor]  # the source model in float64, on one batch
    batch: int | None  # that the reference insists on, None for any
    tail: Callable[[Tensor], Tensor] | None = None  # what the model does after the network's output
    logits: Callable[[Tensor], Tensor] | None = None
    trace_batch: int | None = None  # the batch that the traced operators insist on
