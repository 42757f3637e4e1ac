"""The two best decision regions of n + 1 units around a ball, with weights and in closed form (Sattelberg 2026, 4.1).

One is the regular cross-polytope, ``sum |x_i| <= 1``. The other is the uniform expanded simplex: for the vertices v_0,
..., v_n of a regular simplex around the origin, ``sum relu(v_i x) <= 1``. In coordinates of sum zero its vertices are
``e_i - e_j`` and its facets ``sum_(i in S) x_i <= 1`` for the proper subsets S, at the distance
``sqrt((n + 1) / (k (n + 1 - k)))`` where k is the size of S and vertices are at sqrt(2): the root polytope A_n.

Lengths are square roots of rationals; squares are kept as fractions. Here the outer radius is 1.
"""

import sys
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, factorial, isqrt, ldexp, lgamma, log, pi, sqrt

import numpy as np

from reluscope import Finding
from reluscope.arguments import Count, Natural, Positive, read_arguments
from reluscope.errors import InputError

Layers = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class FacetKind:
    """Facets that symmetries take to each other.

    Parameters
    ----------
    number : int
        How many there are.
    num_vertices : int
        Of each.
    distance_squared : Fraction
        Of their hyperplanes from the origin, where vertices have distance 1.
    """

    number: int
    num_vertices: int
    distance_squared: Fraction


@dataclass(frozen=True)
class Solution:
    """A decision region in closed form, scaled to the outer radius 1.

    Parameters
    ----------
    name : str
    dim : int
    num_vertices : int
    facet_kinds : tuple of FacetKind
        Farthest first.
    volume_squared : Fraction

    Examples
    --------
    >>> found = expanded_simplex(4)
    >>> [(kind.number, kind.num_vertices) for kind in found.facet_kinds], found.num_facets
    ([(10, 4), (20, 6)], 30)
    >>> found.inner_radius.definition, str(found.ratio)
    ('sqrt(5/12)', '1.54919 (EXACT)')
    """

    name: str
    dim: int
    num_vertices: int
    facet_kinds: tuple[FacetKind, ...]
    volume_squared: Fraction

    @property
    def num_facets(self) -> int:
        """Number of facets."""
        return sum(kind.number for kind in self.facet_kinds)

    @property
    def ratio_squared(self) -> Fraction:
        """Square of the outer radius over the inner one."""
        return 1 / min(kind.distance_squared for kind in self.facet_kinds)

    @property
    def inner_radius(self) -> Finding:
        """Distance of the nearest facets (Table 4.1), EXACT."""
        return self._length(1 / self.ratio_squared, "inner radius")

    @property
    def ratio(self) -> Finding:
        """Outer radius over inner radius (equations 4.5 and 4.12), EXACT."""
        return self._length(self.ratio_squared, "outer radius over inner radius")

    @property
    def distances(self) -> tuple[Finding, ...]:
        """Distance of every kind of facets (equation 4.6), EXACT."""
        return tuple(
            self._length(kind.distance_squared, f"distance of {kind.number:,} facets of {kind.num_vertices} vertices")
            for kind in self.facet_kinds
        )

    @property
    def volume(self) -> Finding:
        """Volume, EXACT; an InputError where it is smaller than float64 can hold (`volume_squared` has it)."""
        return self._length(self.volume_squared, "volume")

    @property
    def shell_ratio(self) -> Finding:
        """Volume between the inner and the outer ball over that of the inner ball (4.20), EXACT: ratio^n - 1.

        The dissertation's text has it the other way round, and equation 4.16 leaves out the exponent. An InputError
        where float64 cannot hold it: above dimension 255 for the cross-polytope, 285 for the expanded simplex.
        """
        power, root = self.dim, root_text(self.ratio_squared)
        _check_size(power / 2 * _log(self.ratio_squared), power)
        return Finding.within(
            expm1(power / 2 * _log(self.ratio_squared)),
            1e-12 * power * exp(power / 2 * _log(self.ratio_squared)),
            name=f"shell over ball of the {self.name}",
            definition=f"({root})^{power} - 1",
            domain=f"dimension {self.dim}",
            source="sattelberg2026",
        )

    def _length(self, square: Fraction, name: str) -> Finding:
        value = _root(square)
        if value < sys.float_info.min:
            raise InputError(
                f"expected a {name} of at least {sys.float_info.min:.1e}, the smallest that float64 holds, got "
                f"exp({_log(square) / 2:.1f}) in dimension {self.dim}: its square is kept as a fraction"
            )
        return Finding.within(
            value,
            4 * np.finfo(float).eps * value,
            name=f"{name} of the {self.name}",
            definition=root_text(square),
            domain=f"dimension {self.dim}, outer radius 1",
            source="sattelberg2026",
        )


@read_arguments
def cross_polytope(dim: Count) -> Solution:
    """Return the regular cross-polytope (square, octahedron) in closed form.

    Parameters
    ----------
    dim : int
        At least 2.

    Raises
    ------
    InputError
        If the dimension is below 2.

    Examples
    --------
    >>> cross_polytope(3).num_facets, cross_polytope(3).ratio.definition, cross_polytope(3).volume.value
    (8, 'sqrt(3)', 1.3333333333333333)
    """
    _check(dim)
    facets = FacetKind(2**dim, dim, Fraction(1, dim))
    return Solution("cross-polytope", dim, 2 * dim, (facets,), Fraction(2**dim, factorial(dim)) ** 2)


