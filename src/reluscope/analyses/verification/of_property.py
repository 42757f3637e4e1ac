"""All inputs of a box whose outputs are in some polyhedra, by the search that finds all violations of a property."""

from collections.abc import Sequence

import numpy as np

from reluscope.analyses.boxes.pullback import check_target
from reluscope.analyses.preimages.input_pieces import InputPieces
from reluscope.arguments import read_arguments
from reluscope.budget import RegionBudget
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.network import Network
from reluscope.progress import Progress


@read_arguments
def of_property(
    network: Network,
    target: Polyhedron | Sequence[Polyhedron],
    *,
    domain: Box | Slice,
    budget: RegionBudget | None = None,
    progress: Progress = False,
) -> InputPieces:
    """Return all inputs of a box whose outputs lie in one or several polyhedra, as polyhedra.

    Parameters
    ----------
    network : Network
    target : Polyhedron or sequence of Polyhedron
        In the space of the model's outputs, by half-spaces. Inputs with outputs in several polyhedra are counted
        once.
    domain : Box or Slice
        Of up to about six dimensions; a slice must have a box as its window. Pieces are in domain coordinates.
    budget : Budget, optional
        Number of boxes and linear regions to examine (``regions``), 200,000 by default, or time.
    progress : bool or callable
        Show the decided share of the domain, or the spent share of the budget; a callable receives it, from 0 to 1.

    Returns
    -------
    InputPieces
        Pieces with an interior. If work ended early, or on Ctrl-C, with the undecided boxes.

    Raises
    ------
    ShapeError
        If the dimension of the target or of the domain is wrong.
    InputError
        If a target has equations, or the domain is not a box.

    Notes
    -----
    Boxes are halved until all their outputs are inside, all are outside, or few linear regions are left: the search
    of `reluscope.violations`. If few inputs have such outputs, this costs much less than the partition of
    `of_polytope`, which however also finds flat pieces.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # relu(x_0) + relu(x_1)
    >>> found = rs.preimages.of_property(net, rs.Polyhedron([[1.0]], [1.0]), domain=rs.Box(-1, 1, 2))
    >>> str(found.volume()), found.contains([[0.4, 0.4], [0.6, 0.6]]).tolist()
    ('3.5 (EXACT)', [True, False])
    """
    # They need modules from here.
    from reluscope.analyses.verification.property import Case, Property
    from reluscope.analyses.verification.violations import found_by

    read_domain(domain, network.num_inputs)
    targets = [target] if isinstance(target, Polyhedron) else list(target)
    if not targets:
        raise InputError("target must be a polyhedron of outputs, or some, got none")
    for one in targets:
        check_target(network, one)
        if len(one.C):
            raise InputError(
                f"target must be given by half-spaces alone, got a {one.describe()}: ask preimages.of_polytope"
            )
    window = domain.window if isinstance(domain, Slice) else domain
    if not isinstance(window, Box):
        raise InputError(f"domain must be a box, or a slice by one, got {domain.describe()}: ask preimages.of_polytope")
    function = network.restrict(domain) if isinstance(domain, Slice) else network
    asked = Property([Case(np.array(window.lo), np.array(window.hi), targets)])
    return found_by(InputPieces, function, asked, budget, progress)
