"""A tiny network as an explicit table: half-spaces and the affine map on them, row by row, in Python and in LaTeX.

This is equation 5.25 of Sattelberg, 2026, whose worked example (5.11 to 5.14 and 5.21, 5.22) contradicts itself: with
the printed biases (1, 0) the values at the four points of XOR are -1, 0, 0, -2, and the printed pieces do not meet. The
pieces 1 - s, 1 + s and -1 with s = x1 + x2 belong to the biases (2, 0), on s >= 0, -2 <= s <= 0 and s <= -2, with
values -1, 1, 1, -1; the code 01 would need s >= 0 and s <= -2, so its region is empty, and its linear
term would be -1 - 2 s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.tropical.printed_pieces import affine, affine_latex, conditions, conditions_latex
from reluscope.analyses.tropical.rational_function import read_points
from reluscope.analyses.tropical.rational_regions import MAX_CELLS, ExactCell, exact_cells
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.shown import Shown


@dataclass(frozen=True, repr=False)
class Pieces(Shown):
    """A piecewise affine function as a table, in rational numbers.

    Parameters
    ----------
    cells : tuple of ExactCell
        One row per region: code, half-spaces ``a . x + c >= 0``, outputs.
    domain : str
        Where, in words.
    """

    cells: tuple[ExactCell, ...]
    domain: str

    @property
    def num_inputs(self) -> int:
        """Number of variables: of the domain's coordinates, if it is a slice."""
        return len(self.cells[0].outputs[0]) - 1

    @property
    def num_outputs(self) -> int:
        """Number of outputs m."""
        return len(self.cells[0].outputs)

    def __len__(self) -> int:
        return len(self.cells)

    @read_arguments
    def at(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the outputs at a point of n fractions, exactly.

        Raises
        ------
        InputError
            If the point lies outside of the domain.
        """
        if len(point) != self.num_inputs:
            raise ShapeError(f"points must have {self.num_inputs} coordinates, got {len(point)}")
        place = (*point, Fraction(1))
        for cell in self.cells:
            if all(_dot(row, place) >= 0 for row in cell.half_spaces):
                return tuple(Fraction(_dot(function, place)) for function in cell.outputs)
        raise InputError(f"expected a point of the {self.domain}, got {tuple(map(str, point))}: it lies outside")

    @read_arguments
    def __call__(self, x: ArrayLike) -> Float[np.ndarray, "s m"]:
        """Return the outputs at points (s, n), or at one point, in float64, of the region that each is deepest in."""
        points = np.pad(read_points(x, self.num_inputs), ((0, 0), (0, 1)), constant_values=1.0)
        depth = np.full((len(points), len(self)), np.inf)
        for index, cell in enumerate(self.cells):
            rows = np.array(cell.half_spaces, dtype=float).reshape(-1, points.shape[1])
            rows /= np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
            depth[:, index] = (points @ rows.T).min(axis=1, initial=np.inf)
        maps = np.array([[list(map(float, one)) for one in cell.outputs] for cell in self.cells])
        return np.einsum("smn,sn->sm", maps[depth.argmax(axis=1)], points)

    @read_arguments
    def to_python(self, name: str = "network") -> str:
        """Return the table as source code of a Python function, exact at fractions.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])])
        >>> print(pieces(net).to_python("xor"))
        def xor(x1, x2):
            if x1 + x2 >= 0:  # 11
                return -x1 - x2 + 1
            if -2 <= x1 + x2 <= 0:  # 10
                return x1 + x2 + 1
            if x1 + x2 <= -2:  # 00
                return -1
            raise ValueError("outside of the domain, all of R^2")
        """
        variables = ", ".join(f"x{axis}" for axis in range(1, self.num_inputs + 1))
        lines = [f"def {name}({variables}):"]
        for cell in self.cells:
            outputs = ", ".join(map(affine, cell.outputs))
            holds = " and ".join(conditions(cell.half_spaces)) or "True"
            lines += [f"    if {holds}:  # {_code(cell)}", f"        return {outputs}"]
        lines.append(f'    raise ValueError("outside of the domain, {self.domain}")')
        if any("Fraction(" in line for line in lines):
            lines = ["from fractions import Fraction", "", "", *lines]
        return "\n".join(lines)

    @read_arguments
    def to_latex(self, name: str = "v") -> str:
        r"""Return the table as cases in LaTeX: map, half-spaces, code.

        Examples
        --------
        >>> import reluscope as rs
        >>> print(pieces(rs.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])).to_latex("f"))
        f(x) = \begin{cases}
        x_{1}, & x_{1} \ge 0 & (1) \\
        0, & x_{1} \le 0 & (0)
        \end{cases}
        """
        rows = []
        for cell in self.cells:
            outputs = ", ".join(map(affine_latex, cell.outputs))
            value = outputs if self.num_outputs == 1 else rf"\left({outputs}\right)"
            holds = r",\; ".join(conditions_latex(cell.half_spaces)) or r"\text{everywhere}"
            rows.append(f"{value}, & {holds} & ({_code(cell)})")
        return f"{name}(x) = \\begin{{cases}}\n" + " \\\\\n".join(rows) + "\n\\end{cases}"


@read_arguments
def pieces(network: Network, domain: Domain | None = None, *, most: Count = MAX_CELLS) -> Pieces:
    """Return a tiny network as an explicit table of its regions.

    Parameters
    ----------
    network : Network
        At most 64 units, any gates, few inputs.
    domain : Space, Box, Polyhedron or Slice, optional
        All of space by default. On a slice the variables are its coordinates.
    most : int
        Largest number of regions.

    Returns
    -------
    Pieces
        One row per full-dimensional activation region, in rational arithmetic throughout: no region is missing, and
        none is superfluous. Regions with more active units come first.

    Raises
    ------
    BudgetExceededError
        If there are more regions.
    InputError
        If there are more units.

    Notes
    -----
    Some 1 to 10 ms per region with up to 30 units and three inputs.

    References
    ----------
    Sattelberg 2026, section 5.2; the module documents the errors in that section.

    Examples
    --------
    >>> import reluscope as rs
    >>> table = rs.tropical.pieces(rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]))
    >>> len(table), table([[-2.0], [3.0]]).ravel()
    (2, array([2., 3.]))
    """
    where = f"all of R^{network.num_inputs}" if domain is None else domain.describe()
    return Pieces(tuple(exact_cells(network, domain, most=most)), where)


def _code(cell: ExactCell) -> str:
    # Pieces above 9 need a separator.
    apart = "," if any(piece > 9 for gate in cell.code for piece in gate) else ""
    return " | ".join(apart.join(map(str, gate)) for gate in cell.code)


def _dot(row: Sequence[int] | Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    return sum((entry * coordinate for entry, coordinate in zip(row, point, strict=True)), Fraction(0))
