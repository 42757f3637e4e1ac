"""Sine on [-pi, pi], where section 5.3 of the dissertation learns it: the training points, its curve, its tangents."""

import numpy as np
from jaxtyping import Float

import reluscope as rs

REACH = float(np.pi)
INTERVAL = rs.Box(-REACH, REACH, 1)
X: Float[np.ndarray, " s"] = np.linspace(-REACH, REACH, 100)
Y: Float[np.ndarray, " s"] = np.sin(X)


def curve() -> Float[np.ndarray, "t 2"]:
    """Return points of the curve."""
    x = np.linspace(-REACH, REACH, 201)
    return np.column_stack([x, np.sin(x)])


def tangents() -> Float[np.ndarray, "t 2"]:
    """Return slopes and intercepts of the tangents at these points."""
    x = np.linspace(-REACH, REACH, 201)
    return np.column_stack([np.cos(x), np.sin(x) - x * np.cos(x)])
