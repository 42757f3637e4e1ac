"""Points from the uniform distribution on a bounded polyhedron, by coordinate hit-and-run with rounding.

From a point inside a chain goes along one axis at a time, to a uniform point of the chord. Axes are those of the
ellipsoid ``x' A' S^-2 A x <= 1`` at the analytic centre, in which long thin bodies are about as long as they are thin;
a step costs one number per row. After Haraldsdóttir et al., "CHRR: coordinate hit-and-run with rounding for uniform
sampling of constraint-based models", Bioinformatics 33 (11), 2017; Lovász and Vempala, "Hit-and-run from a corner",
SIAM Journal on Computing 35 (4), 2006.
"""

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import solve_triangular

from reluscope import _kernels
from reluscope.geometry.programs.convex_questions import analytic_centers
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.interruption import step_point

# Slacks are summed up along a chain; after so many steps they are computed afresh.
REFRESH = 1000


def sample_chains(
    body: HalfSpaceStack,
    start: Float[np.ndarray, " n"],
    *,
    chains: int,
    draws: int,
    thinning: int,
    burn_in: int,
    seed: int,
) -> Float[np.ndarray, "c d n"]:
    """Return points of independent chains in a bounded body, nearly uniform after enough steps.

    The start has to be strictly inside. Points of one chain depend on one another and on what is left of the start. A
    step costs h numbers; 8 n^2 steps are usual between two points.
    """
    origin = torch.as_tensor(start[None], dtype=body.rows.dtype, device=body.rows.device)
    center = analytic_centers(body, origin).points[0]
    slacks = body.slacks(torch.as_tensor(center[None], device=origin.device))
    weights = torch.where(body.exists, 1.0 / slacks, 0.0).square()
    matrix = body.gram(weights)[0].cpu().numpy()
    factor = np.linalg.cholesky(np.tril(matrix) + np.tril(matrix, -1).T)
    # Points are center + axes z; a column of speeds says how fast slacks shrink along one axis.
    axes = solve_triangular(factor, np.eye(body.dim), lower=True).T
    exists = body.exists[0].cpu().numpy()
    speeds = np.concatenate([body.rows[0].cpu().numpy() @ axes, -axes, axes])[exists]
    room = slacks[0].cpu().numpy()[exists]
    # One copy with the rows of each axis next to each other.
    columns = np.ascontiguousarray(speeds.T)
    found = np.empty((chains, draws, body.dim))
    for chain, generator in enumerate(np.random.default_rng(seed).spawn(chains)):
        walk = Walk(columns, room, generator)
        for draw in range(draws):
            walk.go(thinning if draw else burn_in)
            found[chain, draw] = walk.place
    return center + found @ axes.T


class Walk:
    """A chain of random points from the origin, in coordinates of the axes.

    ``columns`` says how fast slacks shrink along each axis, ``room`` holds the slacks at the origin; they are computed
    afresh every ``refresh`` steps. Ctrl-C takes effect between two calls of a kernel.
    """

    def __init__(
        self, columns: np.ndarray, room: np.ndarray, generator: np.random.Generator, refresh: int = REFRESH
    ) -> None:
        self.columns, self.room, self.generator, self.refresh = columns, room, generator, refresh
        self.place, self.slack = np.zeros(len(columns)), room.copy()
        self.since = 0

    def go(self, steps: int) -> None:
        """Make so many steps."""
        bits = self.generator.bit_generator.capsule
        while steps:
            step_point()
            done = _kernels.walk(self.columns, self.place, self.slack, min(steps, self.refresh - self.since), bits)
            steps -= done
            self.since += done
            if self.since == self.refresh:
                _kernels.refresh(self.columns, self.room, self.place, self.slack)
                self.since = 0
