"""The affine maps that a network is near its samples: their matrices, margins and norms."""

from reluscope.analyses.coefficients.jacobian_norms import local_norms
from reluscope.analyses.coefficients.margins import linear_margins
from reluscope.analyses.coefficients.matrices import CoefficientMatrices, matrix

__all__ = ["CoefficientMatrices", "linear_margins", "local_norms", "matrix"]
