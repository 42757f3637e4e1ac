"""A polyhedron without another one: a part for each row, where that row is broken and those before it are not."""

from typing import NamedTuple

from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


class Difference(NamedTuple):
    """The points that lie in one polyhedron and not in another, as polyhedra."""

    parts: list[Polyhedron]  # their interiors do not meet
    thin: list[Ball]  # a largest ball of each part that was left out


def without(body: Polyhedron, cut: Polyhedron, thin: float) -> Difference:
    """Return the part of one polyhedron outside another as polyhedra whose interiors do not meet.

    ``cut`` has to be given by half-spaces. Parts that hold no ball of radius ``thin`` are left out.
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
