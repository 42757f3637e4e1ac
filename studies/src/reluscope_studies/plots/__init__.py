"""Pictures for the studies alone: functions that take findings or partitions and return figures."""

from reluscope_studies.plots.bounds_and_counts import bounds_and_counts
from reluscope_studies.plots.classes_on_line import classes_on_line
from reluscope_studies.plots.cosines import cosines
from reluscope_studies.plots.counts_in_training import counts_in_training
from reluscope_studies.plots.errors_and_counts import errors_and_counts
from reluscope_studies.plots.fitted_functions import fitted_coefficients, fitted_curves
from reluscope_studies.plots.functions_and_slopes import functions_on_plane
from reluscope_studies.plots.grids_beside_regions import grids_beside_regions
from reluscope_studies.plots.grids_of_success import success_grids
from reluscope_studies.plots.loss_lines import losses_in_training
from reluscope_studies.plots.measures_of_functions import sorted_measures
from reluscope_studies.plots.models_in_plane import models_in_plane
from reluscope_studies.plots.normals_in_plane import normals_in_plane
from reluscope_studies.plots.novelty_scores import novelty
from reluscope_studies.plots.panels_in_plane import bending_lines, classes_in_plane, compared_points
from reluscope_studies.plots.paper import with_paper
from reluscope_studies.plots.performance import performance_by_dimension, performance_by_measure
from reluscope_studies.plots.printed_counts import counts_beside, panels_beside
from reluscope_studies.plots.restarts import restarts
from reluscope_studies.plots.successes import successes
from reluscope_studies.plots.surfaces import surfaces
from reluscope_studies.plots.swaps_distribution import swaps_distribution
from reluscope_studies.plots.training_curves import training_curves
from reluscope_studies.plots.windows_by_layer import windows_by_layer

__all__ = [
    "bending_lines",
    "bounds_and_counts",
    "classes_in_plane",
    "classes_on_line",
    "compared_points",
    "cosines",
    "counts_beside",
    "counts_in_training",
    "errors_and_counts",
    "fitted_coefficients",
    "fitted_curves",
    "functions_on_plane",
    "grids_beside_regions",
    "losses_in_training",
    "models_in_plane",
    "normals_in_plane",
    "novelty",
    "panels_beside",
    "performance_by_dimension",
    "performance_by_measure",
    "restarts",
    "sorted_measures",
    "success_grids",
    "successes",
    "surfaces",
    "swaps_distribution",
    "training_curves",
    "windows_by_layer",
    "with_paper",
]
