"""Swaps values: all classes of four inputs, functions of five and six inputs, and the search of the dissertation."""

import time

import numpy as np

import reluscope as rs
from benchmarks.measure import Measurement, paired
from reluscope_studies import boolean
from reluscope_studies.boolean.orderings import strict_orderings
from reluscope_studies.boolean.symmetries import cube_symmetries

TARGET = "all 222 classes of four inputs under 1 s, a function of five inputs in about 0.1 s, six inputs exactly"


def random_function(num_inputs: int, seed: int) -> boolean.BooleanFunction:
    """Return a function with values drawn at random."""
    return boolean.BooleanFunction.of_values(np.random.default_rng(seed).integers(2, size=1 << num_inputs))


def by_symmetry(function: boolean.BooleanFunction) -> int:
    """Return the swaps value by trying every symmetry with every ordering, one symmetry at a time."""
    inputs, fewest = strict_orderings(function.num_inputs).inputs, function.size
    for symmetry in cube_symmetries(function.num_inputs):
        along = function.values[symmetry[inputs]]
        fewest = min(fewest, int((along[:, 1:] != along[:, :-1]).sum(axis=1).min()))
    return fewest


def run(quick: bool) -> list[Measurement]:
    """Time swaps values, with a loop over symmetries beside five inputs."""
    classes = [function for function, _ in boolean.npn_classes(4)]
    began = time.perf_counter()
    values = [int(boolean.swaps(function)) for function in classes]
    rows = [
        Measurement("222 classes of 4 inputs", time.perf_counter() - began, detail=f"largest {max(values)} (EXACT)")
    ]
    five = random_function(5, 0)
    boolean.swaps(five)
    ratio, seconds, reference = paired(lambda: boolean.swaps(five), lambda: by_symmetry(five), 3)
    case = "a function of 5 inputs, against a loop over symmetries"
    rows.append(Measurement(case, seconds, ratio, reference, detail=str(boolean.swaps(five).value)))
    limit = 1.0 if quick else 60.0
    for seed in range(1 if quick else 5):
        began = time.perf_counter()
        found = boolean.swaps(random_function(6, seed), budget=rs.Budget(seconds=limit))
        case = f"function {seed} of 6 inputs, at most {limit:g} s"
        rows.append(Measurement(case, time.perf_counter() - began, detail=str(found.value)))
    if not quick:
        began = time.perf_counter()
        found = boolean.largest_swaps(5)
        rows.append(Measurement("largest of all 5 inputs", time.perf_counter() - began, detail=str(found.value)))
    return rows
