"""A checker of certificates that shares no code with what makes them.

What is checked, and why it proves that no region is missing, is said in `reluscope.partitions.exact.certificates`.
Facets are found here, from where the units vanish: nothing but codes and vertices is taken from the certificate.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from reluscope.arguments import refuse_jumps
from reluscope.checking.unit_conditions import UnitConditions, whole
from reluscope.errors import CertificateError, InputError
from reluscope.geometry.polyhedra.domains import Box, Polyhedron, Slice, Space
from reluscope.networks.is_network import is_network

if TYPE_CHECKING:
    from reluscope.geometry.polyhedra.domains import Domain
    from reluscope.networks.network import Network
    from reluscope.partitions.exact.certificates import Certificate

Face = frozenset[int]
_PARTS = ("fingerprint", "lift", "half_spaces", "vertices", "codes", "corners")


def check_certificate(certificate: "Certificate", network: "Network", domain: "Domain | None" = None) -> int:
    """Check that a certificate proves its list of the regions of a network to be correct and complete.

    Parameters
    ----------
    certificate : Certificate
    network : Network
        Only the matrices and constants of its nodes are trusted.
    domain : Domain, optional
        Checked to be the domain of the certificate.

    Returns
    -------
    int
        The proved number of full-dimensional activation regions of the network on the domain.

    Raises
    ------
    CertificateError
        Names the first error.

    Notes
    -----
    Cost per region: d + 1 evaluations of the network in integer arithmetic, and all faces of its polytope; about 1
    ms with some 40 units in the plane or in space, 20 ms with 12 units and six inputs.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> certificate = rs.certify(rs.partition(net, rs.Box(-1, 1, 2))).certificate
    >>> rs.testing.check_certificate(certificate, net, rs.Box(-1, 1, 2))
    4
    """
    if not all(hasattr(certificate, part) for part in _PARTS):
        raise InputError(f"certificate must be a Certificate of reluscope, got {type(certificate).__name__}: give one")
    if not is_network(network):
        raise InputError(f"network must be a Network of reluscope, got {type(network).__name__}: give one")
    refuse_jumps("check_certificate", network)
    if domain is not None and not isinstance(domain, Box | Polyhedron | Slice | Space):
        raise InputError(f"domain must be a domain of reluscope, got {type(domain).__name__}: give a Box or a slice")
    _demand_form(certificate, network.num_inputs)
    dim, size, corners_of = (
        (len(certificate.lift) or network.num_inputs + 1) - 1,
        len(certificate.vertices[0]),
        certificate.corners,
    )
    of_network = isinstance(certificate.fingerprint, str) and certificate.fingerprint == network.fingerprint
    _demand(of_network, "it is of another network")
    _demand(domain is None or (domain.dim == dim and _is_of(certificate, domain)), "it is of another domain")
    _demand(len({*certificate.codes}) == len(certificate.codes), "two regions have the same code")
    _demand(len({*certificate.vertices}) == len(certificate.vertices), "two vertices are the same point")
    _demand(set().union(*corners_of) <= {*range(len(certificate.vertices))}, "a corner is no vertex")
    points = [whole([*vertex, 1])[0] for vertex in certificate.vertices]
    behind = [0] * (size - dim)  # functions of points (x, w) of a cone have no constant
    sides = [[*whole(side)[0], *behind] for side in certificate.half_spaces] + (_cut_off(size) if behind else [])
    units = UnitConditions(network, certificate.lift, dim)
    owners: Counter[Face] = Counter()
    for region, (code, corners) in enumerate(zip(certificate.codes, corners_of, strict=True)):
        what = f"region {region}"
        borders = [_zeros(side, points, corners, False, f"{what} and the domain") for side in sides]
        faces = {*borders}
        _demand(units.fit(code), f"{what}: the code does not fit the network")
        for unit, function, strict in units.conditions(code):
            faces.add(_zeros([*function, *behind], points, corners, strict, f"{what} and {unit}"))
        facets = _facets(Face(corners), size, faces, {}, what)
        owners.update(facet for facet in facets if facet not in borders)
    for facet, number in owners.items():
        where = f"the facet with vertices {sorted(facet)}"
        _demand(number == 2, f"{where} is not on the domain's boundary and belongs to {number} regions, not two")
    return len(certificate.codes)


def _demand_form(certificate: "Certificate", num_inputs: int) -> None:
    """Refuse parts that are no tables of fractions and whole numbers, or do not fit together or to the network."""
    sides, lift, vertices = certificate.half_spaces, certificate.lift, certificate.vertices
    _demand(_is_table(sides, _is_rational), "half_spaces must be rows of fractions")
    _demand(_is_table(lift, _is_rational), "lift must be points of fractions")
    size = len(lift) or num_inputs + 1
    _demand(size >= 2 and {*map(len, sides)} <= {size}, "half_spaces must be rows of d + 1 fractions each")
    fits = not lift or {*map(len, lift)} == {num_inputs}
    _demand(fits, "lift and half_spaces must fit to each other and to the network's inputs")
    _demand(_is_table(vertices, _is_rational) and vertices != (), "vertices must be points of fractions, and some")
    fits = {*map(len, vertices)} in ({size - 1}, {size})
    _demand(fits, "vertices must have as many coordinates as the domain, or one more for cones")
    _demand(isinstance(certificate.codes, tuple), "codes must be a tuple of codes")
    _demand(all(_is_table(code, _is_whole) for code in certificate.codes), "codes must be tables of whole numbers")
    _demand(_is_table(certificate.corners, _is_whole), "a corner is no vertex: corners must be rows of whole numbers")
    _demand(len(certificate.codes) == len(certificate.corners) > 0, "codes and corners must be as many, and some")


def _is_table(value: object, is_entry: Callable[[object], bool]) -> bool:
    """Tell whether a value is a tuple of tuples of entries of a kind."""
    return isinstance(value, tuple) and all(isinstance(row, tuple) and all(map(is_entry, row)) for row in value)


def _is_rational(entry: object) -> bool:
    return type(entry) is Fraction or type(entry) is int


def _is_whole(entry: object) -> bool:
    return type(entry) is int and entry >= 0


def _demand(right: bool, wrong: str) -> None:
    if not right:
        raise CertificateError(
            f"the certificate proves nothing: {wrong}; make it again from the network and the domain"
        )


def _cut_off(size: int) -> list[list[int]]:
    """Return what cuts off the cones over regions in so many dimensions: w >= 0, and the sides of a simplex."""
    unit = [[int(row == column) for column in range(size)] for row in range(size)]
    return [[*unit[-1], 0], *([*row, 1] for row in unit), [*[-1] * size, 1]]


def _zeros(function: list[int], points: list[list[int]], corners: Iterable[int], strict: bool, what: str) -> Face:
    """Return where a function vanishes that must not be negative at any corner, and if strict not zero at all."""
    heights = {corner: sum(a * b for a, b in zip(function, points[corner], strict=True)) for corner in corners}
    _demand(min(heights.values(), default=0) >= 0, f"{what}: a vertex is on the wrong side")
    _demand(not strict or max(heights.values(), default=0) > 0, f"{what}: zero throughout is another piece")
    return Face(corner for corner, height in heights.items() if height == 0)


def _facets(face: Face, dim: int, faces: set[Face], known: dict[tuple[int, Face], list[Face]], what: str) -> list[Face]:
    """Return the facets of a face, checked to be all of them and the face to have this dimension."""
    if dim == 1:
        _demand(len(face) == 2, f"{what}: an edge has {len(face)} vertices, not two")
        return [Face([corner]) for corner in face]
    if (dim, face) not in known:
        parts = {face & other for other in faces} - {face}
        facets = [part for part in parts if not any(part < other for other in parts)]
        ridges = Counter(ridge for facet in facets for ridge in _facets(facet, dim - 1, faces, known, what))
        _demand({*ridges.values()} == {2}, f"{what} has no interior, or a side at which no unit and no domain ends")
        known[dim, face] = facets
    return known[dim, face]


def _is_of(certificate: "Certificate", domain: "Domain") -> bool:
    """Tell whether a domain is the lift and the half-spaces of a certificate, which has no equations."""
    window = domain.window if isinstance(domain, Slice) else domain
    unit = [[int(row == column) for column in range(window.dim)] for row in range(window.dim)]
    lift = [domain.origin.tolist(), *domain.basis.tolist()] if isinstance(domain, Slice) else []
    if lift == [[0] * window.dim, *unit]:
        lift = []
    if isinstance(window, Box):
        sides = [[*(-entry for entry in row), high] for row, high in zip(unit, window.hi.tolist(), strict=True)]
        sides += [[*row, -low] for row, low in zip(unit, window.lo.tolist(), strict=True)]
    else:
        outer = window.polyhedron
        if len(outer.C):
            return False
        sides = [[*(-normal).tolist(), bound] for normal, bound in zip(outer.A, outer.b.tolist(), strict=True)]
    return certificate.lift == _fractions(lift) and certificate.half_spaces == _fractions(sides)


def _fractions(rows: list[list[float]]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(map(Fraction, row)) for row in rows)
