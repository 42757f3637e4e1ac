"""The decision region {f <= 0} of any network of few inputs, as a union of polyhedra: one for every linear region."""

from functools import partial

import numpy as np

from reluscope import Claim, Finding, Network, Partition, Polyhedron, Space, partition
from reluscope.arguments import read_arguments
from reluscope.errors import InputError


@read_arguments
def decision_pieces(network: Network) -> tuple[Polyhedron, ...]:
    """Return the full-dimensional parts of {f <= 0}, one in each region of the network that has any.

    Parameters
    ----------
    network : Network
        Of any depth, with one output f.

    Returns
    -------
    tuple of Polyhedron
        Their interiors are disjoint; they are unbounded where the decision region is. As complete as the partition is:
        all pieces thicker than its resolution.

    Raises
    ------
    InputError
        If the network has several outputs or fewer than 2 inputs.

    Notes
    -----
    Costs the exact partition of all of space, for up to 8 inputs or so, and a largest ball in every region on which f
    has both signs.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope_studies import annulus
    >>> pieces = decision_pieces(rs.load(annulus.cross_polytope_layers(2)))
    >>> len(pieces), round(sum(piece.volume() for piece in pieces), 12)
    (4, 2.0)
    """
    return _pieces(_partition(network))


@read_arguments
def decision_volume(network: Network) -> Finding:
    """Return the volume of {f <= 0}.

    Parameters
    ----------
    network : Network
        As for `decision_pieces`.

    Returns
    -------
    Finding
        Infinite if a piece is unbounded; else EXACT up to its tolerance, or an ESTIMATE if the partition is not exact.

    Raises
    ------
    InputError
        As for `decision_pieces`.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope_studies import annulus
    >>> print(decision_volume(rs.load(annulus.root_polytope_layers(3))))
    3.33333 (EXACT)
    """
    part = _partition(network)
    pieces = _pieces(part)
    is_finite = all(piece.is_bounded() for piece in pieces)
    value = float(sum(piece.volume() for piece in pieces)) if is_finite else np.inf
    # Volumes of polytopes come from float64 vertices; of a partition with gaps nothing is certain.
    error = 1e-9 * value if is_finite else 0.0
    make = partial(Finding.within, value, error)
    make = make if part.claim is Claim.EXACT else partial(Finding.estimate, value)
    return make(
        name="volume of the decision region",
        definition="volume of {f <= 0}",
        domain=f"all of R^{network.num_inputs}",
        method="sum over the linear regions",
        source="sattelberg2026",
    )


def _partition(network: Network) -> Partition:
    if network.num_outputs != 1 or network.num_inputs < 2:
        raise InputError(
            f"expected one output and at least 2 inputs, got {network.num_outputs} and {network.num_inputs}: for "
            "several outputs, see reluscope.decision_boundary"
        )
    return partition(network, Space(network.num_inputs))


def _pieces(part: Partition) -> tuple[Polyhedron, ...]:
    weight, bias = part.maps.weight[:, 0].cpu().numpy(), part.maps.bias[:, 0].cpu().numpy()
    found = []
    for row in range(len(part)):
        polyhedron = part[row].polyhedron
        piece = Polyhedron(np.vstack([polyhedron.A, weight[row]]), np.append(polyhedron.b, -bias[row]))
        if piece.insphere().radius > 0:
            found.append(piece)
    return tuple(found)
