"""Pruning without any change: units that a domain does not need are taken away, with a proof.

A unit that keeps one piece on the domain is constant or affine there; constant ones move into the next layer's bias,
affine ones are joined. Units that nothing reads, and units that are multiples of others, go on any domain. The network
that is left computes the same function on the domain, up to the rounding of the sums that this takes, which is bounded.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from torch import nn

from reluscope import markup
from reluscope.analyses.compression.layer_chain import Layer, layers_of
from reluscope.analyses.compression.layers_to_module import last_module, to_sequential
from reluscope.analyses.compression.pieces_on_domain import Method, UnitPieces, unit_pieces
from reluscope.analyses.compression.removals import (
    Removal,
    fold,
    merge_always_on,
    merge_duplicates,
    remove_constant,
    remove_unused,
)
from reluscope.analyses.compression.rounded_sums import times_sizes
from reluscope.arguments import read_arguments, refuse_jumps
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.models.load import load
from reluscope.networks.network import Network
from reluscope.networks.passes.rounding import ANY_ORDER


@dataclass(frozen=True, eq=False)
class PrunedNetwork:
    """A smaller network, with the proof that it is the same function on a domain.

    Parameters
    ----------
    module : nn.Sequential
        In float64; takes ``(s, *input_shape)``.
    network : Network
        The loaded module.
    removed : tuple of Removal
        Removed channels, with reasons.
    max_difference : Finding
        Largest difference of any output on the domain: EXACT 0, or an UPPER bound on the effect of rounding the
        weights.
    widths_before, widths_after : tuples of int
        Units of dense layers and channels of convolutions, gate by gate. Layers multiplied into the next have 0.
    num_parameters_before, num_parameters_after : int
    domain, method : str
        Domain on which the functions are equal, and the proof of the behaviour of units there.
    """

    module: nn.Sequential
    network: Network
    removed: tuple[Removal, ...]
    max_difference: Finding
    widths_before: tuple[int, ...]
    widths_after: tuple[int, ...]
    num_parameters_before: int
    num_parameters_after: int
    domain: str
    method: str

    def __repr__(self) -> str:
        return (
            f"PrunedNetwork({sum(self.widths_before):,} -> {sum(self.widths_after):,} units and channels, "
            f"{self.num_parameters_before:,} -> {self.num_parameters_after:,} parameters, on {self.domain})"
        )

    def counts(self) -> dict[str, int]:
        """Return how many channels were removed for every reason."""
        reasons = [one.reason for one in self.removed]
        return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}

    def to_table(self):
        """Return one row per removed channel: gate, channel, reason, explanation.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        names = ("gate", "channel", "reason", "explanation")
        return pa.table({name: [getattr(one, name) for one in self.removed] for name in names})

    def _repr_html_(self) -> str:
        """Return the result for a notebook: what is left, the difference, and what went by reason."""
        widths = zip(self.widths_before, self.widths_after, strict=True)
        entries: list[tuple[str, object]] = [
            ("units and channels by gate", ", ".join(f"{before} → {after}" for before, after in widths)),
            ("parameters", f"{self.num_parameters_before:,} → {self.num_parameters_after:,}"),
            *((f"removed: {reason}", number) for reason, number in self.counts().items()),
            ("domain", self.domain),
            ("proved by", self.method),
        ]
        return markup.figure("Pruned network", self.max_difference._repr_html_(), markup.terms(entries))


@read_arguments
def prune_exact(
    model: Network | nn.Module,
    *,
    domain: Domain,
    input_shape: int | tuple[int, ...] | None = None,
    method: Method = "auto",
) -> PrunedNetwork:
    """Return a network without the units that are not needed on a domain; its function there is unchanged.

    Parameters
    ----------
    model : Network or nn.Module
        A chain of dense layers and convolutions, with batch norms, pointwise gates and max pooling.
    domain : Box, Polyhedron, Space or Slice
        Of flattened inputs: ``rs.Box(0, 1, dim=784)``. A smaller domain removes more units.
    input_shape : int or tuple of int, optional
        For modules that do not define it.
    method : {"auto", "intervals", "programs", "partition"}
        Proof of the behaviour of units: see `unit_pieces`. Intervals cost nothing. Linear programs prove more for
        deep networks. The exact partition proves everything, in few dimensions.

    Returns
    -------
    PrunedNetwork
        ``max_difference`` is EXACT 0 if no sum of weights had to be rounded, else an UPPER bound, in real
        arithmetic.

    Raises
    ------
    UnsupportedOperatorError
        If the network is not such a chain.
    ShapeError, InputError
        If the domain does not fit, or the method does not apply to it.

    Notes
    -----
    Removed are *dead* units, other *constant* units, *unused* units, and *duplicates* (multiples of one another).
    In dense layers also units that are *always on*, if they outnumber the units of the next layer or the whole
    layer is affine, and *dependent* units, combinations of others that are always on. At least one channel of every
    layer remains, unless the layer is multiplied into the next. Of convolutions, only whole channels are removed.

    Decisions hold in real arithmetic. A unit is dead if its interval, widened by rounding, proves it, or the
    multipliers of a linear program do, with rounding and independently of the solver's status.

    Examples
    --------
    >>> import reluscope as rs
    >>> layers = [([[1.0], [2.0], [1.0], [-1.0]], [0.0, 0.0, 3.0, -2.0]), ([[1.0, 1.0, 1.0, 1.0]], [0.0])]
    >>> pruned = rs.compression.prune_exact(rs.load(layers), domain=rs.Box(-1, 1, dim=1))
    >>> pruned.widths_before, pruned.widths_after, pruned.max_difference
    ((4,), (2,), Finding(largest difference: 0 (EXACT)))
    >>> [(one.channel, one.reason, one.explanation) for one in pruned.removed]
    [(3, 'dead', 'never above 0 on the domain'), (1, 'duplicate', 'channel 0 times 2')]
    """
    network = model if isinstance(model, Network) else load(model, input_shape)
    refuse_jumps("prune_exact", network)
    layers = layers_of(network)
    found = unit_pieces(network, domain=domain, method=method)
    _set_sizes(layers, found)
    before, parameters = _widths(layers), _num_parameters(layers)
    gates = [layer.gate.index for layer in layers if layer.gate is not None]
    pieces = {layer.gate.index: _channel_pieces(layer, found) for layer in layers if layer.gate is not None}
    removed = _prune(layers, pieces)
    after = _widths(layers)
    module = to_sequential(layers, network.input_shape, network.output_shape)
    if network.left_off is not None:
        module.append(last_module(network.left_off))
    return PrunedNetwork(
        module,
        load(module, network.input_shape),
        tuple(removed),
        _difference(layers, domain.describe(), found.method),
        tuple(before[gate] for gate in gates),
        tuple(after.get(gate, 0) for gate in gates),
        parameters,
        _num_parameters(layers),
        domain.describe(),
        found.method,
    )


