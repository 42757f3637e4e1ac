"""Numbers whose products float64 does not hold are refused: where that can be told in advance, or as it happens."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from reluscope.errors import InputError
from reluscope.networks.network import Network

# Products of numbers within these limits neither vanish nor overflow, and neither do their squares by much.
LEAST, MOST = 1e-120, 1e120
# Below this float64 has fewer digits, or nearly so.
SMALLEST = 2.0**-1000


def check_numbers(where: str, *tables: np.ndarray) -> None:
    """Raise InputError with the number if a number other than 0 is outside of the range."""
    sizes = np.abs(np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]))
    wrong = sizes[(sizes != 0) & ~((sizes >= LEAST) & (sizes <= MOST))]
    if len(wrong):
        worst = wrong.min() if wrong.min() < LEAST else wrong.max()
        raise InputError(
            f"expected constants and values between {LEAST:g} and {MOST:g} in absolute value, got {worst:.1e} {where}, "
            "where products of floats underflow or overflow: scale the network"
        )


def check_constants(network: Network) -> None:
    """Raise InputError if a product of a constant with an ordinary number may underflow float64."""
    smallest = min(leg.extremes[0] for leg in (*(stage.leg for stage in network.stages), network.finish.leg))
    if smallest < SMALLEST:
        raise InputError(
            f"expected constants from {SMALLEST:.1g} on in absolute value, or 0, got {smallest:.1g}, where products "
            "of floats underflow: scale the network"
        )


@contextmanager
def overflow_refused() -> Iterator[None]:
    """Raise InputError in place of errors of NumPy's and Python's arithmetic on overflow."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise too_large(" ".join(str(error).split())) from error


def too_large(what: str) -> InputError:
    """Return the error of numbers that float64 does not hold."""
    return InputError(
        f"expected numbers whose products float64 holds, below 1.8e+308, got larger ones ({what}): scale the network, "
        "the points or the domain"
    )
