"""Networks as tropical rational functions and as tables of pieces, in rational arithmetic, and back to networks."""

from reluscope.analyses.tropical.from_network import rational_form
from reluscope.analyses.tropical.from_pieces import from_pieces
from reluscope.analyses.tropical.interpolation import Interpolant, error_upper, errors_at, interpolate, least_squares
from reluscope.analyses.tropical.newton import NewtonPolygon, NewtonPolygons, newton_polygons
from reluscope.analyses.tropical.piece_table import Pieces, pieces
from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.proved_agreement import agreement, round_trip
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.analyses.tropical.rational_regions import ExactCell
from reluscope.analyses.tropical.to_module import MaxDifference, to_module

__all__ = [
    "ExactCell",
    "Interpolant",
    "MaxDifference",
    "NewtonPolygon",
    "NewtonPolygons",
    "Pieces",
    "TropicalPolynomial",
    "TropicalRational",
    "agreement",
    "error_upper",
    "errors_at",
    "from_pieces",
    "interpolate",
    "least_squares",
    "newton_polygons",
    "pieces",
    "rational_form",
    "round_trip",
    "to_module",
]
