"""A checker of certificates that shares no code with what makes them.

What is checked, and why it proves that no region is missing, is said in `reluscope.partitions.certificates`. Facets are
found here, from where the units vanish: nothing but codes and vertices is taken from the certificate.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reluscope.arguments import refuse_jumps
from reluscope.checking.unit_conditions import UnitConditions, whole
from reluscope.errors import CertificateError, InputError

if TYPE_CHECKING:
    from reluscope.geometry.domains import Domain
    from reluscope.networks.network import Network
    from reluscope.partitions.certificates import Certificate

Face = frozenset[int]


def check_certificate(certificate: "Certificate", network: "Network", domain: "Domain | None" = None) -> int:
    """Check that a certificate proves its list of the regions of a network to be right and whole.

    Parameters
    ----------
    certificate : Certificate
    network : Network
        The matrices and constants of its nodes are all that is trusted.
    domain : Domain, optional
        Checked to be the one that the certificate is about.

    Returns
    -------
    int
        How many full-dimensional activation regions the network has on the domain: what is proved.

    Raises
    ------
    CertificateError
        Names the first thing that is wrong.

    Notes
    -----
    Cost: for each region d + 1 evaluations of the network in whole numbers, and all faces of its polytope; about 1 ms
    with some 40 units in the plane or in space, 20 ms with 12 units and six inputs.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> certificate = rs.partition(net, rs.Box(-1, 1, 2), certify=True).certificate
    >>> check_certificate(certificate, net, rs.Box(-1, 1, 2))
    4
    """
    for name, value, has in (("certificate", certificate, "half_spaces"), ("network", network, "fingerprint")):
        if not hasattr(value, has):
            raise InputError(f"{name} must be a {name.capitalize()} of reluscope, got {type(value).__name__}: give one")
    refuse_jumps("check_certificate", network)
    if domain is not None and not hasattr(domain, "ambient_dim"):
        raise InputError(f"domain must be a domain of reluscope, got {type(domain).__name__}: give a Box or a slice")
    dim, corners_of = len(certificate.half_spaces[0]) - 1, certificate.corners
    _demand(certificate.fingerprint == network.fingerprint, "it is of another network")
    _demand(domain is None or _plain(domain) == (certificate.lift, certificate.half_spaces), "it is of another domain")
    _demand(len(certificate.codes) == len(corners_of) > 0, "codes and corners must be as many, and some")
    _demand(len({*certificate.codes}) == len(certificate.codes), "two regions have the same code")
    _demand(len({*certificate.vertices}) == len(certificate.vertices), "two vertices are the same point")
    _demand(set().union(*corners_of) <= {*range(len(certificate.vertices))}, "a corner is no vertex")
    points = [whole([*vertex, 1])[0] for vertex in certificate.vertices]
    sides = [whole(side)[0] for side in certificate.half_spaces]
    units = UnitConditions(network, certificate.lift, dim)
    owners: Counter[Face] = Counter()
    for region, (code, corners) in enumerate(zip(certificate.codes, corners_of, strict=True)):
        what = f"region {region}"
        borders = [_zeros(side, points, corners, False, f"{what} and the domain") for side in sides]
        faces = {*borders}
        _demand(units.fit(code), f"{what}: the code does not fit the network")
        for unit, function, strict in units.conditions(code):
            faces.add(_zeros(function, points, corners, strict, f"{what} and {unit}"))
        facets = _facets(Face(corners), dim, faces, {}, what)
        owners.update(facet for facet in facets if facet not in borders)
    for facet, number in owners.items():
        where = f"the facet with vertices {sorted(facet)}"
        _demand(number == 2, f"{where} is not on the domain's boundary and belongs to {number} regions, not two")
    return len(certificate.codes)


def _demand(right: bool, wrong: str) -> None:
    if not right:
        raise CertificateError(
            f"the certificate proves nothing: {wrong}; make it again from the network and the domain"
        )


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


def _plain(domain: Any) -> tuple[tuple, tuple]:
    """Return a domain as the lift and the half-spaces that a certificate holds."""
    window = getattr(domain, "window", domain)
    unit = [[int(row == column) for column in range(window.dim)] for row in range(window.dim)]
    lift = [domain.origin.tolist(), *domain.basis.tolist()] if hasattr(domain, "basis") else []
    if lift == [[0] * window.dim, *unit]:
        lift = []
    if hasattr(window, "lo"):
        sides = [[*(-entry for entry in row), high] for row, high in zip(unit, window.hi.tolist(), strict=True)]
        sides += [[*row, -low] for row, low in zip(unit, window.lo.tolist(), strict=True)]
    else:
        sides = [[*(-normal).tolist(), bound] for normal, bound in zip(window.A, window.b.tolist(), strict=True)]
    return tuple(tuple(map(Fraction, row)) for row in lift), tuple(tuple(map(Fraction, row)) for row in sides)
