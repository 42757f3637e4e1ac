"""The six published definitions of a linear region.

Their numbers satisfy R6 <= R5 <= R4 <= R3 <= R2 <= R1, and each inequality can be strict. R1 and R2 depend on how a
network computes its function, R3 to R6 on the function alone. They were set side by side by Stargalla, Hertrich and
Reichman (``stargalla2025``).
"""

from dataclasses import dataclass

from reluscope.arguments import read_option


@dataclass(frozen=True)
class Definition:
    """What counts as one region."""

    name: str  # as `count` takes it
    number: int  # 1 to 6, from the largest count to the smallest
    regions: str  # what is counted, as `Finding.definition` says it
    meaning: str  # one line for people


DEFINITIONS = {
    one.name: one
    for one in (
        Definition(
            "activation",
            1,
            "activation regions (lower-dimensional ones included)",
            "sets of points with the same code, however thin",
        ),
        Definition(
            "proper_activation",
            2,
            "proper activation regions (full-dimensional)",
            "sets of points with the same code that have an interior",
        ),
        Definition(
            "convex",
            3,
            "convex regions (cells of the smallest polyhedral complex on which the function is affine)",
            "cells of the smallest polyhedral complex on whose cells the function is affine",
        ),
        Definition(
            "open_connected",
            4,
            "open connected regions",
            "largest open connected sets on which the function is affine",
        ),
        Definition(
            "closed_connected",
            5,
            "closed connected regions (with interior)",
            "largest closed connected sets with interior on which the function is affine",
        ),
        Definition(
            "affine",
            6,
            "affine regions (different affine maps on sets with interior)",
            "different affine maps that the function has on sets with interior",
        ),
    )
}


def find_definition(name: str) -> Definition:
    """Return the definition of a name.

    InputError if there is none; the message lists all six.
    """
    return DEFINITIONS[read_option(name, "definition", DEFINITIONS)]
