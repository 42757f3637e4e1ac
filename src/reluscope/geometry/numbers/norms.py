"""The norms l1, l2 and linf, their dual norms, and the steps along which a linear form grows fastest.

The dual norm of a form g is the largest value of ``g v`` over ``|v| <= 1``; so a hyperplane ``a y = b`` is
``|b - a x| / |a|*`` away from x, with the dual norm in the denominator.
"""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.geometry.numbers.scales import lengths, units

Norm = Literal["l1", "l2", "linf"]


def check_norm(norm: str) -> None:
    """Raise InputError unless the norm is "l1", "l2" or "linf"."""
    if norm not in get_args(Norm):
        raise InputError(f"expected a norm among {', '.join(map(repr, get_args(Norm)))}, got {norm!r}: choose one")


def size(vectors: Float[np.ndarray, "*batch n"], norm: Norm) -> Float[np.ndarray, "*batch"]:
    """Return the norm of vectors along the last axis."""
    if norm == "l2":
        return lengths(vectors)
    return np.asarray(np.linalg.norm(vectors, {"l1": 1, "linf": np.inf}[norm], axis=-1))


def dual(norm: Norm) -> Norm:
    """Return the dual norm: l1 and linf are each other's, l2 is its own."""
    duals: dict[Norm, Norm] = {"l1": "linf", "l2": "l2", "linf": "l1"}
    return duals[norm]


def steepest(forms: Float[np.ndarray, "s n"], norm: Norm) -> Float[np.ndarray, "s n"]:
    """Return for each form g a vector v of norm 1 with ``g v = |g|*``; of a zero form the zero vector.

    In l1 the first of the largest entries takes the whole step; in linf inputs that do not matter stay.
    """
    if norm == "linf":
        return np.sign(forms)
    if norm == "l2":
        return units(forms)
    found = np.zeros_like(forms)
    every, first = np.arange(len(forms)), np.abs(forms).argmax(axis=-1)
    found[every, first] = np.sign(forms[every, first])
    return found
