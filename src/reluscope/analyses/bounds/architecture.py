"""Architectures as bounds read them: numbers of inputs and of units in each gate, and the bottlenecks between.

On every region of the earlier gates, what a gate reads is an affine image of the input of some dimension. It is at most
the number of inputs, and at most what passes every bottleneck before the gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from reluscope.arguments import Also, Count, Natural, read_arguments
from reluscope.arguments.annotations import reader_of
from reluscope.errors import InputError
from reluscope.networks.is_network import is_network
from reluscope.shown import Shown

if TYPE_CHECKING:
    from reluscope.networks.network import Network

# Bounds of an architecture are numbers alone: they do not wait for PyTorch, which comes with networks.


@read_arguments
@dataclass(frozen=True)
class LayerSize:
    """Size of one gate, as the bounds use it.

    Parameters
    ----------
    ranks : tuple of (rank, number) pairs
        Number of units for each number of pieces; a ReLU has 2 pieces.
    dimension : int
        Upper bound on the dimension of the input of the gate on one region of the earlier gates.
    is_relu : bool
        Whether every unit has two pieces, of which exactly one is constant.
    """

    ranks: tuple[tuple[int, int], ...]
    dimension: Natural
    is_relu: bool = True

    @property
    def width(self) -> int:
        """Number of units."""
        return sum(number for _, number in self.ranks)


@read_arguments
@dataclass(frozen=True, repr=False)
class Architecture(Shown):
    """Number of inputs and sizes of gates.

    Parameters
    ----------
    num_inputs : int
    layers : tuple of LayerSize
    is_chain : bool
        Whether the only input of every gate is the gate before it.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.bounds.Architecture.of([784, 11, 11]).describe()
    '784 inputs, layers of 11, 11 units'
    """

    num_inputs: Count
    layers: tuple[LayerSize, ...]
    is_chain: bool = True

    @classmethod
    @read_arguments
    def of(cls, source: "Source", *, rank: Count = 2) -> "Architecture":
        """Return the architecture of a network, or of a chain of layers.

        Parameters
        ----------
        source : Architecture, Network or sequence of int
            Integers are the number of inputs, then the widths of the layers of units, without the affine output.
        rank : int
            Pieces of every unit where integers are given: 2 for ReLU, more for maxout.

        Raises
        ------
        InputError
            If a number is not positive, or there is none.
        """
        if isinstance(source, Architecture):
            return source
        if is_network(source):
            from reluscope.analyses.bounds.layers_of_networks import read_layers

            return cls(source.num_inputs, *read_layers(source))
        sizes = [int(size) for size in source]
        if not sizes or min(sizes) < 1 or rank < 2:
            raise InputError(
                f"an architecture is a number of inputs and widths, all positive, of units of 2 or more pieces, got "
                f"{list(source)} with {rank}: give for instance [784, 11, 11]"
            )
        dimension, layers = sizes[0], []
        for width in sizes[1:]:
            layers.append(LayerSize(((rank, width),), dimension, rank == 2))
            dimension = min(dimension, width)
        return cls(sizes[0], tuple(layers))

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of each layer."""
        return tuple(layer.width for layer in self.layers)

    @property
    def is_relu(self) -> bool:
        """Whether all layers are ReLU layers in a chain."""
        return self.is_chain and all(layer.is_relu for layer in self.layers)

    def describe(self) -> str:
        """Return one short phrase."""
        widths = ", ".join(map(str, self.widths)) or "no"
        return f"{self.num_inputs} inputs, layers of {widths} units"


def _read_source(source: Any, name: str) -> Any:
    if is_network(source):
        return source
    reader = reader_of(Architecture | Sequence[int])
    return source if reader is None else reader.read(source, name, {})


if TYPE_CHECKING:
    Source = Architecture | Network | Sequence[int]
else:
    Source = Annotated[Any, Also(_read_source)]
