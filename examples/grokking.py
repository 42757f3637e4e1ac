"""A network that groks
====================

Watch local complexity fall long after a network has learned its data, and robustness come with it.

As a script::

    python examples/grokking.py -o pictures

A perceptron with large first weights learns 150 handwritten digits by heart in fifty steps, and in a hundred all that
it will ever know about others. Ten thousand steps later, while the loss has long been next to nothing, it becomes
hard to fool. Humayun, Balestriero and Baraniuk ("Deep networks always grok and here is why", 2024) call this delayed
robustness, and explain it by the linear regions, which leave the neighbourhoods of the data. Three measures of that
are drawn here over one run, each with its claim.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

import reluscope as rs

SIZES = {"small": (24, 200, 12), "full": (100, 20_000, 28)}  # units per layer, steps of training, looks
SCALE = 4.0  # of the first weights: the larger, the longer it takes to grok
RADIUS = 0.1  # how far around a point we look; pixels are from 0 to 1
STEP, NUM_ATTACKS = 0.02, 5  # of the attack: so far in each pixel, so often
NUM_POINTS = 40  # of each kind that complexity is measured around
COLORS = {"train": "#0072B2", "test": "#E69F00", "random": "#7F7F7F", "attacked": "#CC79A7"}


# %%
# The data
# --------
# Few images to learn, many to test on, and noise for comparison.


def images() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Return pixels and labels of 150 digits to learn, and of those to test on."""
    found = {}
    for split, number in (("train", 150), ("test", 360)):
        data = rs.datasets.digits(split)
        points = torch.tensor(data.points.reshape(len(data.points), -1), dtype=torch.float32)
        found[split] = points[:number], torch.tensor(data.labels)[:number]
    return found


# %%
# One look
# --------
# Accuracies, and local complexity by three definitions: units that change their piece at the vertices of a
# cross-polytope (around all kinds of points), regions in a square of a random plane, and the density of bends.


@dataclass(frozen=True)
class Look:
    """What is seen after some steps of training."""

    step: int
    accuracies: dict[str, float]
    crossing: dict[str, rs.Finding]
    regions: float
    density: rs.Finding


def look(step: int, model: nn.Module, net: rs.Network, data: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> Look:
    """Measure the network as it is."""
    points = {name: x[:NUM_POINTS].double().numpy() for name, (x, _) in data.items()}
    points["random"] = np.random.default_rng(0).uniform(size=(NUM_POINTS, 64))
    crossing = {}
    for name, x in points.items():
        found = rs.sensitivity.local_complexity(net, x, RADIUS, definition="cross_polytope")
        crossing[name] = found.mean("cross_polytope_complexity")
    with torch.no_grad():
        accuracies = {name: share_correct(model, x, y) for name, (x, y) in data.items()}
    accuracies["attacked"] = share_correct(model, attacked(model, *data["test"]), data["test"][1])
    density = rs.sensitivity.local_complexity(net, points["test"], definition="kink_density").mean("kink_density")
    return Look(step, accuracies, crossing, regions_in_squares(net, points["test"][:10]), density)


def share_correct(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """Return the share of points whose class is their label."""
    return (model(x).argmax(dim=1) == y).float().mean().item()


def attacked(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return images that are changed a little against the network, along the signs of the gradient of the loss."""
    for _ in range(NUM_ATTACKS):
        x = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(model(x), y), x)
        x = (x + STEP * gradient.sign()).detach()
    return x


def regions_in_squares(net: rs.Network, points: np.ndarray) -> float:
    """Return the mean number of regions in a square around each point, in a random plane, all exact."""
    generator, counts = np.random.default_rng(0), []
    for point in points:
        basis = np.linalg.qr(generator.normal(size=(64, 2)))[0].T
        counts.append(rs.count(net, rs.Slice(point, basis, rs.Box(-1, 1, dim=2))).value)
    return float(np.mean(counts))


# %%
# Training
# --------
# With large first weights the network can learn its data without learning what they have in common.


def train(width: int, num_steps: int, num_looks: int) -> list[Look]:
    """Train a network of three hidden layers, and look at it after steps that are evenly apart on a scale of logs."""
    torch.manual_seed(0)
    data = images()
    x, y = data["train"]
    layers = [nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= SCALE
    traced = rs.load(model, 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    wanted = {0, *np.geomspace(1, num_steps, num_looks).astype(int).tolist()}
    looks = []
    for step in range(num_steps + 1):
        if step in wanted:
            looks.append(look(step, model, traced.with_parameters(model.state_dict()), data))
            report(looks[-1])
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return looks


# %%
# What is said and drawn
# ----------------------


def report(one: Look) -> None:
    """Print one row of the table."""
    accuracies = ", ".join(f"{name} {share:4.0%}" for name, share in one.accuracies.items())
    units = ", ".join(f"{name} {found}" for name, found in one.crossing.items())
    print(
        f"step {one.step:>6,}: {accuracies}; units that cross: {units}; regions {one.regions:.1f}; bends {one.density}",
        flush=True,
    )


def draw(looks: list[Look]) -> Figure:
    """Draw accuracies and the three measures over the steps."""
    figure = plt.figure(figsize=(11.0, 7.2), layout="constrained")
    right, crossing, regions, density = figure.subplots(2, 2, sharex=True).ravel()
    steps = [one.step for one in looks]
    said = {"train": "training data", "test": "test data", "attacked": "test data, attacked", "random": "noise"}
    for name, style in (("train", "-"), ("test", "--"), ("attacked", ":")):
        right.plot(steps, [one.accuracies[name] for one in looks], style, color=COLORS[name], label=said[name], lw=2)
    right.set(title="accuracy", ylim=(-0.02, 1.05))
    for name, style in (("train", "-"), ("test", "--"), ("random", "-.")):
        values = [one.crossing[name].value for one in looks]
        crossing.plot(steps, values, style, color=COLORS[name], label=f"around {said[name]}", lw=2)
    crossing.set_title(f"units that cross a cross-polytope of radius {RADIUS}")
    regions.plot(steps, [one.regions for one in looks], "--", color=COLORS["test"], label="around test data", lw=2)
    regions.set_title("regions in a square of half-width 1 of a random plane")
    density.plot(steps, [one.density.value for one in looks], "--", color=COLORS["test"], label="at test data", lw=2)
    density.set_title("density of bends, by gradients")
    for axes in (right, crossing, regions, density):
        axes.set_xscale("symlog", linthresh=1.0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
        axes.legend(frameon=False, fontsize=9)
        if axes is not right:
            axes.set_ylim(bottom=0.0)
    regions.set_xlabel("step of training")
    density.set_xlabel("step of training")
    return figure


# %%
# All of it
# ---------
# Numbers are printed with their claims.


def main() -> None:
    """Train, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="full", help="small takes a few seconds, and groks nothing")
    parser.add_argument("-o", "--output", type=Path, default=Path("pictures"), help="folder for the picture")
    arguments = parser.parse_args(None if "__file__" in globals() else [])  # a notebook has no arguments
    looks = train(*SIZES[arguments.size])
    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / "grokking.png"
    draw(looks).savefig(target, dpi=110)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
