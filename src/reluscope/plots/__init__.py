"""Pictures: functions that take findings or partitions and return figures, never shown, nothing computed."""

from reluscope.plots.bounds_and_counts import bounds_and_counts
from reluscope.plots.class_numbers import class_numbers
from reluscope.plots.codes import codes
from reluscope.plots.coefficients import coefficients
from reluscope.plots.directions import directions
from reluscope.plots.distances import class_distances, distance_histogram
from reluscope.plots.distinct import distinct_codes
from reluscope.plots.errors_and_counts import errors_and_counts
from reluscope.plots.gates import boundaries
from reluscope.plots.interactive import interactive
from reluscope.plots.likeliest import likeliest
from reluscope.plots.models_in_plane import models_in_plane
from reluscope.plots.norms import norms
from reluscope.plots.places import places
from reluscope.plots.preimages import preimages
from reluscope.plots.radii import radii
from reluscope.plots.radii_by_place import radii_by_place
from reluscope.plots.regions import partition
from reluscope.plots.robustness import robustness
from reluscope.plots.samples import samples
from reluscope.plots.saving import to_png, to_svg
from reluscope.plots.segments import segment_counts
from reluscope.plots.spectra import correlation_counts, spectra, spectra_by_layer
from reluscope.plots.surroundings import surroundings
from reluscope.plots.usage import unit_usage

__all__ = [
    "boundaries",
    "bounds_and_counts",
    "class_distances",
    "class_numbers",
    "codes",
    "coefficients",
    "correlation_counts",
    "directions",
    "distance_histogram",
    "distinct_codes",
    "errors_and_counts",
    "interactive",
    "likeliest",
    "models_in_plane",
    "norms",
    "partition",
    "places",
    "preimages",
    "radii",
    "radii_by_place",
    "robustness",
    "samples",
    "segment_counts",
    "spectra",
    "spectra_by_layer",
    "surroundings",
    "to_png",
    "to_svg",
    "unit_usage",
]
