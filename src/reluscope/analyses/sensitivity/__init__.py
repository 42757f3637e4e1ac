"""Sensitivity to changes of the input: directions, regions along trajectories and around points, saliency."""

from typing import NoReturn

from reluscope.analyses.sensitivity.gradient_covariance import ActiveSubspaces, active_subspaces
from reluscope.analyses.sensitivity.integrated_gradients import integrated_gradients
from reluscope.analyses.sensitivity.local_complexities import local_complexity
from reluscope.analyses.sensitivity.outputs_along import OutputAlong, output_along
from reluscope.analyses.sensitivity.region_changes import transitions
from reluscope.analyses.sensitivity.saliency_maps import saliency
from reluscope.analyses.sensitivity.trajectories import Trajectory, ellipse, trajectory, translations
from reluscope.moved_names import refuse

__all__ = [
    "ActiveSubspaces",
    "OutputAlong",
    "Trajectory",
    "active_subspaces",
    "ellipse",
    "integrated_gradients",
    "local_complexity",
    "output_along",
    "saliency",
    "trajectory",
    "transitions",
    "translations",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.sensitivity", name)