@read_arguments
def expanded_simplex(dim: Count) -> Solution:
    """Return the uniform expanded simplex (hexagon, cuboctahedron) in closed form.

    Parameters
    ----------
    dim : int
        At least 2.

    Raises
    ------
    InputError
        If the dimension is below 2.

    Notes
    -----
    Table 4.1 of the dissertation prints 0.64 for dimension 4, where sqrt(5/12) is 0.6455. For large dimensions the
    inner radius tends to sqrt(2) times that of the cross-polytope; equation 4.13 has it the other way round.

    Examples
    --------
    >>> expanded_simplex(3).num_facets, expanded_simplex(3).inner_radius.definition
    (14, 'sqrt(1/2)')
    """
    _check(dim)
    size = dim + 1
    kinds = [
        FacetKind(comb(size, k) * (1 if 2 * k == size else 2), k * (size - k), Fraction(size, 2 * k * (size - k)))
        for k in range(1, size // 2 + 1)
    ]
    # Root polytopes of type A_n have the volume sqrt(n + 1) C(2n, n) / n! where vertices are at sqrt(2).
    volume_squared = size * Fraction(comb(2 * dim, dim), factorial(dim)) ** 2 / 2**dim
    return Solution("expanded simplex", dim, dim * size, tuple(kinds), volume_squared)


@read_arguments
def cross_polytope_layers(dim: Count, *, radius: Positive = 1.0) -> Layers:
    """Return n + 1 units whose decision region is the regular cross-polytope.

    Parameters
    ----------
    dim : int
        At least 2.
    radius : float
        Outer radius R.

    Returns
    -------
    [(W, b), (a, c)]
        ``f(x) = 2 sum_i relu(x_i) + relu(R - sum_i x_i) - 2 R``, at most 0 exactly where ``sum_i |x_i| <= R``: if the
        last unit is active, f is ``sum_i |x_i| - R``; if not, both ``sum_i |x_i|`` and f have the sign that they must.

    Raises
    ------
    InputError
        If the dimension is below 2 or the radius not positive.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load(cross_polytope_layers(3))
    >>> net([[0.5, -0.25, 0.25], [0.5, -0.5, 0.25]]).flatten().tolist()
    [0.0, 0.25]
    """
    _check(dim, radius)
    weight = np.vstack([np.eye(dim), -np.ones(dim)])
    bias = np.append(np.zeros(dim), radius)
    return [(weight, bias), (np.append(np.full(dim, 2.0), 1.0)[None], np.array([-2.0 * radius]))]


@read_arguments
def expanded_simplex_layers(dim: Count, *, radius: Positive = 1.0) -> Layers:
    """Return n + 1 units whose decision region is the uniform expanded simplex.

    Parameters
    ----------
    dim : int
        At least 2.
    radius : float
        Outer radius R.

    Returns
    -------
    [(W, b), (a, c)]
        ``f(x) = sum_i relu(v_i x) - R`` with ``v_i v_j = -2 / (n + 1)`` for different i, j and ``2 n / (n + 1)`` for
        equal: the v_i are irrational, and rounded to float64.

    Raises
    ------
    InputError
        If the dimension is below 2 or the radius not positive.

    Notes
    -----
    The vertices of {f <= 0} are ``R (v_i - v_j) / 2``: of the scalar products with all v only those with v_i and v_j
    are not zero, R and -R.

    Examples
    --------
    >>> import reluscope as rs
    >>> (weight, _), _ = layers = expanded_simplex_layers(4)
    >>> vertices = (weight[[0, 1, 2]] - weight[[1, 0, 4]]) / 2
    >>> bool((rs.load(layers)(vertices).abs() < 1e-15).all()), np.linalg.norm(vertices, axis=1).round(12).tolist()
    (True, [1.0, 1.0, 1.0])
    """
    _check(dim, radius)
    # An orthonormal basis of the vectors of sum zero (Helmert's); its columns are the projected unit vectors.
    weight = np.zeros((dim + 1, dim))
    for axis in range(dim):
        weight[: axis + 1, axis] = 1 / sqrt((axis + 1) * (axis + 2))
        weight[axis + 1, axis] = -(axis + 1) / sqrt((axis + 1) * (axis + 2))
    return [(sqrt(2) * weight, np.zeros(dim + 1)), (np.ones((1, dim + 1)), np.array([-radius]))]


@read_arguments
def root_polytope_layers(dim: Count) -> Layers:
    """Return n + 1 units with whole weights whose decision region is an affine image of the expanded simplex.

    Parameters
    ----------
    dim : int
        At least 2.

    Returns
    -------
    [(W, b), (a, c)]
        ``f(x) = sum_i relu(x_i) + relu(-sum_i x_i) - 1``: vertices ``e_i, -e_i`` and ``e_i - e_j``, exactly.

    Raises
    ------
    InputError
        If the dimension is below 2.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.load(root_polytope_layers(2))([[1.0, -1.0], [1.0, 1.0]]).flatten().tolist()
    [0.0, 1.0]
    """
    _check(dim)
    weight = np.vstack([np.eye(dim), -np.ones(dim)])
    return [(weight, np.zeros(dim + 1)), (np.ones((1, dim + 1)), -np.ones(1))]


@read_arguments
def simplex_corner_layers(dim: Count, num_inside: Natural) -> Layers:
    """Return n + 1 units whose decision region holds some corners of the simplex between their hyperplanes.

    With one corner the region has the faces of a cross-polytope, with all of them those of the expanded simplex. The
    dissertation names these two forms; in the plane there are no others, but in n dimensions every number of corners
    from 1 to n + 1 gives a closed, bounded region, and small changes of the weights do not change its faces.

    Parameters
    ----------
    dim : int
        At least 2.
    num_inside : int
        Between 1 and n + 1.

    Returns
    -------
    [(W, b), (a, c)]
        ``f(x) = sum_i a_i relu(x_i) + a_0 relu(1 - sum_i x_i) - 1``, with a of 1/2 for corners inside and 2 for others.

    Raises
    ------
    InputError
        If the dimension is below 2, or there is no such number of corners.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.load(simplex_corner_layers(2, 1))([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).flatten().tolist()
    [-0.5, 1.0, 1.0]
    """
    _check(dim)
    if not 1 <= num_inside <= dim + 1:
        raise InputError(f"expected between 1 and {dim + 1} corners inside, as the simplex has, got {num_inside}")
    weight = np.vstack([-np.ones(dim), np.eye(dim)])
    slopes = np.where(np.arange(dim + 1) < num_inside, 0.5, 2.0)
    return [(weight, np.append(1.0, np.zeros(dim))), (slopes[None], -np.ones(1))]


@read_arguments
def shell_volume_ratio(dim: Count) -> Finding:
    """Return how much more room the cross-polytope needs than the expanded simplex (equation 4.17).

    Parameters
    ----------
    dim : int
        At least 2.

    Returns
    -------
    Finding
        The volume between inner and outer ball of the cross-polytope, over that of the expanded simplex of the same
        inner radius, EXACT. Over ``2^(n/2)`` it tends to ``exp(-1/2)``, not to 1 as equation 4.17 says.

    Raises
    ------
    InputError
        If the dimension is below 2, or so large, above 2,049, that float64 cannot hold the ratio.

    Examples
    --------
    >>> shell_volume_ratio(2).value, round(shell_volume_ratio(10).value / 2**5, 4)
    (3.0, 0.6474)
    """
    one, other = (dim / 2 * _log(solution.ratio_squared) for solution in (cross_polytope(dim), expanded_simplex(dim)))
    _check_size(one - other, dim)
    # (e^a - 1) / (e^b - 1) without overflow.
    value = exp(one - other) * expm1(-one) / expm1(-other)
    # In the plane the squares are 2 and 4/3: their shells are 1 and 1/3 of the ball.
    value = round(value) if abs(value - round(value)) < 1e-13 else value
    return Finding.within(
        float(value),
        1e-12 * dim * float(value),
        name="shell of the cross-polytope over that of the expanded simplex",
        definition=f"({dim}^({dim}/2) - 1) / (({expanded_simplex(dim).ratio_squared})^({dim}/2) - 1)",
        domain=f"dimension {dim}, equal inner radii",
        source="sattelberg2026",
    )


@read_arguments
def ball_volume(dim: Count, radius: Positive = 1.0) -> float:
    """Return the volume of a ball, ``pi^(n/2) / Gamma(n/2 + 1) r^n`` (equation 4.14).

    Examples
    --------
    >>> round(ball_volume(3), 12) == round(4 / 3 * pi, 12)
    True
    """
    return exp(dim / 2 * log(pi) - lgamma(dim / 2 + 1)) * radius**dim


def root_text(square: Fraction) -> str:
    """Return the square root of a fraction as text."""
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    root = Fraction(above, below)
    return str(root) if root * root == square else f"sqrt({square})"


def _log(square: Fraction) -> float:
    return log(square.numerator) - log(square.denominator)


def _root(square: Fraction) -> float:
    """Return the root of a fraction, also where its square is no float."""
    # Enough digits in front of the point for 64 bits of the root.
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return ldexp(float(isqrt((square.numerator << 2 * shift) // square.denominator)), -shift)


def _check_size(logarithm: float, dim: int) -> None:
    if logarithm >= log(sys.float_info.max):
        raise InputError(
            f"expected a ratio of volumes below {sys.float_info.max:.1e}, the largest that float64 holds, got "
            f"exp({logarithm:.1f}) in dimension {dim}: choose a smaller dimension"
        )


def _check(dim: int, radius: float = 1.0) -> None:
    if dim < 2:
        raise InputError(
            f"expected a dimension of at least 2, got {dim}: on a line the region is an interval, and both solutions "
            "are the same"
        )
    if not 0 < radius < float("inf"):
        raise InputError(f"expected a positive, finite radius, got {radius:g}")
