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
    """Refuse numbers other than 0 that are outside of the range.

    Raises
    ------
    InputError
        With the number.

    Examples
    --------
    >>> check_numbers("in the domain", np.array([0.0, 1e130]))
    Traceback (most recent call last):
    reluscope.errors.InputError: expected constants and values between 1e-120 and 1e+120 in absolute value, got 1.0e+130
    in the domain, where products of floats underflow or overflow: scale the network
    """
    sizes = np.abs(np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]))
    wrong = sizes[(sizes != 0) & ~((sizes >= LEAST) & (sizes <= MOST))]
    if len(wrong):
        worst = wrong.min() if wrong.min() < LEAST else wrong.max()
        raise InputError(
            f"expected constants and values between {LEAST:g} and {MOST:g} in absolute value, got {worst:.1e} {where}, "
            "where products of floats underflow or overflow: scale the network"
        )


def check_constants(network: Network) -> None:
    """Refuse a network with constants of which a product with an ordinary number may be below the smallest float64.

    Raises
    ------
    InputError
        With the smallest constant.
    """
    smallest = min(leg.extremes[0] for leg in (*(stage.leg for stage in network.stages), network.finish.leg))
    if smallest < SMALLEST:
        raise InputError(
            f"expected constants from {SMALLEST:.1g} on in absolute value, or 0, got {smallest:.1g}, where products "
            "of floats underflow: scale the network"
        )


@contextmanager
def overflow_refused() -> Iterator[None]:
    """Refuse what leads to numbers that float64 does not hold, in NumPy's and in Python's arithmetic.

    Raises
    ------
    InputError
        In the place of an error of arithmetic.

    Examples
    --------
    >>> with overflow_refused():
    ...     np.full(1, 1e200) ** 2
    Traceback (most recent call last):
    reluscope.errors.InputError: expected numbers whose products float64 holds, below 1.8e+308, got larger ones
    (overflow encountered in square): scale the network, the points or the domain
    """
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
