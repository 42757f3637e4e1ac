"""A network in training
=====================

Watch the linear regions of a small network while it learns to tell two spirals apart.

As a script::

    python examples/mlp_in_training.py -o pictures

The model is traced once. At logarithmically spaced steps its current weights are put into that trace, and the whole
square [-1, 1]^2 is partitioned: every number in the table is about all points of the square, none is sampled.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from torch import nn

import reluscope as rs

SQUARE = rs.Box(-1.0, 1.0, dim=2)
SIZES = {"small": (12, 64), "full": (32, 4096)}  # units per layer, steps of training
LAYER_COLORS = ("#0072B2", "#E69F00")
CLASS_COLORS = ("#009E73", "#CC79A7")


# %%
# What to look at
# ---------------
# After some steps the square is partitioned, and what can be counted there is counted.


@dataclass(frozen=True)
class Snapshot:
    """The network after some steps of training."""

    step: int
    loss: float
    part: rs.Partition
    boundary: rs.DecisionBoundary
    pieces_by_gate: np.ndarray  # pieces of boundary between regions, by the gate that bends there
    num_dead: int  # units that are zero on the whole square
    num_codes: rs.Finding  # regions that hold a data point


# %%
# The data
# --------
# Two spirals that wind around each other: no straight line helps.


def two_spirals(num_points: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return points of two interleaved spirals, and which of the two each belongs to."""
    generator = np.random.default_rng(seed)
    labels = np.arange(num_points) % 2
    turn = np.sqrt(generator.uniform(0.02, 1.0, num_points))
    angle = 3.0 * np.pi * turn + np.pi * labels
    points = 0.9 * turn[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += generator.normal(0.0, 0.01, points.shape)
    return torch.tensor(points, dtype=torch.float32), torch.tensor(labels, dtype=torch.float32)


# %%
# One look
# --------
# `rs.partition` finds every region on the square; units that are zero on all of them are dead for certain.


def look(net: rs.Network, points: torch.Tensor, step: int, loss: float) -> Snapshot:
    """Partition the square, and measure what there is to follow."""
    part = rs.partition(net, SQUARE)
    sampled = rs.codespace.sample_codes(net, points)
    never_active = (part.codes.to_array() == 0).all(axis=0)
    return Snapshot(
        step=step,
        loss=loss,
        part=part,
        boundary=rs.decision_boundary(part),
        pieces_by_gate=np.bincount(part.facets.gates, minlength=len(net.gates)),
        num_dead=int(never_active.sum()),
        num_codes=rs.codespace.distinct_codes(sampled).summary.finding("num_distinct_codes"),
    )


# %%
# Training
# --------
# The model is traced once, before training. `with_parameters` puts its present weights into that trace.


def train(width: int, num_steps: int) -> tuple[list[Snapshot], torch.Tensor, torch.Tensor]:
    """Train a network of two hidden layers, and look at it after 0, 1, 2, 4, 8, ... steps."""
    torch.manual_seed(0)
    points, labels = two_spirals(400)
    model = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    traced = rs.load(model, data=points)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    snapshots = []
    for step in range(num_steps + 1):
        loss = nn.functional.binary_cross_entropy_with_logits(model(points)[:, 0], labels)
        if step & (step - 1) == 0:
            net = traced.with_parameters(model.state_dict())  # the same trace, other weights
            snapshots.append(look(net, points, step, loss.item()))
            report(snapshots[-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return snapshots, points, labels


# %%
# What is said and drawn
# ----------------------
# A row for every look, and the regions at four of them.


def report(snapshot: Snapshot) -> None:
    """Print one row of the table."""
    pieces = " + ".join(f"{number:,}" for number in snapshot.pieces_by_gate)
    print(
        f"step {snapshot.step:>5,}: loss {snapshot.loss:.3f}, regions {snapshot.part.finding()!s:>13}, with data in "
        f"{snapshot.num_codes!s:>11}, boundary pieces {pieces}, decision boundary {snapshot.boundary.length:6.3f}, "
        f"dead units {snapshot.num_dead}"
    )


def draw(snapshots: list[Snapshot], points: torch.Tensor, labels: torch.Tensor) -> Figure:
    """Draw the regions at four of the steps, and below them how the numbers change."""
    figure = plt.figure(figsize=(14.0, 7.0), layout="constrained")
    panels = figure.subplots(2, 4, height_ratios=[1.6, 1.0])
    for axes, index in zip(panels[0], np.linspace(0, len(snapshots) - 1, 4).round().astype(int), strict=True):
        one = snapshots[index]
        pieces = one.part.vertices[one.part.facets.vertices]
        for gate, color in enumerate(LAYER_COLORS):
            axes.add_collection(LineCollection(pieces[one.part.facets.gates == gate], colors=color, linewidths=0.7))
        for group, color in enumerate(CLASS_COLORS):
            axes.plot(*points[labels == group].T, "o", color=color, markersize=2.6, markeredgecolor="none")
        axes.add_collection(LineCollection(one.boundary.ends, colors="black", linewidths=2.2))
        axes.set(title=f"step {one.step:,}: {len(one.part):,} regions", aspect="equal")
        axes.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[-1, 0, 1], yticks=[-1, 0, 1])

    steps = [one.step for one in snapshots]
    regions, pieces, length, dead = panels[1]
    regions.plot(steps, [len(one.part) for one in snapshots], "o-", color="black", label="in the square")
    regions.plot(steps, [one.num_codes.value for one in snapshots], "s--", color="#8C8C8C", label="that hold data")
    regions.set_title("regions")
    for gate, color in enumerate(LAYER_COLORS):
        numbers = [one.pieces_by_gate[gate] for one in snapshots]
        pieces.plot(steps, numbers, "os"[gate] + "-", color=color, label=f"where layer {gate + 1} bends")
    pieces.set_title("pieces of boundary between regions")
    length.plot(steps, [one.boundary.length for one in snapshots], "o-", color="black")
    length.set_title("length of the decision boundary")
    dead.plot(steps, [one.num_dead for one in snapshots], "o-", color="black")
    dead.set_title("dead units: zero on all of the square")
    for axes in panels[1]:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=0.0)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("step of training")
    regions.legend(frameon=False, fontsize=8.5)
    pieces.legend(frameon=False, fontsize=8.5)
    return figure


# %%
# All of it
# ---------
# Numbers are printed with their claims.


def main() -> None:
    """Train, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="full", help="small takes a few seconds")
    parser.add_argument("-o", "--output", type=Path, default=Path("pictures"), help="folder for the picture")
    arguments = parser.parse_args(None if "__file__" in globals() else [])  # a notebook has no arguments
    snapshots, points, labels = train(*SIZES[arguments.size])
    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / "mlp_in_training.png"
    draw(snapshots, points, labels).savefig(target, dpi=130)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
