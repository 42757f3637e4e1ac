"""A certificate: the regions of a network on a domain as plain rational data that anyone can check.

For each region it holds the code and the exact vertices, and nothing else: signs, facets and witnesses follow from
these. It proves that these are *all* full-dimensional activation regions, and that the closure of each is the hull P(c)
of its vertices, if

1. the codes are all different, every vertex is in the domain, and at every vertex of a region every unit, all units
   held to the pieces of the code, is on the closed side that its piece says; what its piece asks strictly is not zero
   at all of them;
2. the points of P(c) where a unit or a side of the domain vanishes make up all its facets: a polygon's vertices lie on
   exactly two sides each, and in d dimensions every facet passes this test one dimension lower, and each facet of it
   lies on exactly two;
3. every facet lies on a side of the domain or is, vertex by vertex, a facet of exactly one other region.

*Proof.* (1) Held units are affine, so the closed conditions hold on all of P(c) and the strict ones inside it. Gate by
gate, the network's own pieces at a point inside are then those of c. Hence interiors of different regions are disjoint.
(2) Faces of faces lose a dimension each, down to edges with two ends, so P(c) has dimension d and what is listed are
facets. In a polytope each facet of a facet lies on exactly two facets, and one gets from any facet to any other that
way: a set of facets in which these pairs are whole is the set of all. (3) Let a point inside the domain be in no
region. Go to it from inside some region along a line that meets no face of d - 2 dimensions, and let x be the point up
to which the line is in regions. It lies inside a facet of one of them and inside the domain, so another region has
the same facet. The two lie on different sides of it, since their interiors are disjoint, and the line is still in a
region a little beyond x, a contradiction. So the regions cover the domain, and a full-dimensional set of points of any
code meets the inside of some P(c), where the code is c.

*Unbounded domains.* A point x is then each point (t x, t) with t > 0 of d + 1 dimensions, the domain its cone
{(x, w): a . x + c w >= 0 for all sides, w >= 0}, and vertices are those of the parts of cones in the simplex of all y
with y_i >= -1 and y_1 + ... + y_{d+1} <= 1. An affine function a . x + c becomes the linear one a . x + c w, which has
the same sign. What holds of points inside the cone, where w > 0, holds of points inside the domain, and (1) to (3) are
the same, one dimension higher, with the sides of the simplex among those of the domain.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

from reluscope.arguments import read_arguments, read_position
from reluscope.files.sealed_files import not_as_written, read_sealed_json, to_sealed_json
from reluscope.files.stored import MALFORMED
from reluscope.files.whole_files import write_files
from reluscope.shown import Shown

FORMAT = "reluscope certificate 2"
Point = tuple[Fraction, ...]
Code = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """The exact regions of a network on a domain; `reluscope.testing.check_certificate` checks it.

    Parameters
    ----------
    fingerprint : str
        Fingerprint of the network.
    lift : tuple of (d + 1) points of n fractions
        Origin and basis of the slice that is the domain; empty for a domain in input space.
    half_spaces : tuple of (d + 1) fractions each
        The domain: ``(a, c)`` stands for ``a . x + c >= 0``; empty for all of space.
    vertices : tuple of points of d fractions
        All different. On an unbounded domain points ``(x, w)`` of d + 1 fractions: vertices of the cones over regions,
        cut off by the simplex of points with entries of at least -1 that add up to 1 at most.
    codes : tuple of codes
        Pieces of all units, gate by gate, for each region.
    corners : tuple of tuples of int
        Vertices of each region, by index.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> certificate = rs.certify(rs.partition(net, rs.Box(-1, 1, 2))).certificate
    >>> len(certificate), len(certificate.vertices), rs.testing.check_certificate(certificate, net)
    (4, 9, 4)
    """

    fingerprint: str
    lift: tuple[Point, ...]
    half_spaces: tuple[Point, ...]
    vertices: tuple[Point, ...]
    codes: tuple[Code, ...]
    corners: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_of_cones(self) -> bool:
        """Whether vertices are those of the cones over regions, because the domain is unbounded."""
        return not self.half_spaces or len(self.vertices[0]) == len(self.half_spaces[0])

    @read_arguments
    def witness(self, region: int) -> Point:
        """Return a rational point strictly inside a region: the mean of its vertices, on the ray of a cone at w = 1."""
        region = read_position(region, "region", len(self.corners), "regions")
        points = [self.vertices[corner] for corner in self.corners[region]]
        mean = tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))
        return tuple(entry / mean[-1] for entry in mean[:-1]) if self.is_of_cones else mean

    def to_json(self) -> str:
        """Return the certificate as JSON with a digest, under ``seal``, by which `load` knows that it is whole.

        Fractions are strings of two hexadecimal numbers, such as ``"-1f/8"``.
        """
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain |= {name: [_written(point) for point in plain[name]] for name in _RATIONAL}
        return to_sealed_json({"format": FORMAT, **plain}, separators=(",", ":"))

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a JSON file, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        write_files({Path(path): self.to_json()})

    @staticmethod
    @read_arguments
    def load(path: str | os.PathLike[str]) -> "Certificate":
        """Read a certificate that `save` wrote. Nothing is checked but that it is one.

        Raises
        ------
        InputError
            If the file is missing, damaged, or something else.
        """
        what, advice = "a certificate", "save it again"
        plain = read_sealed_json(path, what, advice)
        try:
            if plain.pop("format") != FORMAT:
                raise ValueError("another format")
            plain |= {name: tuple(_read(point) for point in plain[name]) for name in _RATIONAL}
            plain["codes"] = tuple(tuple(tuple(map(_whole, gate)) for gate in code) for code in plain["codes"])
            plain["corners"] = tuple(tuple(map(_whole, corners)) for corners in plain["corners"])
            found = Certificate(**plain)
            _check_form(found)
        except MALFORMED as error:
            raise not_as_written(path, what, advice) from error
        return found


def _whole(entry: object) -> int:
    if type(entry) is not int or entry < 0:
        raise ValueError(f"expected a whole number, got {entry!r}")
    return entry


def _check_form(found: Certificate) -> None:
    """Raise ValueError unless all parts fit together: what they say is for `reluscope.testing.check_certificate`."""
    sizes = {len(point) for point in found.vertices}
    dims = {len(side) - 1 for side in found.half_spaces} | ({len(found.lift) - 1} if found.lift else set())
    dims |= set() if dims else {size - 1 for size in sizes}
    forms = {tuple(map(len, code)) for code in found.codes}
    is_well_formed = (
        type(found.fingerprint) is str
        and len(dims) == 1
        and min(dims) >= 1
        and len(sizes) == 1
        and sizes <= {min(dims) + 1, min(dims) + (not found.half_spaces)}
        and len({len(point) for point in found.lift}) <= 1
        and len(found.codes) == len(found.corners)
        and len(forms) <= 1
        and all(corners and max(corners) < len(found.vertices) for corners in found.corners)
    )
    if not is_well_formed:
        raise ValueError("parts that do not fit together")


_RATIONAL = ("lift", "half_spaces", "vertices")


def _written(point: Point) -> list[str]:
    # Hexadecimal: Python refuses to read and write decimal numbers of many thousand digits.
    return [f"{entry.numerator:x}/{entry.denominator:x}" for entry in point]


def _read(entries: Iterable[str]) -> Point:
    numbers = ([int(part, 16) for part in entry.split("/")] for entry in entries)
    return tuple(Fraction(numerator, denominator) for numerator, denominator in numbers)
