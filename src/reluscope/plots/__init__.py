"""Pictures: functions that take findings or partitions and return figures, never shown, nothing computed."""

from reluscope.plots.accuracy_curves import accuracy_curve
from reluscope.plots.boolean_functions import boolean_direction, swaps_distribution
from reluscope.plots.bounds_and_counts import bounds_and_counts
from reluscope.plots.class_numbers import class_numbers
from reluscope.plots.clustered_regions import region_clusters
from reluscope.plots.codes import codes
from reluscope.plots.coefficient_scatter import coefficient_scatter
from reluscope.plots.coefficients import coefficients
from reluscope.plots.compressed_networks import curves_of_networks
from reluscope.plots.cosines import cosines
from reluscope.plots.counts_in_training import counts_in_training
from reluscope.plots.decision_polygon import decision_polygon
from reluscope.plots.decision_polytope import decision_polytope
from reluscope.plots.directions import directions
from reluscope.plots.distances import class_distances, distance_histogram
from reluscope.plots.distinct import distinct_codes
from reluscope.plots.embeddings import embeddings
from reluscope.plots.errors_and_counts import errors_and_counts
from reluscope.plots.films import animation
from reluscope.plots.fitted_functions import fitted_coefficients, fitted_curves
from reluscope.plots.folding import folding
from reluscope.plots.frames import say_regions
from reluscope.plots.functions_and_slopes import functions_on_plane
from reluscope.plots.gates import boundaries
from reluscope.plots.gradient_eigenvalues import gradient_eigenvalues
from reluscope.plots.grids_beside_regions import grids_beside_regions
from reluscope.plots.grids_of_success import success_grids
from reluscope.plots.interactive import interactive
from reluscope.plots.invariances import invariances
from reluscope.plots.likeliest import likeliest
from reluscope.plots.loss_lines import losses_in_training
from reluscope.plots.measures_of_functions import sorted_measures
from reluscope.plots.merged_pieces import merged_regions
from reluscope.plots.models_in_plane import models_in_plane
from reluscope.plots.newton_polygons import newton_polygons
from reluscope.plots.norms import norms
from reluscope.plots.novelty_scores import novelty
from reluscope.plots.outputs_along_directions import outputs_along
from reluscope.plots.performance import performance_by_dimension, performance_by_measure
from reluscope.plots.places import places
from reluscope.plots.preimage_kinds import preimages
from reluscope.plots.preimages_in_plane import preimages_in_plane
from reluscope.plots.printed_counts import counts_beside
from reluscope.plots.pruning_accuracies import pruning_curves
from reluscope.plots.radii import radii
from reluscope.plots.radii_by_place import radii_by_place
from reluscope.plots.region_colors import RegionColors
from reluscope.plots.regions import partition
from reluscope.plots.regions_and_coefficients import regions_and_coefficients
from reluscope.plots.robustness import robustness
from reluscope.plots.saliency_images import saliency
from reluscope.plots.samples import samples
from reluscope.plots.saving import to_png, to_svg
from reluscope.plots.saving_animations import save_animation, to_gif
from reluscope.plots.segments import segment_counts
from reluscope.plots.similarity_table import similarity
from reluscope.plots.spectra import correlation_counts, spectra, spectra_by_layer
from reluscope.plots.successes import successes
from reluscope.plots.surroundings import surroundings
from reluscope.plots.tracking import tracking
from reluscope.plots.training_curves import training_curves
from reluscope.plots.transitions_on_ways import transitions
from reluscope.plots.usage import unit_usage

__all__ = [
    "RegionColors",
    "accuracy_curve",
    "animation",
    "boolean_direction",
    "boundaries",
    "bounds_and_counts",
    "class_distances",
    "class_numbers",
    "codes",
    "coefficient_scatter",
    "coefficients",
    "correlation_counts",
    "cosines",
    "counts_beside",
    "counts_in_training",
    "curves_of_networks",
    "decision_polygon",
    "decision_polytope",
    "directions",
    "distance_histogram",
    "distinct_codes",
    "embeddings",
    "errors_and_counts",
    "fitted_coefficients",
    "fitted_curves",
    "folding",
    "functions_on_plane",
    "gradient_eigenvalues",
    "grids_beside_regions",
    "interactive",
    "invariances",
    "likeliest",
    "losses_in_training",
    "merged_regions",
    "models_in_plane",
    "newton_polygons",
    "norms",
    "novelty",
    "outputs_along",
    "partition",
    "performance_by_dimension",
    "performance_by_measure",
    "places",
    "preimages",
    "preimages_in_plane",
    "pruning_curves",
    "radii",
    "radii_by_place",
    "region_clusters",
    "regions_and_coefficients",
    "robustness",
    "saliency",
    "samples",
    "save_animation",
    "say_regions",
    "segment_counts",
    "similarity",
    "sorted_measures",
    "spectra",
    "spectra_by_layer",
    "success_grids",
    "successes",
    "surroundings",
    "swaps_distribution",
    "to_gif",
    "to_png",
    "to_svg",
    "tracking",
    "training_curves",
    "transitions",
    "unit_usage",
]
