"""Stacks of half-spaces for tests, from tables and bounds that all share."""

import numpy as np

from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces


def bodies_of(tables, lower=-np.inf, upper=np.inf) -> HalfSpaceStack:
    """Return {x : A x <= b, lower <= x <= upper} for every table (A, b)."""
    dim = tables[0][0].shape[1]
    ends = [np.broadcast_to(np.asarray(end, dtype=float), (dim,)) for end in (lower, upper)]
    return HalfSpaceStack.of([HalfSpaces(A, b, *ends) for A, b in tables])
