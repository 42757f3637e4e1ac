"""A box that stands for an unbounded domain: one whose interior meets every face of a complex.

Faces of a complex are convex, and each has a minimal one on its boundary. Inside a box whose interior meets all minimal
faces, faces meet as they do outside: closed sets of faces have the same homotopy type there, and faces that are not on
the boundary of the box are those of the whole complex, with the same boundaries. Any larger box gives the same.

Cells are found cone by cone. A minimal face has a vertex of these cells: itself, or where it meets
their walls.
"""

from dataclasses import dataclass

import numpy as np

from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.cells.cellwise import supports, walk_cells
from reluscope.stopping import Stop

# Beyond this, rounding of what lies at the corners of a box hides everything else.
MAX_SIZE = 1e100


@dataclass(frozen=True, eq=False)
class FarBox:
    """A bounded part of an unbounded domain."""

    window: Box | Polyhedron  # its interior meets every face of the domain's complex
    words: np.ndarray  # (c, w) packed codes of all cells, each once
    num_undecided: int
    stop: Stop | None  # why cells are missing, if they are


def far_box(network: Network, domain: Space | Polyhedron, effort: Effort) -> FarBox:
    """Return a box for an unbounded domain whose interior meets every face of its complex.

    Raises InputError if the network has max gates, or vertices too far away for floats.
    """
    if missing := supports(network):
        raise InputError(f"all faces of unbounded domains are not found with {missing}: give a Box instead")
    walked = walk_cells(network, domain, effort)
    words = [np.zeros((0, network.layout.num_words), dtype=np.uint64), *(patch.words for patch in walked.parts)]
    size = max((_size(patch.corners) for patch in walked.parts), default=0.0)
    if not size < MAX_SIZE:
        raise InputError(f"the vertices of {domain.describe()} are too far away for floats: give a Box instead")
    # Twice what has to be in its interior.
    half = 2.0 ** np.ceil(np.log2(2 * size)) if size else 1.0
    box = Box(-half, half, domain.dim)
    window = box
    if isinstance(domain, Polyhedron):
        around = box.polyhedron
        window = Polyhedron(np.concatenate([domain.A, around.A]), np.concatenate([domain.b, around.b]))
    stopped = walked.stop if walked.left else None
    return FarBox(window, np.unique(np.concatenate(words), axis=0), walked.num_undecided, stopped)


def _size(vertices: np.ndarray) -> float:
    """Return the largest coordinate of vertices that are no directions."""
    points = vertices[vertices[:, -1] > 0]
    with np.errstate(over="ignore"):
        return float(np.abs(points[:, :-1] / points[:, -1:]).max(initial=0.0))
