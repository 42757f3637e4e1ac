"""Depth against width: with many inputs one layer can have more regions than any network with two, with few fewer."""

from contextlib import suppress
from math import comb

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.bounds import montufar_lower, naive_upper, pascanu_lower, serra_lower, serra_upper

SENTENCE = "one layer against two with as many units: which can have more regions, by number of inputs"
POSITION = 20
DATA = None

HALVES = (2, 3, 4, 5, 8, 11, 16)
DRAWN = 11
MAX_INPUTS = 26


def protocol(setting: Setting) -> Outcome:
    """Compare the largest number of regions of one layer with bounds for two, from bounds alone."""
    setting.progress("Comparing bounds")
    inputs = range(1, MAX_INPUTS + 1)
    curves = {
        f"one layer of {2 * DRAWN}: largest number": [serra_upper((n, 2 * DRAWN)) for n in inputs],
        f"two layers of {DRAWN}: upper bound": [serra_upper((n, DRAWN, DRAWN)) for n in inputs],
        f"two layers of {DRAWN}: lower bound": [_lower(n, DRAWN) for n in inputs],
    }
    crossings = [_crossing(half) for half in HALVES]
    large = [serra_upper((2 * half, half, half)) for half in HALVES]
    rows = tuple(
        (
            f"{2 * half}",
            f"{half} + {half}",
            f"{int(crossing)}",
            f"{int(naive_upper((2 * half, 2 * half))):,}",
            f"{int(bound):,}",
        )
        for half, crossing, bound in zip(HALVES, crossings, large, strict=True)
    )
    columns = ("one layer", "two layers", "one is ahead from inputs", "one layer, many inputs", "two layers, at most")
    beaten = max(n for n, low in zip(inputs, curves[f"two layers of {DRAWN}: lower bound"], strict=True)
                 if int(low) > int(serra_upper((n, 2 * DRAWN))))  # fmt: skip
    sentences = (
        (
            f"From {int(crossings[HALVES.index(DRAWN)])} inputs on, some network with one layer of {2 * DRAWN} ReLUs "
            f"has more regions than every network with two layers of {DRAWN}; with up to {beaten} inputs some network "
            "with two layers has more than every network with one. Between them bounds do not tell."
        ),
        "The largest number of one layer is exact: hyperplanes in general position. Nothing is trained or counted.",
    )
    picture = Picture(
        "depth_and_width",
        plots.bounds_and_counts(list(inputs), curves, xlabel="inputs"),
        f"The largest number of regions of one layer of {2 * DRAWN} units, and bounds for two layers of {DRAWN}; where "
        "the lower bound is flat, inputs that are not used add nothing to the best one for fewer inputs.",
    )
    found = (*crossings, *large, *(one for curve in curves.values() for one in curve))
    eleven = crossings[HALVES.index(DRAWN)]
    verdicts = (
        StatementVerdict(
            "shallow networks attain more regions than deep ones with as many units if there are many inputs",
            "section 3",
            "if n0 is sufficiently large",
            f"{2 * DRAWN} units in one layer against {DRAWN} + {DRAWN}: from {int(eleven)} inputs on, for all weights",
            True,
        ),
        StatementVerdict(
            "the opposite holds for few inputs", "section 3", "for small n0", f"up to {beaten} inputs", beaten >= 1
        ),
    )
    return Outcome(sentences, found, (Table(columns, rows),), (picture,), verdicts=verdicts)


def _lower(num_inputs: int, half: int) -> rs.Finding:
    """Return the best lower bound for at most so many inputs: a network may leave inputs unused."""
    found = []
    for inputs in range(1, num_inputs + 1):
        for ask in (pascanu_lower, montufar_lower, serra_lower):
            with suppress(rs.errors.NotApplicableError):
                found.append(ask((inputs, half, half)))
    return max(found, key=int)


def _crossing(half: int) -> rs.Finding:
    """Return the least number of inputs at which one layer is ahead of every network with two."""
    inputs = next(
        n
        for n in range(1, 2 * half + 1)
        if sum(comb(2 * half, j) for j in range(n + 1)) > int(serra_upper((n, half, half)))
    )
    return rs.Finding.of(
        inputs,
        name=f"inputs from which one layer of {2 * half} is ahead",
        definition=(
            f"least number of inputs for which one layer of {2 * half} ReLUs can have more regions than the upper "
            f"bound for two layers of {half}"
        ),
        domain="all weights",
        method="bounds for every number of inputs",
        source="serra2018",
    )
