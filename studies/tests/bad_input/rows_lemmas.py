"""reluscope_studies.lemmas."""

from conformance.bad_input.calls import row
from conformance.bad_input.things import DRAW

_MATRIX = DRAW.normal(size=(4, 3))
_KINDS = {"matrix": "array", "removed": "places", "constants": "list"}

ROWS = {
    "lemmas.correlation_counts": row(matrix=_MATRIX, removed=[0], constants=[0.5, 1.0], kinds=_KINDS),
    "lemmas.lemma8": row(matrix=_MATRIX, removed=[0], kinds=_KINDS),
    "lemmas.lemma9": row(matrix=_MATRIX, removed=[0], kinds=_KINDS),
}
