"""A network on its way out of PyTorch, with what it is to be checked against."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from reluscope.networks.network import Network


@dataclass(frozen=True, eq=False)
class TorchSource:
    """A network on its way out of PyTorch, together with what it is to be checked against.

    Parameters
    ----------
    network : Network
        With its trace.
    reference : callable
        The source model in float64, on one batch.
    batch : int or None
        The batch that the reference insists on, None if any will do.
    tail : callable
        What the model does after the network's output, such as a softmax.
    logits : callable, optional
        The traced operators up to that softmax, which would hide differences.
    trace_batch : int, optional
        The batch that the traced operators insist on.
    """

    network: Network
    reference: Callable[[Tensor], Tensor]
    batch: int | None
    tail: Callable[[Tensor], Tensor] | None = None
    logits: Callable[[Tensor], Tensor] | None = None
    trace_batch: int | None = None
