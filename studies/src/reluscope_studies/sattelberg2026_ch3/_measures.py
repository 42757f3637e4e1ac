"""Swaps value, Fourier degree, influence and entropy of the classes of four inputs, side by side."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from reluscope_studies import boolean


@dataclass(frozen=True, eq=False)
class Measures:
    """Measures of k functions."""

    functions: tuple[boolean.BooleanFunction, ...]
    degree: Int[np.ndarray, " k"]
    influence: Float[np.ndarray, " k"]
    entropy: Float[np.ndarray, " k"]


def measures_of(functions: tuple[boolean.BooleanFunction, ...]) -> Measures:
    """Return the measures of some functions."""
    return Measures(
        functions,
        np.array([int(boolean.degree(one)) for one in functions]),
        np.array([float(boolean.total_influence(one)) for one in functions]),
        np.array([float(boolean.entropy(one)) for one in functions]),
    )


@lru_cache(maxsize=4)
def class_swaps(num_inputs: int) -> Int[np.ndarray, " k"]:
    """Return the swaps values of the classes of up to four inputs."""
    found = np.array([int(boolean.swaps(one).value) for one, _ in boolean.npn_classes(num_inputs)])
    found.flags.writeable = False
    return found


def representatives(num_inputs: int) -> tuple[boolean.BooleanFunction, ...]:
    """Return the representatives of the classes of up to four inputs."""
    return tuple(one for one, _ in boolean.npn_classes(num_inputs))
