"""A polyhedron without another one: a part for each row, where that row is broken and those before it are not."""

from reluscope.geometry.polyhedron import Polyhedron


def without(body: Polyhedron, cut: Polyhedron, thin: float) -> list[Polyhedron]:
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
    >>> sorted(round(part.volume(), 9) for part in without(square, corner, 1e-9))
    [1.0, 2.0]
    """
    parts = []
    for normal, offset in zip(cut.A, cut.b, strict=True):
        outside = body.intersect(Polyhedron(-normal[None], [-offset]))
        if outside.insphere().radius > thin:
            parts.append(outside)
        body = body.intersect(Polyhedron(normal[None], [offset]))
    return parts
