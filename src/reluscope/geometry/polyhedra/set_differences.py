"""A polyhedron without another one: a part for each row, where that row is broken and those before it are not."""

from typing import NamedTuple

from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


class Difference(NamedTuple):
    """What lies in one polyhedron and not in another.

    Parameters
    ----------
    parts : list of Polyhedron
        Their interiors do not meet.
    thin : list of Ball
        A largest ball of each part that was left out.
    """

    parts: list[Polyhedron]
    thin: list[Ball]


def without(body: Polyhedron, cut: Polyhedron, thin: float) -> Difference:
    """Return polyhedra whose interiors do not meet: what lies in one polyhedron and not in another.

    Parameters
    ----------
    body, cut : Polyhedron
        The second one by half-spaces.
    thin : float
        Parts with no ball of this radius are left out.

    Examples
    --------
    >>> square, corner = (Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [end, 0, end, 0]) for end in (2, 1))
    >>> sorted(round(part.volume(), 9) for part in without(square, corner, 1e-9).parts)
    [1.0, 2.0]
    """
    parts: list[Polyhedron] = []
    left_out: list[Ball] = []
    for normal, offset in zip(cut.A, cut.b, strict=True):
        outside = body.intersect(Polyhedron(-normal[None], [-offset]))
        ball = outside.insphere()
        if ball.radius > thin:
            parts.append(outside)
        else:
            left_out.append(ball)
        body = body.intersect(Polyhedron(normal[None], [offset]))
    return Difference(parts, left_out)
