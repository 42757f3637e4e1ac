"""reluscope.tropical."""

from fractions import Fraction

import torch

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, SCALAR, X

_PIECES = Later(lambda: rs.tropical.pieces(SCALAR, BOX))
_RATIONAL = Later(lambda: rs.tropical.rational_form(SCALAR))
_POLYNOMIAL = Later(lambda: _RATIONAL.value.numerators[0])
_AT = [Fraction(1, 2), Fraction(1, 3)]

ROWS = {
    "tropical.MaxDifference.forward": row(
        on=Later(lambda: rs.tropical.to_module(_RATIONAL.value)), x=torch.ones(3, 2).double(), kinds={"x": "tensor"}
    ),
    "tropical.Pieces.at": row(on=_PIECES, point=_AT, kinds={"point": "rationals"}),
    "tropical.Pieces.__call__": row(on=_PIECES, x=X / 9, kinds={"x": "grid"}),
    "tropical.Pieces.to_python": row(on=_PIECES),
    "tropical.Pieces.to_latex": row(on=_PIECES),
    "tropical.TropicalPolynomial.of": row(
        functions=[(Fraction(1), Fraction(2))], kinds={"functions": "each rationals"}
    ),
    "tropical.TropicalPolynomial.plus": row(on=_POLYNOMIAL, other=_POLYNOMIAL),
    "tropical.TropicalPolynomial.times": row(on=_POLYNOMIAL, factor=Fraction(2), kinds={"factor": "rational"}),
    "tropical.TropicalPolynomial.at": row(on=_POLYNOMIAL, point=_AT, kinds={"point": "rationals"}),
    "tropical.TropicalPolynomial.__call__": row(on=_POLYNOMIAL, x=X, kinds={"x": "grid"}),
    "tropical.TropicalRational.__call__": row(on=_RATIONAL, x=X, kinds={"x": "grid"}),
    "tropical.TropicalRational.at": row(on=_RATIONAL, point=_AT, kinds={"point": "rationals"}),
    "tropical.agreement": row(network=SCALAR, function=_RATIONAL, domain=BOX),
    "tropical.from_pieces": row(table=_PIECES, kinds={"table": "ours"}),
    "tropical.newton_polygons": row(function=_RATIONAL, output=0, kinds={"output": "index"}),
    "tropical.pieces": row(network=SCALAR, domain=BOX),
    "tropical.rational_form": row(network=SCALAR),
    "tropical.round_trip": row(network=SCALAR, domain=BOX),
    "tropical.to_module": row(function=_RATIONAL),
}
