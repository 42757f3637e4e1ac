"""`find_faces`: all faces of the regions of a bounded domain, cut further by functions of the outputs if asked for."""

from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from operator import attrgetter

import numpy as np
import torch

from reluscope.budget import Budget
from reluscope.codes.layout import CodeLayout
from reluscope.errors import InputError
from reluscope.geometry.domains import Domain, Slice, Space
from reluscope.geometry.face_lattices import from_polytope
from reluscope.geometry.window_shapes import window_shape
from reluscope.networks.network import Network
from reluscope.partitions.certification import ExactSigns
from reluscope.partitions.chunks import EPSILON, Resolution
from reluscope.partitions.face_patches import FacePatch
from reluscope.partitions.faces import Faces, assemble_faces
from reluscope.partitions.incidence import num_left, walk_chunks
from reluscope.partitions.joined_parts import joined_parts
from reluscope.partitions.level_gate import with_last_gate
from reluscope.partitions.walk import Walked
from reluscope.progress import Progress, counting_regions
from reluscope.tolerance import Tolerance

# Functions of the outputs: weights (u, m) and shifts (u,).
Heights = tuple[torch.Tensor, torch.Tensor]
# Faces multiply with the dimension.
MAX_DIMENSIONS = 4


def find_faces(
    network: Network,
    domain: Domain,
    heights: Heights | None = None,
    *,
    budget: Budget,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance,
) -> tuple[Faces, Walked]:
    """Find all faces of the regions of a network.

    Parameters
    ----------
    network : Network
    domain : Box, Polyhedron or Slice
        Bounded, of one to four dimensions.
    heights : two tensors, optional
        Weights (u, m) and shifts (u,) of functions of the outputs, whose zero sets cut the complex further.
    budget, executor, progress, tolerance
        As of `reluscope.partition`.

    Returns
    -------
    faces : Faces
    walked : Walked
        Its parts are gone.

    Raises
    ------
    InputError
        If the domain is unbounded, or has more dimensions.
    """
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or window.dim > MAX_DIMENSIONS or not window.is_bounded():
        raise InputError(
            f"all faces are found on bounded domains of at most {MAX_DIMENSIONS} dimensions, got {domain.describe()}: "
            "give a Box, or a Slice of few directions"
        )
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    asked = inner if heights is None else with_last_gate(inner, *heights)
    shape = window_shape(window)
    corners, dim, num_words = shape.corners, window.dim, inner.layout.num_words
    resolution = Resolution.of(tolerance, float(np.linalg.norm(np.ptp(corners.points, axis=0))))
    layout = None if heights is None else CodeLayout((asked.layout.gates[-1],))
    with counting_regions("faces", progress) as count:
        walked = walk_chunks(
            asked,
            from_polytope(shape.incidence),
            corners,
            asked.points(corners.points),
            resolution,
            finish=partial(FacePatch.of, layout=layout),
            budget=budget,
            executor=executor,
            progress=count,
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
    return replace(faces, num_undecided=num_undecided, num_open=num_open), replace(walked, parts=[])
