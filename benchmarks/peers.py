"""Other tools on the same networks and domains, in the same process, on one thread each, with counts compared.

regioncam, affinitree and relucent come from the package index (dependency group ``bench``). Edge subdivision has no
package: EDGE_SUBDIVISION names the folder of a clone of arturs-berzins/relu_edge_subdivision.
"""

import importlib
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp, mlp_module

TARGET = (
    "faster than every peer wherever both find the regions: 2 times regioncam from 1,000 regions on, 20 times edge "
    "subdivision in the plane, 5,000 times relucent on [2, 64, 64, 64, 1]"
)
# Where edge subdivision is looked for.
CLONE = "EDGE_SUBDIVISION"
SQUARE, SPACE = rs.Box(-1, 1, 2), rs.Space(3)
# What takes a peer longer is done once.
LONG = 10.0

Work = Callable[[], int | None]  # finds the regions, and returns how many there are if it can say so


class Task(NamedTuple):
    """All regions of a network with PyTorch's first weights on a domain."""

    sizes: tuple[int, ...]
    domain: rs.Box | rs.Space

    @property
    def hidden(self) -> list[torch.nn.Linear]:
        """The layers before units."""
        return [layer for layer in mlp_module(*self.sizes) if isinstance(layer, torch.nn.Linear)][:-1]

    def __str__(self) -> str:
        return f"{list(self.sizes)}, {self.domain.describe()}"


class Peer(NamedTuple):
    """A tool, what it needs, what it is asked, and how."""

    name: str
    is_there: Callable[[], bool]
    tasks: tuple[Task, ...]
    work: Callable[[Task], Work]


def _has(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


def _regioncam(task: Task) -> Work:
    regioncam: Any = importlib.import_module("regioncam")
    layers = [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy()) for layer in task.hidden]

    def work() -> int:
        found = regioncam.Regioncam(size=1.0)
        for weight, bias in layers:
            found.linear(weight, bias)
            found.relu()
        return found.num_faces

    return work


def _edge_subdivision(task: Task) -> Work:
    sys.path.insert(0, os.environ[CLONE])
    subdivision: Any = importlib.import_module("edge_subdivision")
    net = importlib.import_module("NN").Net(list(task.sizes[:-1]))
    for own, layer in zip(net.fcs, task.hidden, strict=True):
        own.load_state_dict(layer.state_dict())

    def work() -> int | None:
        with torch.no_grad():
            vertices, edges, _ = subdivision.skeletal_subdivision(net, device=torch.device("cpu"), verbose=False)
        # A disk has one more face than edges without vertices.
        return len(edges) - len(vertices) + 1 if task.domain.dim == 2 else None

    return work


def _affinitree(task: Task) -> Work:
    affinitree: Any = importlib.import_module("affinitree")

    def work() -> int:
        layers = affinitree.Architecture(task.sizes[0])
        for layer in task.hidden:
            weight, bias = (part.detach().numpy().astype(np.float64) for part in (layer.weight, layer.bias))
            layers.linear(affinitree.AffFunc.from_mats(weight, bias))
            layers.relu()
        with _silent():
            return affinitree.builder.from_layers(layers).num_terminals()

    return work


def _relucent(task: Task) -> Work:
    relucent: Any = importlib.import_module("relucent")

    def work() -> int:
        found = relucent.Complex(relucent.convert(mlp_module(*task.sizes)))
        options = {} if isinstance(task.domain, rs.Space) else {"cube_radius": 1.0, "cube_mode": "intersect"}
        found.bfs(start=torch.zeros(task.sizes[0]) + 0.0123, **options)
        return len(found)

    return work


@contextmanager
def _silent() -> Iterator[None]:
    """Send what a library in another language prints to nowhere."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


_PLANES = tuple(Task((2, *hidden, 1), SQUARE) for hidden in ((16, 16), (32, 32, 32), (64, 64, 64), (256, 256, 256)))
_BOXES = (
    Task((3, 32, 32, 32, 1), rs.Box(-1, 1, 3)),
    Task((3, 64, 64, 1), rs.Box(-1, 1, 3)),
    Task((4, 16, 16, 1), rs.Box(-1, 1, 4)),
    Task((6, 12, 12, 1), rs.Box(-1, 1, 6)),
    Task((8, 8, 8, 1), rs.Box(-1, 1, 8)),
)
PEERS = (
    Peer("regioncam", _has("regioncam"), (Task((2, 3, 1), SQUARE), *_PLANES), _regioncam),
    Peer("edge subdivision", lambda: CLONE in os.environ, (*_PLANES[:3], *_BOXES), _edge_subdivision),
    Peer(
        "affinitree",
        _has("affinitree"),
        (Task((2, 16, 16, 1), rs.Space(2)), Task((3, 16, 16, 1), SPACE)),
        _affinitree,
    ),
    Peer("relucent", _has("relucent"), (*_PLANES[:3], Task((3, 16, 16, 1), SPACE), *_BOXES[3:]), _relucent),
)


def run(quick: bool) -> list[Measurement]:
    """Time each peer that is there beside reluscope; both take turns."""
    torch.set_num_threads(1)
    rows = []
    for peer in PEERS:
        if not peer.is_there():
            print(f"  {peer.name} is not there: pip install --group bench, or {CLONE}=FOLDER for edge subdivision")
            continue
        rows += [_beside(peer, task) for task in (peer.tasks[:1] if quick else peer.tasks)]
    return rows


def _beside(peer: Peer, task: Task) -> Measurement:
    """Return the time of reluscope, with vertices and facets, against a peer's; their numbers of regions are equal."""
    network, work = mlp(*task.sizes), peer.work(task)
    rs.partition(network, task.domain)
    own, others = [], []
    regions, number = 0, None
    while len(own) < 5 and (not others or sum(others) < LONG):
        began = time.perf_counter()
        regions = len(rs.partition(network, task.domain))
        middle = time.perf_counter()
        number = work()
        own.append(middle - began)
        others.append(time.perf_counter() - middle)
        if number is not None and number != regions:
            break
    seconds, reference = statistics.median(own), statistics.median(others)
    there = "vertices and edges alone" if number is None else "as many" if number == regions else f"{number:,} there"
    detail = f"{regions:,} regions, {there}; {reference / seconds:,.3g} times"
    return Measurement(f"{peer.name}, {task}", seconds, seconds / reference, reference, detail=detail)
