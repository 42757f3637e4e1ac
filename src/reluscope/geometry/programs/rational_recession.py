"""Directions of recession in rational arithmetic: whether a cone {r : a . r >= 0 for all rows a} is more than its apex.

If no direction lies in all the planes ``a . r = 0``, the sum of the rows is positive at every r of the cone but 0; and
whether it can be positive the simplex method finds out.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.programs.rational_program import highest, value_at, whole_form


def has_direction(rows: Iterable[Sequence[int]], dim: int) -> bool:
    """Return whether some r other than 0 has ``a . r >= 0`` for all rows.

    One linear program in whole numbers, of as many unknowns as dimensions.
    """
    distinct = [row for row in dict.fromkeys(tuple(row) for row in rows) if any(row)]
    exact = [[*map(Fraction, row), Fraction(0)] for row in distinct]
    if len(reduced(exact)) < dim:
        return True
    forms = [whole_form(row) for row in exact]
    total = whole_form([sum(column, Fraction(0)) for column in zip(*exact, strict=True)]) if exact else {}
    found = highest(total, forms, (Fraction(0),) * dim, is_sign_enough=True)
    return value_at(total, found.point) > 0
