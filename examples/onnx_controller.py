"""A controller, checked on every state
====================================

Check a neural controller, read from an ONNX file, on every point of its state space.

As a script::

    python examples/onnx_controller.py -o pictures
    python examples/onnx_controller.py --controller yours.onnx -o pictures

The plant is a cart on a rail, x[t+1] = A x[t] + B u[t] with position and velocity x and a force u of at most 1. The
controller is a ReLU network, trained here to imitate a nearly time-optimal law; another network from two states to one
force can be given in its place. On every linear region it is u = K x + k, so the closed loop there is an affine map:
where it rests, and whether it returns after a push, are questions of linear algebra, one region at a time.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from scipy.linalg import solve_discrete_lyapunov
from torch import nn

import reluscope as rs

STEP = 0.1  # seconds
A = np.array([[1.0, STEP], [0.0, 1.0]])
B = np.array([[STEP**2 / 2], [STEP]])
STATES = rs.Box([-1.0, -1.0], [1.0, 1.0])
SIZES = {"small": (6, 300), "full": (24, 3000)}  # units per layer, steps of training


# %%
# The law and the network
# -----------------------
# A network learns to imitate a law, and is written to an ONNX file; all that follows reads the file alone.


def near_time_optimal(x: torch.Tensor) -> torch.Tensor:
    """Return the force of a law that brakes along the parabola from which full braking ends at rest."""
    position, velocity = x[:, :1], x[:, 1:]
    return (-4.0 * (position + 0.5 * velocity * velocity.abs()) - 2.0 * velocity).clamp(-1.0, 1.0)


def write_controller(path: Path, width: int, num_steps: int) -> None:
    """Train a ReLU network with a clamp at its end to imitate the law, and export it."""
    torch.manual_seed(0)
    hidden = [nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    model = nn.Sequential(*hidden, nn.Linear(width, 1), nn.Hardtanh())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, num_steps)
    for _ in range(num_steps):
        x = 2.4 * torch.rand(512, 2) - 1.2
        loss = nn.functional.mse_loss(model(x), near_time_optimal(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    torch.onnx.export(model.eval(), (torch.zeros(1, 2),), path, external_data=False, verbose=False)
    print(f"controller: {path}, mean squared error {loss.item():.2g} against the law")


# %%
# Where the loop rests
# --------------------
# One linear system per region; its solution counts if it lies within.


def rest_states(part: rs.Partition, K: np.ndarray, k: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return all isolated states in which the closed loop rests, each with its region.

    On region r the loop is x -> (A + B K[r]) x + B k[r]; its fixed point counts if it lies in that region. A state on
    the boundary between two regions is found in both.
    """
    found = []
    for row in range(len(part)):
        pull = np.eye(2) - A - B @ K[row]
        if abs(np.linalg.det(pull)) > 1e-12:
            rest = np.linalg.solve(pull, B @ k[row])
            if part[row].polyhedron.contains(rest, tolerance=1e-9):
                found.append((row, rest))
    return found


# %%
# What stays near
# ---------------
# An ellipse around a stable rest state, as large as its region allows, which no run leaves.


def safe_ellipse(region: rs.Polyhedron, rest: np.ndarray, loop: np.ndarray) -> tuple[np.ndarray, float]:
    """Return P and the largest c for which {(x - rest)' P (x - rest) <= c} stays in the region.

    P solves loop' P loop - P + I = 0, so the form decreases with every step: what starts in this ellipse never leaves
    it, and comes to rest.
    """
    P = solve_discrete_lyapunov(loop.T, np.eye(2))
    slack = region.b - region.A @ rest
    reach = np.einsum("hi,ij,hj->h", region.A, np.linalg.inv(P), region.A)
    return P, float((slack**2 / reach).min())


# %%
# Where a run can be
# ------------------
# All states after each step from a box of first ones, exactly: polygons that no run leaves.


def reachable(net: rs.Network, num_steps: int = 12) -> rs.reachability.ReachableSets:
    """Return the states after each step, from all that start between 0.4 and 0.6 and nearly at rest."""
    return rs.reach(net, rs.reachability.Plant(A, B), rs.Box([0.4, -0.1], [0.6, 0.1]), num_steps)


# %%
# Runs, and the picture
# ---------------------
# Some runs of the loop, over the force on every region.


def simulate(net: rs.Network, start: np.ndarray, num_steps: int = 120) -> np.ndarray:
    """Return the states of the closed loop from given ones, (num_steps + 1, s, 2)."""
    states = [start]
    for _ in range(num_steps):
        states.append(states[-1] @ A.T + net(states[-1]).reshape(-1, 1).numpy() @ B.T)
    return np.array(states)


