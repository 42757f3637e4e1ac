"""Kinds of preimages of a wide first layer on MNIST, and of a convolution, against one linear program per sample."""

import time
from pathlib import Path

import numpy as np
import scipy.optimize
import torch
from torch import nn

import reluscope as rs
from benchmarks.measure import Measurement
from reluscope.analyses.preimages import Decider, GateLayer, PreimageKind, Preimages, read_layer
from reluscope.datasets.mnist import mnist

TARGET = (
    "10,000 MNIST samples of 784-3500 within 15 minutes, each with a certificate; at least 20 times faster than "
    "scipy's linprog. Processor time of one thread, measured beside other work: trust the ratios"
)
SHARED = Path(__file__).parents[2] / "shared"
EPOCHS, PENALTY = 2, 3e-4


def run(quick: bool) -> list[Measurement]:
    """Classify test images by a layer as it is trained, and by one trained to keep fewer units on."""
    torch.set_num_threads(1)
    rows = [_convolution(2 if quick else 20)]
    if not (SHARED / "data" / "mnist").is_dir():
        return rows
    part = mnist(SHARED / "data" / "mnist", "test")
    images = np.asarray(part.points, dtype=float).reshape(-1, 784)[: 20 if quick else None]
    number = 0 if quick else 2
    rows.append(_compared("784-3500 on MNIST", _first_layer(quick, 0.0), images, number))
    case = "784-3500 on MNIST, penalty on activations"
    rows.append(_compared(case, _first_layer(quick, PENALTY), images[:1000], number))
    return rows


def _compared(case: str, layer: GateLayer, images: np.ndarray, number: int) -> Measurement:
    """Time all images, and a linear program built from scratch for some, in processor time."""
    began = time.process_time()
    found = rs.preimages.classify_at(layer, images)
    mine = (time.process_time() - began) / len(images)
    began = time.process_time()
    for row in range(number):
        _by_linprog(layer, images[row])
    other = (time.process_time() - began) / number if number else None
    detail = f"each of {len(images):,} in processor time; {_said(found)}"
    return Measurement(case, mine, ratio=mine / other if other else None, reference=other, detail=detail)


def _said(found: Preimages) -> str:
    kinds = ", ".join(f"{found.count(kind)} {kind.name.lower()}" for kind in PreimageKind if int(found.count(kind)))
    ways = ", ".join(f"{found.decided_by(way):,} by {way.name.lower()}" for way in Decider if found.decided_by(way))
    low, middle, high = np.quantile(found.num_equations, [0, 0.5, 1])
    return f"{kinds}; {ways}; {low:,.0f} to {high:,.0f} positive outputs, median {middle:,.0f}"


def _by_linprog(layer: GateLayer, image: np.ndarray) -> float:
    """Maximise the descent of the inactive rows over directions that the active rows do not see."""
    is_on = layer.preactivations(image[None])[0] > 0
    weight = np.asarray(layer.weight)
    active, inactive = weight[is_on], weight[~is_on]
    found = scipy.optimize.linprog(
        inactive.sum(axis=0), A_ub=inactive, b_ub=np.zeros(len(inactive)),
        A_eq=active, b_eq=np.zeros(len(active)), bounds=(-1, 1),
    )  # fmt: skip
    return float(found.fun)


def _convolution(number: int) -> Measurement:
    torch.manual_seed(0)
    net = rs.load(nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU()), input_shape=(3, 32, 32))
    layer = read_layer(net)
    x = np.random.default_rng(0).uniform(size=(number, 3072))
    began = time.process_time()
    found = rs.preimages.classify_at(layer, x)
    spent = (time.process_time() - began) / number
    return Measurement("conv 3x32x32 to 32x32x32", spent, detail=f"each of {number}, sparse; {_said(found)}")


def _first_layer(quick: bool, penalty: float) -> GateLayer:
    """Return the first layer of 784-3500-784-10 on MNIST (Adam, rate 0.001, batch 1000, seed 0), two epochs.

    The penalty is on the sum of the first layer's activations.
    """
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 3500), nn.ReLU(), nn.Linear(3500, 784), nn.ReLU(), nn.Linear(784, 10))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    train = mnist(SHARED / "data" / "mnist", "train")
    points = torch.tensor(np.asarray(train.points), dtype=torch.float32).reshape(-1, 784)
    labels = torch.tensor(np.asarray(train.labels)).long()
    for _ in range(0 if quick else EPOCHS):
        for batch in torch.randperm(len(points)).split(1000):
            optimizer.zero_grad()
            first = model[:2](points[batch])
            loss = nn.functional.cross_entropy(model[2:](first), labels[batch])
            (loss + penalty * first.sum(dim=1).mean()).backward()
            optimizer.step()
    first = model[0]
    assert isinstance(first, nn.Linear)
    return read_layer((first.weight.detach().double().numpy(), first.bias.detach().double().numpy()))
