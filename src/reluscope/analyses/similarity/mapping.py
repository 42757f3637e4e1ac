"""Linear maps from the coefficient matrices of one network to those of another, by least squares.

For every output, M_j minimises ``|C_1j M_j - C_2j|_F`` (equation 7.4 of [sattelberg2026]_). The mapped network has the
coefficients ``C_1j M_j`` at a sample and the outputs ``(x, 1) . (its row)``. It needs Jacobians of the first network at
every sample, and is not continuous.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.analyses.similarity.least_squares import LinearFit, solve
from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.analyses.similarity.moments import Moments
from reluscope.analyses.similarity.row_spaces import RowSpace, row_space
from reluscope.analyses.similarity.shared_checks import check_networks, common_points
from reluscope.analyses.similarity.streamed_samples import (
    MEMORY,
    coefficient_blocks,
    coefficient_moments,
    output_groups,
)
from reluscope.arguments import NonNegative, read_arguments, read_position
from reluscope.budget import Budget, MemoryBudget
from reluscope.findings import Finding
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientMaps(Shown):
    """The linear maps M_j from the coefficients of one network to those of another.

    The maps define a network that can be evaluated; they are an object, not a table of measurements.

    Parameters
    ----------
    network : Network
        The network that is mapped.
    solutions : tuple of LinearFit
        One per output, in the coordinates of the spaces.
    spaces : (RowSpace, RowSpace)
        Of both networks.
    num_samples : int
        Number of samples in the fit.
    ridge : float
    """

    network: Network
    solutions: tuple[LinearFit, ...]
    spaces: tuple[RowSpace, RowSpace]
    num_samples: int
    ridge: float

    def __len__(self) -> int:
        return len(self.solutions)

    @read_arguments
    def matrix(self, j: int) -> Float[np.ndarray, "c c"]:
        """Return M_j, (n + 1) x (n + 1)."""
        j = read_position(j, "j", len(self), "outputs")
        first, second = self.spaces
        return first.rows(second.rows(self.solutions[j].matrix).T).T

    @read_arguments
    def outputs(self, x: Points, *, budget: MemoryBudget | None = None) -> Float[np.ndarray, "s m"]:
        """Return the outputs of the mapped network at samples; one pass over the network's coefficients."""
        memory = (budget or Budget()).memory_or(MEMORY)
        points = self.network.points(x)
        flat = points.reshape(len(points), -1).cpu().numpy()
        found = np.empty((len(points), len(self)))
        for rows, (values,) in coefficient_blocks([self.network], points, range(len(self)), memory):
            for j in range(len(self)):
                found[rows, j] = mapped_outputs(self.solutions[j], self.spaces, values[j], flat[rows])
        return found

    @property
    def sentence(self) -> str:
        """What a reader has to know of these maps; empty if every one is determined by the samples."""
        size = self.spaces[0].num_inputs + 1
        if self.ridge:
            return ""
        if self.num_samples < size:
            return (
                f"{self.num_samples:,} samples do not determine maps of {size:,} coefficients: these are the ones of "
                f"least norm; give {size:,} samples or more, or a ridge"
            )
        lowest = min(one.rank for one in self.solutions)
        if lowest < size:
            return f"the coefficients span {lowest:,} of {size:,} dimensions: the maps are the ones of least norm"
        return ""

    def residual(self) -> Finding | None:
        """Return the root mean over outputs of ``|C_1 M - C_2|^2 / |C_2|^2`` on the samples that were fitted to.

        None if all coefficients of the second network are zero; outputs of which that is so are left out.
        """
        return _residual([one.residual for one in self.solutions], self.num_samples, self._method)

    def condition(self) -> Finding:
        """Return the largest condition number of the matrices C_1 among all outputs."""
        return Finding.estimate(
            max(one.condition for one in self.solutions),
            name="condition number of the coefficients",
            definition="largest singular value by the smallest that is not zero, the largest among all outputs",
            domain=f"{self.num_samples:,} samples",
            num_samples=self.num_samples,
            method=self._method,
            source="sattelberg2026",
        )

    @property
    def _method(self) -> str:
        return " and ".join(sorted({one.method for one in self.solutions})) + ", float64"


