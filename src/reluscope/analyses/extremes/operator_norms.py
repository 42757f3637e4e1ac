"""Norms of linear maps between spaces of one norm: the largest ``|J v|`` over ``|v| <= 1``.

In linf it is the largest sum of a row, in l1 that of a column, in l2 the largest singular value. A map to one number
has the dual norm of its row.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.geometry.numbers.norms import Norm


def operator_norms(maps: Float[np.ndarray, "k m n"], norm: Norm) -> Float[np.ndarray, " k"]:
    """Return norms of maps; weights of the norm are those of inputs."""
    scaled = maps * norm.ball_sides(maps.shape[2])
    if maps.shape[1] == 1:
        return norm.plain.dual.size(scaled[:, 0])
    if norm.order == 2:
        return np.linalg.norm(scaled, 2, axis=(1, 2))
    return np.abs(scaled).sum(axis=2 if norm.order == np.inf else 1).max(axis=1)


def largest_norms(
    middle: Float[Tensor, "k m n"], radius: Float[Tensor, "k m n"], norm: Norm
) -> Float[np.ndarray, " k"]:
    """Return upper bounds on the norms of all maps whose entries lie in intervals."""
    sizes = (middle.abs() + radius).cpu().numpy()
    found = operator_norms(sizes, norm)
    if norm.order == 2 and middle.shape[1] > 1:
        apart = operator_norms(middle.cpu().numpy(), norm) + operator_norms(radius.cpu().numpy(), norm)
        found = np.minimum(found, apart)
    return found * (1 + torch.finfo(torch.float64).eps * 2**10)
