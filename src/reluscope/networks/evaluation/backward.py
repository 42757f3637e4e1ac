"""Vector-Jacobian products: combinations of gradients, carried backward from values to the input."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.numbers import Numbers

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph


class Recording:
    """An evaluation whose values remember how they come from the input.

    The carrier `HeldNumbers` gives the derivatives of the affine map on given pieces.
    """

    def __init__(self, network: "NetworkGraph", points: Float[Tensor, "s ..."], carrier: Numbers) -> None:
        self.start = points.detach().clone().requires_grad_()
        self._network, self._carrier = network, carrier

    def values(self) -> Iterator[Tensor]:
        """Yield what arrives at every gate, and last the output; see `carry`."""
        walk = carry(self._network, self._carrier, self.start)
        for _ in range(len(self._network.stages) + 1):
            with torch.enable_grad():
                value = next(walk)
            yield value

    def pull_back(
        self, value: Tensor, cotangents: Float[Tensor, "k ..."], *, is_last: bool = True
    ) -> Float[Tensor, "k s n"]:
        """Return the gradients of ``sum(cotangent * value)`` by the points, for each of some cotangents.

        ``value`` is one of `values`, or computed from them with gradients enabled. With ``is_last`` the recorded values
        may be given up. Several cotangents at once take more memory.
        """
        number, device = len(cotangents), self.start.device
        if not value.requires_grad:
            return torch.zeros(number, len(self.start), self.start[0].numel(), dtype=torch.float64, device=device)
        if number == 1:
            # Of a sum: PyTorch imports all of SymPy, more than a second, where it is given cotangents.
            with torch.enable_grad():
                total = (value * cotangents[0]).sum()
            (gradient,) = torch.autograd.grad(total, self.start, retain_graph=not is_last, materialize_grads=True)
        else:
            (gradient,) = torch.autograd.grad(
                value,
                self.start,
                cotangents,
                retain_graph=not is_last,
                is_grads_batched=True,
                materialize_grads=True,
            )
        return gradient.reshape(number, len(self.start), -1)
