"""Pictures: functions that take findings or partitions and return matplotlib figures without showing them."""

from typing import NoReturn

from reluscope.moved_names import refuse
from reluscope.plots import style
from reluscope.plots.drawing.saving import to_png, to_svg
from reluscope.plots.drawing.saving_animations import save_animation, to_gif
from reluscope.plots.models.accuracy_curves import accuracy_curve
from reluscope.plots.models.compressed_networks import curves_of_networks
from reluscope.plots.models.gradient_eigenvalues import gradient_eigenvalues
from reluscope.plots.models.newton_polygons import newton_polygons
from reluscope.plots.models.persistence_bars import persistence
from reluscope.plots.models.similarity_table import similarity
from reluscope.plots.models.spectrum_curves import spectra, spectra_by_layer
from reluscope.plots.models.training_curves import tracking
from reluscope.plots.patterns.code_pictures import codes
from reluscope.plots.patterns.distance_map import class_distances, distance_histogram
from reluscope.plots.patterns.distinct_bars import distinct_codes
from reluscope.plots.patterns.embeddings import embeddings
from reluscope.plots.patterns.usage_bars import unit_usage
from reluscope.plots.planes.clustered_regions import region_clusters
from reluscope.plots.planes.coefficient_scatter import coefficient_scatter
from reluscope.plots.planes.films import animation
from reluscope.plots.planes.frames import say_regions
from reluscope.plots.planes.gate_boundaries import boundaries
from reluscope.plots.planes.interactive import interactive
from reluscope.plots.planes.merged_pieces import merged_regions
from reluscope.plots.planes.preimages_in_plane import preimages_in_plane
from reluscope.plots.planes.rasters import raster
from reluscope.plots.planes.region_colors import RegionColors
from reluscope.plots.planes.region_pictures import partition
from reluscope.plots.planes.regions_and_coefficients import regions_and_coefficients
from reluscope.plots.planes.training_films import training_animation
from reluscope.plots.planes.violated_inputs import violations
from reluscope.plots.points.angle_pictures import directions
from reluscope.plots.points.ball_radii import radii
from reluscope.plots.points.class_numbers import class_numbers
from reluscope.plots.points.coefficients import coefficients
from reluscope.plots.points.distance_lines import robustness
from reluscope.plots.points.invariance_images import invariances
from reluscope.plots.points.likeliest_images import likeliest
from reluscope.plots.points.norm_histograms import norms
from reluscope.plots.points.outputs_along_directions import outputs_along
from reluscope.plots.points.preimage_kinds import preimages
from reluscope.plots.points.radii_by_location import radii_by_location
from reluscope.plots.points.saliency_images import saliency
from reluscope.plots.points.sample_images import samples
from reluscope.plots.points.segment_strips import segment_counts
from reluscope.plots.points.size_distributions import size_distributions
from reluscope.plots.points.surrounding_regions import surrounding_regions
from reluscope.plots.points.transitions_on_segments import transitions
from reluscope.plots.space.level_set_scenes import level_set
from reluscope.plots.space.output_surfaces import output_surface
from reluscope.plots.space.reachable import image, reach
from reluscope.plots.space.region_solids import solid
from reluscope.plots.space.turntables import turntable
from reluscope.plots.space.view_directions import View
from reluscope.plots.space.walls import boundaries_3d

__all__ = [
    "RegionColors",
    "View",
    "accuracy_curve",
    "animation",
    "boundaries",
    "boundaries_3d",
    "class_distances",
    "class_numbers",
    "codes",
    "coefficient_scatter",
    "coefficients",
    "curves_of_networks",
    "directions",
    "distance_histogram",
    "distinct_codes",
    "embeddings",
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


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.plots", name)