def draw(part: rs.Partition, force: np.ndarray, ellipses: list[tuple], paths: np.ndarray) -> Figure:
    """Draw the force over the state space with some runs of the loop, and the regions around the stable rest states."""
    figure = plt.figure(figsize=(12.4, 5.2), layout="constrained")
    whole, near = figure.subplots(1, 2)
    rs.plots.partition(part, color=force, label="force in the middle of each region", axes=whole)
    whole.plot(paths[:, :, 0], paths[:, :, 1], color="white", linewidth=2.6)
    whole.plot(paths[:, :, 0], paths[:, :, 1], color="black", linewidth=1.2)
    whole.plot(*paths[0].T, "o", color="black", markeredgecolor="white")
    whole.set_title(f"{len(part):,} linear regions, {paths.shape[1]} runs of the loop")

    rs.plots.partition(part, color=force, label="force in the middle of each region", axes=near)
    corners = [part[row].vertices for row, *_ in ellipses]
    for (_, rest, P, level), polygon in zip(ellipses, corners, strict=True):
        near.fill(*polygon.T, facecolor="none", edgecolor="black", linewidth=2.2)
        sizes, axes = np.linalg.eigh(P / level)
        angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
        width, height = 2.0 / np.sqrt(sizes)
        near.add_patch(Ellipse(rest, width, height, angle=angle, facecolor="#ffffffa0", edgecolor="black"))
        near.plot(*rest, "k+", markersize=10)
    if corners:
        everything = np.concatenate(corners)
        border = 0.2 * np.ptp(everything, axis=0).max()
        low, high = np.maximum(everything.min(0) - border, STATES.lo), np.minimum(everything.max(0) + border, STATES.hi)
        near.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="auto")
    near.set_title("region of the rest state, and an ellipse that no run leaves")
    for axes in (whole, near):
        axes.set(xlabel="position", ylabel="velocity")
    return figure


# %%
# All of it
# ---------
# Numbers are printed with their claims.


def main() -> None:
    """Load, partition, list the gains, check the rest states, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--controller", type=Path, help="an ONNX file with two inputs and one output")
    parser.add_argument("--size", choices=SIZES, default="full", help="small takes a few seconds")
    parser.add_argument("-o", "--output", type=Path, default=Path("pictures"), help="folder for file and picture")
    arguments = parser.parse_args(None if "__file__" in globals() else [])  # a notebook has no arguments
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.controller
    if path is None:
        path = arguments.output / "controller.onnx"
        write_controller(path, *SIZES[arguments.size])

    net = rs.load(path)
    print(f"loaded: {net}, compared with {net.verification.reference}")
    part = rs.partition(net, STATES)
    print(f"linear regions of the state space: {part.finding()}")

    # The control law, region by region: u = K x + k.
    K, k = part.maps.weight.numpy(), part.maps.bias.numpy()
    gains = np.unique(np.round(np.concatenate([K[:, 0], k], axis=1), 9), axis=0)
    saturated = np.abs(K[:, 0]).max(axis=1) == 0.0
    share = part.volumes()[saturated].sum() / STATES.volume()
    print(
        f"different control laws: {len(gains):,}; saturated in {saturated.sum():,} regions, {share:.2%} of all states"
    )

    # A loop that is only almost right at the origin rests beside it: find out where, and whether it comes back.
    rests = rest_states(part, K, k)
    print(f"rest states: {len(rests)}")
    ellipses = []
    for row, rest in rests:
        loop = A + B @ K[row]
        radius = float(np.abs(np.linalg.eigvals(loop)).max())
        print(f"  {rest.round(4)}, u = {K[row, 0, 0]:.3f} x0 {K[row, 0, 1]:+.3f} x1 {k[row, 0]:+.4f}, region {row}")
        print(f"  spectral radius {radius:.4f}: {'stable' if radius < 1.0 else 'not stable'}")
        if radius < 1.0:
            ellipses.append((row, rest, *safe_ellipse(part[row].polyhedron, rest, loop)))
    force = net(part.witnesses).flatten().numpy()
    paths = simulate(net, start=np.random.default_rng(0).uniform(-0.7, 0.7, (10, 2)))
    target = arguments.output / "onnx_controller.png"
    draw(part, force, ellipses, paths).savefig(target, dpi=130)
    print(f"picture: {target}")

    # Not some runs but all of them: the rail ends at 1, and no run from the box comes near it.
    sets = reachable(net)
    print(f"after {len(sets) - 1} steps: {sets[-1]}")
    print(f"position at most {max(found.value for found in sets.maximum([1.0, 0.0])):.3f} in any step")
    rail = rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0])
    print(f"on the rail after every step: {all(sets.within(rail))}")
    target = arguments.output / "onnx_controller_reach.png"
    inside = simulate(net, np.random.default_rng(1).uniform(sets.ends[0, 0], sets.ends[0, 1], (12, 2)), len(sets) - 1)
    rs.plots.reach(sets, runs=inside).savefig(target, dpi=130)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