def _prune(layers: list[Layer], pieces: dict[int, tuple[np.ndarray, np.ndarray]]) -> list[Removal]:
    """Change the layers in place, and return what was removed."""

    def own(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
        assert layer.gate is not None
        low, high = pieces[layer.gate.index]
        return low[layer.origin], high[layer.origin]

    removed: list[Removal] = []
    pairs = list(pairwise(layers))
    for layer, following in pairs:
        removed += remove_constant(layer, following, own(layer))
    for layer, following in reversed(pairs):
        removed += remove_unused(layer, following)
    position = 0
    while position + 1 < len(layers):
        layer, following = layers[position : position + 2]
        removed += merge_duplicates(layer, following)
        folded = fold(layer, following, own(layer))
        if folded is not None:
            removed += folded
            del layers[position]
            if position + 1 < len(layers):  # products may be rows of zeros
                removed += remove_constant(layers[position], layers[position + 1], own(layers[position]))
            continue
        removed += merge_always_on(layer, following, own(layer))
        position += 1
    for layer, following in reversed(list(pairwise(layers))):
        removed += [one for one in remove_unused(layer, following) if one.channel >= 0]
    return removed


def _set_sizes(layers: list[Layer], found: UnitPieces) -> None:
    """Bound the entries of every layer's input, channel by channel."""
    if found.corners is None or found.ranges is None:
        return
    largest = np.maximum(*map(np.abs, found.corners))
    layers[0].input_sizes = largest.reshape(layers[0].weight.shape[1], -1).max(axis=1)
    for layer, following in pairwise(layers):
        gate = layer.gate
        assert gate is not None
        span = found.ranges[gate.index]
        low, high = (end.reshape(layer.num_channels, -1) for end in (span.lower, span.upper))
        points = [low, high, *(np.clip(level[:, None], low, high) for level in gate.breakpoints)]
        values = [np.abs(_through(gate.slopes, gate.intercepts, gate.breakpoints, point)) for point in points]
        following.input_sizes = np.max(values, axis=(0, 2)) * (1 + ANY_ORDER)


def _through(slopes: np.ndarray, intercepts: np.ndarray, breakpoints: np.ndarray, value: np.ndarray) -> np.ndarray:
    piece = (value[None] > breakpoints[:, :, None]).sum(axis=0)
    channel = np.arange(len(value))[:, None]
    return slopes[piece, channel] * value + intercepts[piece, channel]


def _channel_pieces(layer: Layer, found: UnitPieces) -> tuple[np.ndarray, np.ndarray]:
    assert layer.gate is not None
    low, high = (table[layer.gate.index].reshape(layer.num_channels, -1) for table in (found.least, found.largest))
    return low.min(axis=1), high.max(axis=1)


def _widths(layers: list[Layer]) -> dict[int, int]:
    return {layer.gate.index: layer.num_channels for layer in layers if layer.gate is not None}


def _num_parameters(layers: list[Layer]) -> int:
    return sum(layer.weight.size + layer.bias.size for layer in layers)


def _difference(layers: list[Layer], domain: str, method: str) -> Finding:
    """Return how far the errors of the layers can move the outputs, layer by layer."""
    error = np.zeros(layers[0].weight.shape[1])
    for layer in layers:
        moved = times_sizes(np.abs(layer.weight), error)
        error = (layer.row_error + moved) * (1 + 2.0**-20)
        if layer.gate is not None:
            error = error * layer.gate.steepest
    largest = float(error.max())
    return Finding.of(
        largest,
        0.0,
        largest,
        name="largest difference",
        definition="largest difference of an output of the two networks on the domain, in real arithmetic",
        domain=domain,
        method=f"units by {method}; sums of weights as fractions, what rounding takes away bounded layer by layer",
    )
