"""reluscope.topology."""

from conformance.bad_input.calls import row
from conformance.bad_input.things import SCALAR_PART

ROWS = {
    "topology.betti": row(
        part=SCALAR_PART,
        of="sublevel",
        level=0.0,
        output=0,
        ends="ordinary",
        kinds={"of": "option", "level": "number", "output": "output_of", "ends": "option"},
    ),
    "topology.critical_points": row(part=SCALAR_PART, output=0, kinds={"output": "output_of"}),
    "topology.shortest_path": row(
        part=SCALAR_PART, start=[-1.0, 0.5], end=[1.0, 1.5], kinds={"start": "vector", "end": "vector"}
    ),
    "topology.persistence": row(part=SCALAR_PART, output=0, kinds={"output": "output_of"}),
}
