"""Whether a network has every sample right whatever rounding does: signs of outputs beside bounds on their errors."""

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from reluscope import Tolerance, load
from reluscope.extending.analyses import rounded_forward
from reluscope_studies.stacked.loss_functions import read_targets
from reluscope_studies.stacked.stack import Stack


def has_all_right(stack: Stack, x: ArrayLike | Tensor, y: ArrayLike | Tensor) -> bool:
    """Return whether a stack's one network is above 0 where the target is 1 and below 0 elsewhere.

    This is in real arithmetic: True is proved; False may be a sign that rounding could change. The stack has to be of
    one network, the targets zeros and ones.
    """
    points = stack.read_points(x)
    targets = read_targets(stack, y, len(points))[0].cpu().numpy()
    # Sums in any order, not as they usually are.
    worst = Tolerance(rounding=max(16.0, max(stack.sizes) + 2.0))
    forward = rounded_forward(load(stack.module(0)), points.double().cpu(), tolerance=worst)
    return bool(np.all(np.where(targets > 0.5, 1.0, -1.0) * forward.outputs > forward.errors))
