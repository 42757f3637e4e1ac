"""reluscope.reachability."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, FOLDER, NET, rows_of_union

IMAGE = Later(lambda: rs.image(NET, BOX))
PLANT = rs.reachability.Plant(np.eye(2), np.eye(2))
REACHED = Later(lambda: rs.reach(NET, PLANT, BOX, 1, budget=rs.Budget(regions=1)))
COVER = Later(lambda: REACHED.value[1])

ROWS = {
    **rows_of_union("reachability.Cover", COVER),
    **rows_of_union("reachability.Image", IMAGE),
    "reachability.Image.count": row(on=IMAGE, x=np.zeros((1, 2)), kinds={"x": "points", "tolerance": "nonnegative"}),
    "reachability.Image.volume": row(on=IMAGE),
    "reachability.Plant": row(
        A=np.eye(2), B=np.eye(2), c=np.ones(2), kinds={"A": "matrix", "B": "matrix", "c": "vector"}
    ),
    "reachability.ReachableSets.__getitem__": row(on=REACHED, index=0),
    "reachability.ReachableSets.load": row(
        path=Later(lambda: (REACHED.value.save(FOLDER / "s.arrow"), FOLDER / "s.arrow")[1]), kinds={"path": "read"}
    ),
    "reachability.ReachableSets.maximum": row(on=REACHED, direction=np.ones(2), kinds={"direction": "direction"}),
    "reachability.ReachableSets.save": row(on=REACHED, path=FOLDER / "sets.arrow", kinds={"path": "write"}),
    "reachability.ReachableSets.within": row(on=REACHED, target=rs.Polyhedron([[1.0, 0.0]], [0.0])),
}
