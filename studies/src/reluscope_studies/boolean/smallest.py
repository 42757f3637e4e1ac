"""The smallest network known for a Boolean function, by number of hidden units, with weights.

No hidden unit is enough exactly for threshold functions. One hidden unit, or several layers of one, is monotone in one
direction and does no more; so two units are best possible for every other function. Beyond that only bounds are known.
"""

from dataclasses import dataclass

from reluscope import Finding
from reluscope.arguments import read_arguments
from reluscope.extending.analyses import Shown, TimeBudget
from reluscope_studies.boolean.constructions import (
    Construction,
    affine,
    alternating,
    alternation_spacing,
    by_search,
    by_width,
    exact_leak,
)
from reluscope_studies.boolean.directions import num_changes, small_direction
from reluscope_studies.boolean.function import BooleanFunction, check_num_inputs
from reluscope_studies.boolean.swapping import Swaps, swaps
from reluscope_studies.boolean.thresholds import threshold_test

_MAX_INPUTS = 10
_REPORTED = (
    "Sattelberg, Section 3.4.2, trained leaky networks of one layer of 3 units and of 2 layers of 2 units for all "
    "functions of four inputs, without giving weights"
)


@dataclass(frozen=True, eq=False, repr=False)
class SmallestKnown(Shown):
    """The smallest network known here, and what is known of smaller ones.

    Parameters
    ----------
    construction : Construction
        With weights, verified on all inputs.
    num_units : Finding
        Hidden units: EXACT where none can do with fewer, else UPPER with an interval.
    swaps : Swaps or None
        The direction behind it; None for threshold functions.
    reported : str
        What is published of smaller networks without weights, or nothing.
    """

    construction: Construction
    num_units: Finding
    swaps: Swaps | None
    reported: str


@read_arguments
def smallest_known(function: BooleanFunction, *, leak: float = 0.0, budget: TimeBudget | None = None) -> SmallestKnown:
    """Return the network with the fewest hidden units known for a function.

    Parameters
    ----------
    function : BooleanFunction
        Of up to 10 inputs.
    leak : float
        Slope of the units below zero: 0 for ReLU.
    budget : Budget, optional
        Seconds for the search for directions, see `swaps`.

    Returns
    -------
    SmallestKnown

    Raises
    ------
    InputError
        If there are more than 10 inputs, or the leak is not from 0 to less than 1.

    Notes
    -----
    Tried are, along an optimal direction: one layer of s units, one layer of s - 1 units by linear programming, and
    triangle waves of w^l slopes where the function alternates evenly, as parity does.

    Examples
    --------
    >>> parity = BooleanFunction.of_formula("x1 ^ x2 ^ x3 ^ x4")
    >>> for leak in (0.0, 0.1):
    ...     found = smallest_known(parity, leak=leak)
    ...     print(found.construction.widths, found.num_units)
    (3,) 3 (UPPER, in [2, 3])
    (3,) 3 (UPPER, in [2, 3])
    """
    check_num_inputs(function.num_inputs, _MAX_INPUTS, "networks are constructed")
    exact_leak(leak)
    test = threshold_test(function)
    if test.is_threshold:
        return _known(affine(function, test.weights, test.constant), None, 0, "")
    found = swaps(function, budget=budget)
    directions = [found.direction]
    # The search from above perturbs all ones; for parity and its like the plain direction alternates evenly.
    plain = (found.direction > 0) * 2 - 1
    if num_changes(function, plain) == int(found):
        directions.insert(0, plain)
    small = small_direction(function, int(found))
    if small is not None:
        directions.insert(0, small)
    candidates = [by_width(function, directions[0], leak=leak)]
    if alternation_spacing(function, directions[0]) is not None:
        shapes = [(w, d) for w in range(2, 8) for d in range(2, 8) if w**d >= int(found)]
        width, depth = min(shapes, key=lambda shape: (shape[0] * shape[1], shape[1]))
        if width * depth < candidates[0].num_units:
            candidates.append(alternating(function, directions[0], width=width, depth=depth, leak=leak))
    for direction in directions:
        narrow = by_search(function, direction, leak=leak)
        if narrow is not None:
            candidates.append(narrow)
            break
    best = min(candidates, key=lambda one: one.num_units)
    is_reported = leak > 0 and function.num_inputs == 4 and best.num_units > 3
    return _known(best, found, 2, _REPORTED if is_reported else "")


def _known(construction: Construction, found: Swaps | None, fewest: int, reported: str) -> SmallestKnown:
    units = construction.num_units
    value = Finding.of(
        units,
        lower=fewest,
        name="hidden units",
        definition=f"fewest hidden units of a {'leaky ' if construction.leak else ''}ReLU network for the function",
        method=construction.method,
        source="sattelberg2026",
    )
    return SmallestKnown(construction, value, found, reported)
