"""reluscope_studies.pictures."""

from conformance.bad_input.calls import row
from reluscope_studies import boolean

_XOR = boolean.BooleanFunction.of_formula("x1 ^ x2")

ROWS = {
    "pictures.boolean_direction": row(function=_XOR, direction=[1, 1], kinds={"direction": "direction"}),
}
