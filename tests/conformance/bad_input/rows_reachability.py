"""reluscope.reachability."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import BOX, NET

IMAGE = Later(lambda: rs.image(NET, BOX))
_POINTS = {"y": "points", "tolerance": "nonnegative"}

ROWS = {
    "reachability.Image.__getitem__": row(on=IMAGE, index=0),
    "reachability.Image.contains": row(on=IMAGE, y=np.zeros((1, 2)), kinds=_POINTS),
    "reachability.Image.count": row(on=IMAGE, y=np.zeros((1, 2)), kinds=_POINTS),
    "reachability.Image.maximum": row(on=IMAGE, direction=np.ones(2), kinds={"direction": "direction"}),
    "reachability.Image.volume": row(on=IMAGE),
}
