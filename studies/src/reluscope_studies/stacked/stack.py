"""Dense networks of one depth side by side: of every layer one tensor (networks, out, in), and batched products.

A network that is narrower than the others, or has lost units, is padded by units without weights. They output zero and
nothing reads them, so that their gradients are zero too: training leaves them as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from reluscope.arguments import describe, read_arguments, read_array, read_position, read_positions
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import Shown

Layers = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False, repr=False)
class Stack(Shown):
    """k dense networks with ReLU or leaky ReLU between their layers.

    Parameters
    ----------
    weights : tuple of (k, out, in) tensors
        One per layer, of one precision, on one device.
    biases : tuple of (k, out) tensors
    kept : tuple of (k, units) bool tensors
        One per hidden layer: which units a network has; parameters of others are zero.
    leak : float
        Slope of the units where they are inactive, in [0, 1); 0 is ReLU.

    Examples
    --------
    >>> from reluscope_studies.stacked import initialize
    >>> stack = initialize((3,), num_inputs=2, seeds=[0, 1, 2, 3])
    >>> len(stack), stack.sizes, stack([[0.0, 1.0], [1.0, 0.0]]).shape
    (4, (2, 3, 1), torch.Size([4, 2, 1]))
    """

    weights: tuple[Float[Tensor, "k _ _"], ...]
    biases: tuple[Float[Tensor, "k _"], ...]
    kept: tuple[Bool[Tensor, "k _"], ...]
    leak: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.leak < 1:
            raise InputError(f"expected a leak in [0, 1), got {self.leak}: 0 is ReLU, 1 would be affine")

    def __len__(self) -> int:
        return len(self.weights[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, units of the hidden layers, outputs."""
        return (self.weights[0].shape[2], *(weight.shape[1] for weight in self.weights))

    @property
    def dtype(self) -> torch.dtype:
        """Precision of parameters and outputs."""
        return self.weights[0].dtype

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.weights[0].device

    @read_arguments
    @torch.no_grad()
    def __call__(self, x: ArrayLike | Tensor) -> Float[Tensor, "k s m"]:
        """Return the outputs of all networks at points (s, n)."""
        return self._outputs(self.read_points(x))

    def _outputs(self, points: Float[Tensor, "s n"]) -> Float[Tensor, "k s m"]:
        """Return the outputs at points that have been read."""
        value = points.T.expand(len(self), -1, -1)
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            value = torch.baddbmm(bias[:, :, None], weight, value)
            if layer + 1 < len(self.weights):
                value = leaky_relu(value, self.leak)
        return value.transpose(1, 2)

    def _read_numbers(self, values: ArrayLike | Tensor, name: str) -> Tensor:
        """Return finite real numbers in the precision of the parameters and where these are."""
        if not isinstance(values, Tensor):
            values = torch.from_numpy(np.array(read_array(values, name)))
        if values.is_complex() or not bool(torch.isfinite(values).all()):
            raise InputError(f"{name} must be finite real numbers, got others among them: remove or repair them")
        return values.to(dtype=self.dtype, device=self.device)

    @read_arguments
    def read_points(self, x: ArrayLike | Tensor) -> Float[Tensor, "s n"]:
        """Return points in the precision of the parameters and where these are.

        Raises
        ------
        ShapeError
            If they are no rows of as many numbers as there are inputs.
        """
        points = self._read_numbers(x, "x")
        if points.ndim != 2 or points.shape[1] != self.sizes[0] or not len(points):
            raise ShapeError(f"expected points of shape (s, {self.sizes[0]}), at least one, got {tuple(points.shape)}")
        return points

    @read_arguments
    def take(self, rows: Sequence[int] | Tensor | slice) -> "Stack":
        """Return some of the networks, in the order given; one may be taken several times."""
        chosen = torch.from_numpy(read_positions(rows, "rows", len(self), "networks")).to(self.device)
        weights, biases, kept = (tuple(one[chosen] for one in part) for part in (self.weights, self.biases, self.kept))
        return replace(self, weights=weights, biases=biases, kept=kept)

    @read_arguments
    def keep(self, layer: int, units: ArrayLike | Tensor) -> "Stack":
        """Return the networks without some units of one hidden layer.

        Parameters
        ----------
        layer : int
            Number of the hidden layer, from 0.
        units : (k, u) or (u,) bool
            Which units stay; one row per network, or one for all.

        Raises
        ------
        ShapeError
            If there is no such layer, or the units are not those of the layer.

        Examples
        --------
        >>> from reluscope_studies.stacked import initialize
        >>> stack = initialize((3,), num_inputs=2, seeds=[0, 1])
        >>> [weight.shape for weight, bias in stack.keep(0, [[True, True, False], [True, False, False]]).layers(1)]
        [(1, 2), (1, 1)]
        """
        if not 0 <= layer < len(self.kept):
            raise ShapeError(f"expected one of the {len(self.kept)} hidden layers, counted from 0, got {layer}")
        chosen = self._read_numbers(units, "units")
        if not bool(((chosen == 0) | (chosen == 1)).all()):
            raise InputError(f"units must be true or false, got {describe(units)}")
        stay = chosen.to(torch.bool)
        if stay.shape not in (self.kept[layer].shape, self.kept[layer].shape[1:]):
            raise ShapeError(f"expected units of shape {tuple(self.kept[layer].shape)}, got {tuple(stay.shape)}")
        stay = stay & self.kept[layer]
        weights, biases, kept = (list(part) for part in (self.weights, self.biases, self.kept))
        kept[layer] = stay
        weights[layer] = weights[layer] * stay[:, :, None]
        biases[layer] = biases[layer] * stay
        weights[layer + 1] = weights[layer + 1] * stay[:, None, :]
        return replace(self, weights=tuple(weights), biases=tuple(biases), kept=tuple(kept))

    def compact(self) -> "Stack":
        """Return the same networks with no more padding than their widest layers need; units keep their order.

        Examples
        --------
        >>> from reluscope_studies.stacked import initialize
        >>> initialize((5,), num_inputs=2, seeds=[0]).keep(0, [0, 1, 1, 0, 1]).compact().sizes
        (2, 3, 1)
        """
        weights, biases, kept = (list(part) for part in (self.weights, self.biases, self.kept))
        for layer, stay in enumerate(self.kept):
            most = max(1, int(stay.sum(dim=1).max()))
            first = (~stay).to(torch.int8).argsort(dim=1, stable=True)[:, :most]
            rows = first[:, :, None].expand(-1, -1, weights[layer].shape[2])
            columns = first[:, None, :].expand(-1, weights[layer + 1].shape[1], -1)
            weights[layer] = weights[layer].gather(1, rows)
            weights[layer + 1] = weights[layer + 1].gather(2, columns)
            biases[layer], kept[layer] = biases[layer].gather(1, first), stay.gather(1, first)
        return replace(self, weights=tuple(weights), biases=tuple(biases), kept=tuple(kept))

    @read_arguments
    def layers(self, index: int) -> Layers:
        """Return one network as [(W, b), ...] of arrays, without units that it does not have."""
        index = read_position(index, "index", len(self), "networks")
        every = [torch.ones(size, dtype=torch.bool) for size in (self.sizes[0], self.sizes[-1])]
        present = [every[0], *(units[index].cpu() for units in self.kept), every[1]]
        return [
            (weight[index].cpu()[units][:, reads].numpy(), bias[index].cpu()[units].numpy())
            for weight, bias, (reads, units) in zip(self.weights, self.biases, pairwise(present), strict=True)
        ]

    @read_arguments
    def module(self, index: int) -> nn.Sequential:
        """Return one network as a module of linear layers and ReLU or leaky ReLU, in the precision of the stack.

        Examples
        --------
        >>> import reluscope as rs
        >>> from reluscope_studies import stacked
        >>> stack = stacked.initialize((3, 3), num_inputs=2, seeds=[0, 1], leak=0.1)
        >>> rs.load(stack.module(1)).num_units
        6
        """
        index = read_position(index, "index", len(self), "networks")
        parts: list[nn.Module] = []
        for weight, bias in self.layers(index):
            linear = nn.Linear(*reversed(weight.shape), dtype=self.dtype)
            linear.load_state_dict({"weight": torch.from_numpy(weight), "bias": torch.from_numpy(bias)})
            parts += [linear, nn.LeakyReLU(self.leak) if self.leak else nn.ReLU()]
        return nn.Sequential(*parts[:-1])
