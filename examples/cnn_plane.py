"""A plane, exactly and on a grid
==============================

Compare the exact picture of a plane through three images with what a grid of pixels shows of it.

As a script::

    python examples/cnn_plane.py -o pictures
    python examples/cnn_plane.py --data mnist:FOLDER -o pictures

A small convolutional network learns digits. On the plane through three test images it is cut into its linear regions,
exactly; the usual picture of such a plane evaluates the network on a grid. A grid sees a region only if a pixel's
centre falls into it: the last table says how many regions fall between the pixels, and how far the areas are off.
"""

import argparse
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

import reluscope as rs

SIZES = {"small": (4, 4, (32, 128)), "full": (12, 20, (32, 64, 128, 256, 512))}  # channels, epochs, grids


# %%
# The data and the network
# ------------------------
# scikit-learn's digits, or MNIST from a folder of yours.


def open_parts(name: str) -> tuple[rs.datasets.Dataset, rs.datasets.Dataset]:
    """Return images to train on, and others to look at."""
    if name == "digits":
        return rs.datasets.digits("train"), rs.datasets.digits("test")
    kind, _, folder = name.partition(":")
    return rs.datasets.open_dataset(f"{kind}-train:{folder}"), rs.datasets.open_dataset(name)


def train(data: rs.datasets.Dataset, channels: int, num_epochs: int) -> nn.Module:
    """Train two convolutions with max pooling between them, and a linear layer."""
    torch.manual_seed(0)
    side = data.shape[-1] // 4
    first = [nn.Conv2d(data.shape[0], channels, 4, stride=2, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
    second = [nn.MaxPool2d(2), nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()]
    model = nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(channels * side**2, 10))
    x, y = torch.tensor(data.points, dtype=torch.float32), torch.tensor(data.labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(num_epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


# %%
# A plane through three images
# ----------------------------
# One image of each of three classes, all classified correctly.


def three_images(net: rs.Network, data: rs.datasets.Dataset) -> np.ndarray:
    """Return the first correctly classified image of each of the classes 3, 5 and 8, flattened."""
    points = data.points.reshape(len(data), -1)
    is_right = net(data.points).argmax(1).numpy() == data.labels
    return points[[int(np.flatnonzero(is_right & (data.labels == one))[0]) for one in (3, 5, 8)]]


# %%
# What a grid sees
# ----------------
# The usual picture evaluates the network at the centres of pixels, and counts the codes it meets.


def sample_grid(net: rs.Network, plane: rs.Slice, side: int) -> tuple[int, np.ndarray]:
    """Return how many regions the centres of side x side pixels fall into, and each class's share of the pixels."""
    low, high = plane.window.lo, plane.window.hi
    places = (np.arange(side) + 0.5) / side
    grid = low + (high - low) * np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
    flat = net.restrict(plane)  # the same network as a function of the two coordinates of the plane
    classes = flat(grid).argmax(1).numpy()
    return len(flat.codes(grid).unique()), np.bincount(classes, minlength=net.num_outputs) / len(grid)


def compare(net: rs.Network, part: rs.Partition, sides: tuple[int, ...]) -> list[int]:
    """Print what grids of several sizes miss, and return how many regions each of them saw."""
    exact = rs.planes.class_areas(part).by_class(net.num_outputs) / part.volumes().sum()
    num_seen = []
    for side in sides:
        seen, shares = sample_grid(net, part.domain, side)
        pixel = part.domain.window.volume() / side**2
        num_small = int((part.volumes() < pixel).sum())
        print(
            f"grid {side:>5} x {side:<5}: sees {seen:>7,} of {len(part):,} regions (LOWER), {num_small:>7,} are "
            f"smaller than a pixel, largest error of a class's share {np.abs(shares - exact).max():.5f}"
        )
        num_seen.append(seen)
    return num_seen


# %%
# The picture
# -----------
# Classes and boundaries are exact; the curve says how slowly a grid gets there.


def draw(part: rs.Partition, images: np.ndarray, sides: tuple[int, ...], num_seen: list[int]) -> Figure:
    """Draw classes, boundaries by gate, and what grids see."""
    figure = plt.figure(figsize=(16.0, 6.2), layout="constrained")
    classes, gates, grids = figure.subplots(1, 3, width_ratios=[1.0, 1.1, 0.8])
    rs.plots.partition(part, color="class", samples=images, axes=classes)
    rs.plots.boundaries(part, samples=images, axes=gates)
    grids.axhline(len(part), color="black", label=f"exact: {len(part):,}")
    grids.plot(sides, num_seen, "o-", color="#D55E00", label="seen by a grid")
    grids.set_xscale("log", base=2)
    grids.set(xlabel="pixels per side", ylabel="regions", ylim=(0.0, None))
    grids.set_box_aspect(1.0)
    grids.legend(frameon=False, loc="center right")
    return figure


# %%
# All of it
# ---------
# Numbers are printed with their claims.


def main() -> None:
    """Train, partition, compare, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits", help="digits, or mnist:FOLDER")
    parser.add_argument("--size", choices=SIZES, default="full", help="small takes a few seconds")
    parser.add_argument("-o", "--output", type=Path, default=Path("pictures"), help="folder for the picture")
    arguments = parser.parse_args(None if "__file__" in globals() else [])  # a notebook has no arguments
    channels, num_epochs, sides = SIZES[arguments.size]

    training, test = open_parts(arguments.data)
    net = rs.load(train(training, channels, num_epochs), data=test.points)
    print(f"{net}\naccuracy on {test.name}: {rs.classification.accuracy(net, test.points, test.labels)}")

    # Between each two of the images: how many regions the straight way crosses, and where the class changes.
    images = three_images(net, test)
    pairs = list(combinations(range(3), 2))
    segments = rs.partitions(net, [rs.Segment(images[a], images[b]) for a, b in pairs])
    for (a, b), part in zip(pairs, segments, strict=True):
        changes = np.sort(rs.decision_boundary(part).ends.ravel()) / part.domain.window.hi[0]
        print(f"image {a} to image {b}: {part.finding()} regions, the class changes at {changes.round(4)} of the way")

    # The whole plane.
    part = rs.partition(net, rs.Plane(*images, margin=0.25))
    print(rs.planes.plane_measures(part, rs.decision_boundary(part)))
    print(rs.planes.area_shares(part, rs.planes.class_areas(part)))
    num_seen = compare(net, part, sides)

    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / "cnn_plane.png"
    draw(part, images, sides, num_seen).savefig(target, dpi=130)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
