"""Networks as tropical rational functions and as tables of pieces, in rational arithmetic, and back to networks."""

from typing import NoReturn

from reluscope.analyses.tropical.from_network import rational_form
from reluscope.analyses.tropical.from_pieces import from_pieces
from reluscope.analyses.tropical.newton import newton_polygons
from reluscope.analyses.tropical.piece_table import pieces
from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.proved_agreement import agreement, round_trip
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.analyses.tropical.to_module import to_module
from reluscope.moved_names import refuse

__all__ = [
    "TropicalPolynomial",
    "TropicalRational",
    "agreement",
    "from_pieces",
    "newton_polygons",
    "pieces",
    "rational_form",
    "round_trip",
    "to_module",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.tropical", name)
