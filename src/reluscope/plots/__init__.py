"""Pictures: functions that take findings or partitions and return matplotlib figures without showing them."""

from reluscope.plots import style
from reluscope.plots.accuracy_curves import accuracy_curve
from reluscope.plots.boolean_functions import boolean_direction
from reluscope.plots.class_numbers import class_numbers
from reluscope.plots.clustered_regions import region_clusters
from reluscope.plots.codes import codes
from reluscope.plots.coefficient_scatter import coefficient_scatter
from reluscope.plots.coefficients import coefficients
from reluscope.plots.compressed_networks import curves_of_networks
from reluscope.plots.decision_polygon import decision_polygon
from reluscope.plots.decision_polytope import decision_polytope
from reluscope.plots.directions import directions
from reluscope.plots.distances import class_distances, distance_histogram
from reluscope.plots.distinct import distinct_codes
from reluscope.plots.embeddings import embeddings
from reluscope.plots.films import animation
from reluscope.plots.folding import folding
from reluscope.plots.frames import say_regions
from reluscope.plots.gates import boundaries
from reluscope.plots.gradient_eigenvalues import gradient_eigenvalues
from reluscope.plots.interactive import interactive
from reluscope.plots.invariances import invariances
from reluscope.plots.likeliest import likeliest
from reluscope.plots.merged_pieces import merged_regions
from reluscope.plots.newton_polygons import newton_polygons
from reluscope.plots.norms import norms
from reluscope.plots.outputs_along_directions import outputs_along
from reluscope.plots.persistence import persistence
from reluscope.plots.preimage_kinds import preimages
from reluscope.plots.preimages_in_plane import preimages_in_plane
from reluscope.plots.pruning_accuracies import pruning_curves
from reluscope.plots.radii import radii
from reluscope.plots.radii_by_location import radii_by_location
from reluscope.plots.rasters import raster
from reluscope.plots.reachable import image, reach
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
from reluscope.plots.size_distributions import size_distributions
from reluscope.plots.space.level_sets import level_set
from reluscope.plots.space.output_surfaces import output_surface
from reluscope.plots.space.solids import solid
from reluscope.plots.space.turntables import turntable
from reluscope.plots.space.views import View
from reluscope.plots.space.walls import boundaries_3d
from reluscope.plots.spectra import correlation_counts, spectra, spectra_by_layer
from reluscope.plots.surrounding_regions import surrounding_regions
from reluscope.plots.tracking import tracking
from reluscope.plots.training_films import training_animation
from reluscope.plots.transitions_on_ways import transitions
from reluscope.plots.usage import unit_usage
from reluscope.plots.violations import violations

__all__ = [
    "RegionColors",
    "View",
    "accuracy_curve",
    "animation",
    "boolean_direction",
    "boundaries",
    "boundaries_3d",
    "class_distances",
    "class_numbers",
    "codes",
    "coefficient_scatter",
    "coefficients",
    "correlation_counts",
    "curves_of_networks",
    "decision_polygon",
    "decision_polytope",
    "directions",
    "distance_histogram",
    "distinct_codes",
    "embeddings",
    "folding",
    "gradient_eigenvalues",
    "image",
    "interactive",
    "invariances",
    "level_set",
    "likeliest",
    "merged_regions",
    "newton_polygons",
    "norms",
    "output_surface",
    "outputs_along",
    "partition",
    "persistence",
    "preimages",
    "preimages_in_plane",
    "pruning_curves",
    "radii",
    "radii_by_location",
    "raster",
    "reach",
    "region_clusters",
    "regions_and_coefficients",
    "robustness",
    "saliency",
    "samples",
    "save_animation",
    "say_regions",
    "segment_counts",
    "similarity",
    "size_distributions",
    "solid",
    "spectra",
    "spectra_by_layer",
    "style",
    "surrounding_regions",
    "to_gif",
    "to_png",
    "to_svg",
    "tracking",
    "training_animation",
    "transitions",
    "turntable",
    "unit_usage",
    "violations",
]
