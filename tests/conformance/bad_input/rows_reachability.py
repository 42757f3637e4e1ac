"""reluscope.reachability."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, FOLDER, NET

IMAGE = Later(lambda: rs.image(NET, BOX))
PLANT = rs.reachability.Plant(np.eye(2), np.eye(2))
REACHED = Later(lambda: rs.reach(NET, PLANT, BOX, 1, budget=rs.Budget(regions=1)))
COVER = Later(lambda: REACHED.value[1])
_POINTS = {"y": "points", "tolerance": "nonnegative"}

ROWS = {
    "reachability.Cover.__getitem__": row(on=COVER, index=0),
    "reachability.Cover.contains": row(on=COVER, y=np.zeros((1, 2)), kinds=_POINTS),
    "reachability.Cover.maximum": row(on=COVER, direction=np.ones(2), kinds={"direction": "direction"}),
    "reachability.Image.__getitem__": row(on=IMAGE, index=0),
    "reachability.Image.contains": row(on=IMAGE, y=np.zeros((1, 2)), kinds=_POINTS),
    "reachability.Image.count": row(on=IMAGE, y=np.zeros((1, 2)), kinds=_POINTS),
    "reachability.Image.load": row(
        path=Later(lambda: (IMAGE.value.save(FOLDER / "i.arrow"), FOLDER / "i.arrow")[1]), kinds={"path": "read"}
    ),
    "reachability.Image.maximum": row(on=IMAGE, direction=np.ones(2), kinds={"direction": "direction"}),
    "reachability.Image.save": row(on=IMAGE, path=FOLDER / "image.arrow", kinds={"path": "write"}),
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
