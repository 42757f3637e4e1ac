"""`find_faces`: all faces of the regions of a domain, cut further by functions of the outputs if asked for."""

import time
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import torch

from reluscope.budget import Budget
from reluscope.codes.layout import CodeLayout
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.cutting.face_lattices import from_polytope
from reluscope.geometry.polyhedra.domains import Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.networks.network import Network
from reluscope.partitions.cells.far_boxes import far_box
from reluscope.partitions.complexes.chunks import EPSILON, Resolution
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.incidence import num_left, walk_chunks
from reluscope.partitions.complexes.level_gate import with_last_gate
from reluscope.partitions.driver.joined_parts import joined_parts
from reluscope.partitions.faces.face_patches import FacePatch
from reluscope.partitions.faces.faces import Faces, assemble_faces

# Functions of the outputs: weights (u, m) and shifts (u,).
Heights = tuple[torch.Tensor, torch.Tensor]
# Faces multiply with the dimension.
MAX_DIMENSIONS = 4


def find_faces(
    network: Network,
    domain: Domain,
    heights: Heights | None = None,
    *,
    effort: Effort,
) -> Faces:
    """Find all faces of the regions of a network.

    For an unbounded domain, those in a box that shows all of them (`far_boxes`), whose boundary belongs to their
    border. Raises InputError above four dimensions, and for unbounded domains of networks with max gates.
    """
    began = time.time()
    window = domain.window if isinstance(domain, Slice) else domain
    if window.dim > MAX_DIMENSIONS:
        raise InputError(
            f"all faces are found on domains of at most {MAX_DIMENSIONS} dimensions, got {domain.describe()}: "
            "give a Slice of few directions"
        )
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    asked = inner if heights is None else with_last_gate(inner, *heights)
    far = None
    if isinstance(window, Space) or (isinstance(window, Polyhedron) and not window.is_bounded()):
        far = far_box(asked, window, effort)
        window, effort = far.window, effort.within(_left(effort.budget, began))
    if far is not None and far.stop:
        nothing = assemble_faces([], window.dim, inner.layout.num_words, 0, 0.0)
        return replace(nothing, num_open=1, stop=far.stop)
    shape = window_shape(window)
    corners, dim, num_words = shape.corners, window.dim, inner.layout.num_words
    resolution = Resolution.of(effort.tolerance, float(np.linalg.norm(np.ptp(corners.points, axis=0))))
    layout = None if heights is None else CodeLayout((asked.layout.gates[-1],))
    with effort.counting("faces") as counted:
        walked = walk_chunks(
            asked,
            from_polytope(shape.incidence),
            corners,
            asked.points(corners.points),
            resolution,
            finish=partial(FacePatch.of, layout=layout),
            effort=counted,
            exact_signs=ExactSigns(asked, [window]),
            has_names=True,
        )
    length = 16 * max(resolution.length, EPSILON * float(np.abs(corners.points).max()))
    num_heights = 0 if heights is None else len(heights[0])
    faces, walked = joined_parts(
        walked, lambda parts: assemble_faces(parts, dim, num_words, num_heights, length), attrgetter("roots")
    )
    num_open = int(num_left(walked, 1)[0])
    num_undecided = walked.num_undecided + (0 if num_open else faces.num_undecided)
    if far is not None:
        # In the box there are the cells of the whole domain, and no others.
        num_undecided += far.num_undecided + abs(len(far.words) - _num_codes(faces))
    return replace(faces, num_undecided=num_undecided, num_open=num_open, stop=walked.stop if num_open else None)


def _num_codes(faces: Faces) -> int:
    """Return how many codes cells have, with the functions of the outputs."""
    if not faces.heights.shape[1]:
        return len(np.unique(faces.words, axis=0))
    positive = [~faces.among(height <= 0)[-1] for height in faces.heights.T]
    return len(np.unique(np.column_stack([faces.words, *positive]), axis=0))


def _left(budget: Budget, began: float) -> Budget:
    """Return the budget after some time."""
    if budget.seconds is None:
        return budget
    return replace(budget, seconds=max(0.0, budget.seconds - (time.time() - began)))
