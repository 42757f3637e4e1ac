"""Networks: piecewise-linear models as graphs of affine nodes and gates."""
