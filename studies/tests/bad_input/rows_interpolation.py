"""reluscope_studies.interpolation."""

import numpy as np

from conformance.bad_input.calls import Later, row
from reluscope_studies import interpolation

_KNOTS = np.linspace(0, 1, 4)
_FOUND = Later(lambda: interpolation.interpolate(_KNOTS, _KNOTS**2))
_LINE = {"knots": "vector alone", "values": "vector alone", "x": "vector alone", "y": "vector alone"}

ROWS = {
    "interpolation.error_upper": row(found=_FOUND, curvature=2.0),
    "interpolation.errors_at": row(found=_FOUND, x=_KNOTS, y=_KNOTS, kinds=_LINE),
    "interpolation.interpolate": row(knots=_KNOTS, values=_KNOTS**2, kinds=_LINE),
    "interpolation.least_squares": row(x=_KNOTS, y=_KNOTS**2, knots=_KNOTS[[0, 2, 3]], kinds=_LINE),
}
