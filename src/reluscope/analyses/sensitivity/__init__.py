"""Sensitivity to changes of the input: directions, Jacobians, regions along trajectories and in balls, saliency."""

from reluscope.analyses.sensitivity.cross_polytopes import cross_polytope_complexity
from reluscope.analyses.sensitivity.gradient_covariance import ActiveSubspaces, active_subspaces
from reluscope.analyses.sensitivity.kink_densities import kink_density
from reluscope.analyses.sensitivity.outputs_along import OutputAlong, output_along
from reluscope.analyses.sensitivity.probability_jacobians import jacobian_norms
from reluscope.analyses.sensitivity.region_changes import transitions
from reluscope.analyses.sensitivity.regions_in_balls import local_complexity
from reluscope.analyses.sensitivity.saliency_maps import Saliency, saliency
from reluscope.analyses.sensitivity.trajectories import Trajectory, ellipse, trajectory, translations

__all__ = [
    "ActiveSubspaces",
    "OutputAlong",
    "Saliency",
    "Trajectory",
    "active_subspaces",
    "cross_polytope_complexity",
    "ellipse",
    "jacobian_norms",
    "kink_density",
    "local_complexity",
    "output_along",
    "saliency",
    "trajectory",
    "transitions",
    "translations",
]