@read_arguments
def coefficient_maps(
    first: Network,
    second: Network,
    x: Points,
    *,
    ridge: NonNegative = 0.0,
    budget: MemoryBudget | None = None,
    progress: Progress = False,
) -> CoefficientMaps:
    """Fit the maps M_j that take the coefficients of one network to those of another.

    Parameters
    ----------
    first, second : Network
        With equal numbers of inputs and of outputs.
    x : (s, *input_shape) or (s, n)
        Samples for the fit.
    ridge : float
        Weight of ``|M_j|_F^2`` beside ``|C_1j M_j - C_2j|_F^2``.
    budget : Budget, optional
        Memory for sums and blocks, 2 GB by default; the maps themselves are extra.
    progress : bool or callable
        Show the progress of passes over the coefficients.

    Returns
    -------
    CoefficientMaps
        Equal to the solutions of `numpy.linalg.lstsq` up to a relative 1e-8, including the minimum norm.

    Raises
    ------
    InputError, ShapeError
        If the networks are incompatible, or coefficients are not finite.
    BudgetExceededError
        If the sums do not fit into memory.

    Notes
    -----
    One pass over the Jacobians of both networks. A second pass, for triangular factors, if there are many columns
    and their normal equations are too ill-conditioned.

    References
    ----------
    .. [sattelberg2026] Section 7.3.1.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> layers = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.zeros(1))]
    >>> one = rs.load(layers)
    >>> twice = rs.load([layers[0], (2 * layers[1][0], np.zeros(1))])
    >>> maps = rs.similarity.coefficient_maps(one, twice, [[-1.0], [2.0], [3.0]])
    >>> maps.outputs([[-1.0], [5.0]]).ravel().round(9)
    array([ 2., 10.])
    """
    check_networks([first, second])
    points = common_points([first, second], x)
    spaces, memory = (row_space(first), row_space(second)), (budget or Budget()).memory_or(MEMORY)
    solutions: list[LinearFit] = []
    for group in output_groups(spaces, first.num_outputs, memory):
        moments, _ = coefficient_moments([first, second], spaces, points, group, memory=memory, progress=progress)
        solutions += [
            found[0, 1]
            for found in solve_pairs(
                [first, second], spaces, points, group, moments, [(0, 1)], ridge=ridge, memory=memory
            )
        ]
    return CoefficientMaps(first, tuple(solutions), spaces, len(points), ridge)


def solve_pairs(
    networks: Sequence[Network],
    spaces: Sequence[RowSpace],
    points,
    outputs: Sequence[int],
    moments: Sequence[Moments],
    pairs: Sequence[tuple[int, int]],
    *,
    ridge: float,
    memory: int,
) -> list[dict[tuple[int, int], LinearFit]]:
    """Return the maps of some pairs for every output, from triangular factors where moments are not accurate enough."""
    columns = networks[0].num_inputs + 1
    found: list[dict[tuple[int, int], LinearFit]] = []
    missing: list[int] = []
    for place, one in enumerate(moments):
        solved = {pair: solve(one, *pair, ridge=ridge, num_columns=columns) for pair in pairs}
        found.append({pair: solution for pair, solution in solved.items() if solution is not None})
        if len(found[-1]) < len(pairs):
            missing.append(place)
    for part in output_groups(spaces, len(missing), memory) if missing else []:
        places = [missing[one] for one in part]
        chosen = [outputs[place] for place in places]
        again, _ = coefficient_moments(networks, spaces, points, chosen, memory=memory, factored=True)
        for place, factored in zip(places, again, strict=True):
            for pair in pairs:
                if pair not in found[place]:
                    solution = solve(factored, *pair, ridge=ridge, num_columns=columns)
                    assert solution is not None
                    found[place][pair] = solution
    return found


def mapped_outputs(
    solution: LinearFit,
    spaces: tuple[RowSpace, RowSpace],
    rows: Float[np.ndarray, "s c"],
    points: Float[np.ndarray, "s n"],
) -> Float[np.ndarray, " s"]:
    """Return one output of the mapped network at points from the rows of the first network's coefficients there."""
    first, second = spaces
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    mapped = first.coordinates(rows) @ solution.matrix
    return np.einsum("sd,sd->s", mapped, second.coordinates(homogeneous))


def _unexplained(moments: Moments, first: int, second: int) -> Finding | None:
    solution = solve(moments, first, second)
    if solution is None:
        return None
    return _residual([solution.residual], moments.num_samples, f"{solution.method}, float64")


def _residual(residuals: Sequence[float], num_samples: int, method: str) -> Finding | None:
    defined = [one for one in residuals if np.isfinite(one)]
    if not defined:
        return None
    return Finding.estimate(
        float(np.sqrt(np.mean(np.square(defined)))),
        name=MAP_RESIDUAL.title,
        definition=MAP_RESIDUAL.definition,
        domain=f"{num_samples:,} samples",
        num_samples=num_samples,
        method=method,
        source=MAP_RESIDUAL.publication,
    )


MAP_RESIDUAL = Metric(
    "map_residual",
    "what a linear map of the coefficients leaves",
    "least |C_1 M - C_2| by |C_2|, on the samples that M was fitted to, root mean square over outputs",
    Source.MOMENTS,
    _unexplained,
    frozenset(
        {
            Invariance.UNIT_PERMUTATION,
            Invariance.UNIT_RESCALING,
            Invariance.SCALING,
            Invariance.ORTHOGONAL,
            Invariance.LINEAR,
        }
    ),
    is_symmetric=False,
    high=1.0,
    publication="sattelberg2026",
)
