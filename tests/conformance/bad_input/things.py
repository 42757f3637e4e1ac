"""Small things that the valid calls are made of: one network of two inputs, its samples, and what is made of them."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

import reluscope as rs
from conformance.bad_input.calls import Later, row

DRAW = np.random.default_rng(16)


def dyadic(*shape):
    return np.round(DRAW.normal(size=shape) * 4) / 4


LAYERS = [(dyadic(4, 2), dyadic(4)), (dyadic(3, 4), dyadic(3)), (dyadic(2, 3), dyadic(2))]
NET = rs.load(LAYERS)
OTHER = rs.load([(dyadic(4, 2), dyadic(4)), (dyadic(2, 4), dyadic(2))])
SCALAR = rs.load([(dyadic(3, 2), dyadic(3)), (dyadic(1, 3), dyadic(1))])
X = dyadic(6, 2) + 0.01
Y = np.array([0, 1, 0, 1, 1, 0])
BOX = rs.Box(-2, 2, dim=2)
PLANE = rs.Plane([-2, -2], [2, -2], [-2, 2])
FOLDER = Path(tempfile.mkdtemp(prefix="reluscope-conformance-"))


def module():
    """Return a small classifier in torch."""
    torch.manual_seed(16)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))


MODEL = module()
PART = Later(lambda: rs.partition(NET, BOX))
STREAMED = Later(lambda: rs.stream(NET, BOX, FOLDER / "streamed.parquet"))
FLAT = Later(lambda: rs.partition(NET, PLANE))
LINE = Later(lambda: rs.partition(NET, rs.Segment([-2, -2], [2, 2])))
SCALAR_PART = Later(lambda: rs.partition(SCALAR, BOX))
REGION = Later(lambda: rs.region(NET, X[0]))
CODES = NET.codes(X)
SAMPLED = Later(lambda: rs.codespace.sample_codes(NET, X))
FIGURE = Figure()


def quick(parameters):
    """Return an optimizer."""
    return torch.optim.Adam(parameters, lr=0.01)


def rows_of_union(name, union):
    """Return the rows of a union of polyhedra with two coordinates."""
    file, saved = FOLDER / f"{name}.arrow", FOLDER / f"{name}.again.arrow"
    return {
        f"{name}.__getitem__": row(on=union, index=0),
        f"{name}.contains": row(on=union, x=np.zeros((1, 2)), kinds={"x": "points", "tolerance": "nonnegative"}),
        f"{name}.load": row(path=Later(lambda: (union.value.save(file), file)[1]), kinds={"path": "read"}),
        f"{name}.maximum": row(on=union, direction=np.ones(2), kinds={"direction": "direction"}),
        f"{name}.save": row(on=union, path=saved, kinds={"path": "write"}),
    }
