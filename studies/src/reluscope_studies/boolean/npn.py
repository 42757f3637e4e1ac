"""NPN classes: functions that differ by negating inputs, permuting inputs and negating the output.

A class is named by the smallest number in it. Orbits are listed up to n = 4; beyond, classes are counted by Burnside's
lemma, and the class of one function is found by trying all 2^(n + 1) n! symmetries at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

import numpy as np

from reluscope import Finding
from reluscope.arguments import Natural, read_arguments
from reluscope_studies.boolean.function import BooleanFunction, all_inputs, check_num_inputs
from reluscope_studies.boolean.symmetries import cube_symmetries, input_orders, pack

MAX_LISTED_INPUTS = 4
MAX_INPUTS = 6


@dataclass(frozen=True)
class NpnClass:
    """A class of functions, and how one of them becomes its representative.

    Parameters
    ----------
    representative : BooleanFunction
        The one with the smallest number.
    size : int
        Number of functions in the class.
    order : tuple of int
        Permutation of the inputs, from 0.
    negated : tuple of bool
        Which inputs are negated.
    output_negated : bool
        Whether the output is: the representative at x is the function at y, or its negation, with
        ``y[order[i]] = x[i] ^ negated[i]``.
    """

    representative: BooleanFunction
    size: int
    order: tuple[int, ...]
    negated: tuple[bool, ...]
    output_negated: bool


@read_arguments
def npn_class(function: BooleanFunction) -> NpnClass:
    """Return the class of a function of up to 6 inputs.

    Parameters
    ----------
    function : BooleanFunction

    Returns
    -------
    NpnClass

    Raises
    ------
    InputError
        If there are more than 6 inputs.

    Notes
    -----
    2^(n + 1) n! truth tables: 1 ms for n = 5, some 20 ms for n = 6.

    Examples
    --------
    >>> found = npn_class(BooleanFunction.of_formula("~x1 | x2"))
    >>> found.representative.number, found.size
    (1, 8)
    """
    n = function.num_inputs
    check_num_inputs(n, MAX_INPUTS, "the class of a function is found")
    tables = function.values[cube_symmetries(n)]
    plain, negated = pack(tables), pack(1 - tables)
    numbers = np.concatenate([plain, negated])
    best = int(numbers.argmin())
    symmetry, output = best % len(plain), best >= len(plain)
    size = 2 * factorial(n) * (1 << n) // int((numbers == numbers[0]).sum())
    return NpnClass(
        BooleanFunction(n, int(numbers[best])),
        size,
        tuple(input_orders(n)[symmetry >> n].tolist()),
        tuple(map(bool, all_inputs(n)[symmetry % (1 << n)].tolist())),
        bool(output),
    )


@read_arguments
@lru_cache(maxsize=MAX_LISTED_INPUTS + 1)
def npn_classes(num_inputs: Natural) -> tuple[tuple[BooleanFunction, int], ...]:
    """Return the representatives of all classes in ascending order, with the sizes of the classes.

    Parameters
    ----------
    num_inputs : int
        Up to 4: there are 616,126 classes of 5 inputs, and listing them needs all 2^32 functions.

    Raises
    ------
    InputError
        If there are more than 4 inputs.

    Examples
    --------
    >>> [(function.number, size) for function, size in npn_classes(2)]
    [(0, 2), (1, 8), (3, 4), (6, 2)]
    """
    check_num_inputs(num_inputs, MAX_LISTED_INPUTS, "classes are listed, and counted by num_npn_classes beyond,")
    symmetries, size = cube_symmetries(num_inputs), 1 << num_inputs
    seen = np.zeros(1 << size, dtype=bool)
    found = []
    for number in range(1 << (size - 1)):  # of a function and its negation one is below half
        if not seen[number]:
            tables = BooleanFunction(num_inputs, number).values[symmetries]
            orbit = np.unique(np.concatenate([pack(tables), pack(1 - tables)]))
            seen[orbit] = True
            found.append((BooleanFunction(num_inputs, number), len(orbit)))
    return tuple(found)


@read_arguments
def num_npn_classes(num_inputs: Natural) -> Finding:
    """Return the number of classes by Burnside's lemma: the mean number of functions that a symmetry leaves alone.

    Parameters
    ----------
    num_inputs : int
        Up to 6.

    Returns
    -------
    Finding
        EXACT.

    Notes
    -----
    A symmetry of the cube with c cycles on inputs keeps 2^c functions, and with the output negated 2^c if all cycles
    are of even length and none otherwise.

    Examples
    --------
    >>> print(num_npn_classes(5))
    616,126 (EXACT)
    """
    check_num_inputs(num_inputs, MAX_INPUTS, "classes are counted")
    symmetries = cube_symmetries(num_inputs).astype(np.int64)
    lengths = np.zeros(symmetries.shape, dtype=np.int64)
    places, step = symmetries, 1
    while True:
        lengths[(lengths == 0) & (places == np.arange(symmetries.shape[1]))] = step
        if lengths.all():
            break
        places, step = np.take_along_axis(symmetries, places, axis=1), step + 1
    cycles = np.rint((1.0 / lengths).sum(axis=1)).astype(int).tolist()
    even = (lengths % 2 == 0).all(axis=1).tolist()
    total = sum((1 + is_even) << number for number, is_even in zip(cycles, even, strict=True))
    return Finding.of(
        total // (2 * len(cycles)),
        name=f"NPN classes of {num_inputs} inputs",
        definition="orbits under negation and permutation of inputs and negation of the output",
        method="Burnside's lemma over all symmetries of the cube",
        source="sattelberg2026",
    )
