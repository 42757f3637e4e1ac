"""One layer of a network, or a pair of arrays, as a layer of affine functions and gates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from jaxtyping import Float

from reluscope.analyses.preimages.layer import GateLayer, LayerLike, Matrix, check_rows, check_sizes
from reluscope.arguments import describe, read_arguments, read_array
from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope.networks.evaluation.choices import read_gate
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.passes.numbers import NUMBERS
from reluscope.networks.passes.stages import Stage

# Matrices with so many entries stay sparse if at most this share of them is not zero.
DENSE_ENTRIES, DENSE_SHARE = 2**20, 0.1


@read_arguments
def read_layer(source: LayerLike, gate: str | int | None = None) -> GateLayer:
    """Return one layer of a network, or the ReLU layer of a matrix and a bias.

    Parameters
    ----------
    source : Network, GateLayer, or pair of arrays
        A pair ``(A, b)`` stands for ``relu(A x + b)``; A may be a scipy sparse matrix.
    gate : str or int, optional
        Name or position of a gate of a network; the first gate by default.

    Returns
    -------
    GateLayer
        From the values that the stage of the gate reads. If there are several values, as behind a shortcut, the
        layer is a function of all of them, concatenated.

    Raises
    ------
    InputError
        If there is no such gate, or the arrays are not finite numbers of fitting shapes, or float64 does not hold
        the squares of their sizes.
    UnsupportedOperatorError
        If it is a max gate: its preimages are unions of polyhedra.

    Notes
    -----
    The matrix is sparse; a convolution costs one evaluation for each entry of its input.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((3, 2)), np.ones(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> rs.preimages.read_layer(net, 1).weight.shape
    (3, 2)
    """
    if gate is not None and not isinstance(source, Network):
        raise InputError(f"gate chooses a layer of a network, got {describe(gate)} for a single layer: leave it out")
    if isinstance(source, GateLayer):
        return source
    if isinstance(source, Network):
        layer = _layer_of_stage(source, source.stages[_position(source, gate)])
    else:
        matrix, bias = _read_pair(source)
        ones = np.ones((1, len(bias)))
        layer = GateLayer(matrix, bias, 0 * ones, np.concatenate([0 * ones, ones]), np.zeros((2, len(bias))))
    check_rows(layer.weight, f"the weights of {layer.name!r}")
    check_sizes(layer.bias, f"the biases of {layer.name!r}")
    return layer


@read_arguments
def layer_inputs(network: Network, x: Points, gate: str | int | None = None) -> Float[np.ndarray, "s n"]:
    """Return the inputs of the layer of a gate when the network is evaluated at some points.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    gate : str or int, optional
        As for `read_layer`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((3, 2)), np.ones(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> rs.preimages.layer_inputs(net, [[1.0, -2.0]], 1)
    array([[1., 0.]])
    """
    target = network.stages[_position(network, gate)]
    with torch.no_grad():
        values = network.start(network.points(x))
        for stage in network.stages[: target.index]:
            pre, live = stage.advance(values)
            values = stage.close(live, pre)
        parts = [values[position].reshape(len(values[position]), -1) for position in target.reads]
    return torch.cat(parts, dim=1).cpu().numpy()


def _position(network: Network, gate: str | int | None) -> int:
    names = [one.name for one in network.gates]
    if not names:
        raise InputError("expected a network with gates, got one that is affine: it has no layer to look at")
    return 0 if gate is None else read_gate(gate, names)


def _layer_of_stage(network: Network, stage: Stage) -> GateLayer:
    gate = stage.gate
    if isinstance(gate, Max):
        raise UnsupportedOperatorError(
            f"expected a pointwise gate, and {gate.name!r} takes a maximum over candidates, whose preimages are unions "
            "of polyhedra: choose another gate, or take the region of one input (rs.region)"
        )
    sizes = {position: network.nodes[position].size for position in stage.reads}
    start = {
        position: {position: scipy.sparse.csr_array(scipy.sparse.eye_array(size, format="csr"))}
        for position, size in sizes.items()
    }
    target, units = stage.leg.carry(_Matrices(), start)[stage.leg.target], gate.num_units
    nothing = {position: scipy.sparse.csr_array((units, size)) for position, size in sizes.items()}
    weight = scipy.sparse.csr_array(scipy.sparse.hstack([target.get(at, nothing[at]) for at in stage.reads]))
    zeros = {
        position: torch.zeros(1, *network.nodes[position].shape, dtype=torch.float64, device=network.device)
        for position in stage.reads
    }
    with torch.no_grad():
        bias = stage.leg.carry(NUMBERS, zeros)[stage.leg.target].reshape(-1).cpu().numpy()
    tables = (
        np.array(np.broadcast_to(table.cpu().numpy(), (len(table), units)))
        for table in (gate.breakpoints, gate.slopes, gate.intercepts)
    )
    reads = tuple(network.nodes[position].name for position in stage.reads)
    return GateLayer(_kept(weight), bias, *tables, name=gate.name, reads=reads)


class _Matrices:
    """Linear parts of the values between two gates: one matrix for each value that a stage reads, by its position."""

    def affine(
        self, node: Affine, inputs: Sequence[dict[int, scipy.sparse.csr_array]]
    ) -> dict[int, scipy.sparse.csr_array]:
        """Return the matrices of the node's value."""
        found: dict[int, scipy.sparse.csr_array] = {}
        for matrix, known in zip(node.matrix(), inputs, strict=True):
            for read, before in known.items():
                product = scipy.sparse.csr_array(matrix @ before)
                found[read] = scipy.sparse.csr_array(found[read] + product) if read in found else product
        return found


def _kept(weight: scipy.sparse.csr_array) -> Matrix:
    """Return a matrix in the form in which it is faster to work with."""
    entries = weight.shape[0] * weight.shape[1]  # pyright: ignore[reportOptionalSubscript]
    if entries > DENSE_ENTRIES and weight.nnz <= DENSE_SHARE * entries:
        weight.sort_indices()
        return weight
    dense = weight.toarray()
    dense.setflags(write=False)
    return dense


def _read_pair(source: tuple[Any, Any]) -> tuple[Matrix, np.ndarray]:
    try:
        matrix, bias = source
    except (TypeError, ValueError) as error:
        raise InputError(f"expected a network, a layer or a pair (A, b), got {type(source).__name__}") from error
    if scipy.sparse.issparse(matrix):
        weight = scipy.sparse.csr_array(matrix, dtype=np.float64)
        if not np.isfinite(weight.data).all():
            raise InputError("A must be finite, got NaN or infinite entries")
        weight = _kept(weight)
    else:
        weight = read_array(matrix, "A", ndim=2)
    offset = read_array(bias, "b", ndim=1)
    if len(offset) != weight.shape[0] or not weight.shape[1]:  # pyright: ignore[reportOptionalSubscript]
        raise ShapeError(f"expected A of shape (u, n) and b of length u, got {weight.shape} and {offset.shape}")
    return weight, offset
