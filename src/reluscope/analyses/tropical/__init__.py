"""Networks as tropical rational functions and as explicit tables of pieces, in rational arithmetic; and back."""

from reluscope.analyses.tropical.agreement import agreement, round_trip
from reluscope.analyses.tropical.cells import Cell
from reluscope.analyses.tropical.from_network import rational_form
from reluscope.analyses.tropical.from_pieces import from_pieces
from reluscope.analyses.tropical.pieces import Pieces, pieces
from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.analyses.tropical.to_module import MaxDifference, to_module

__all__ = [
    "Cell",
    "MaxDifference",
    "Pieces",
    "TropicalPolynomial",
    "TropicalRational",
    "agreement",
    "from_pieces",
    "pieces",
    "rational_form",
    "round_trip",
    "to_module",
]
