"""Train the signed distance function that examples of level sets look at, and write its weights into the package.

    python scripts/train_demo_surface.py

The shape is analytic: a ring, and a ball that melts into one side of it (the smooth minimum of their distances). The
network has eight layers of 32 ReLU units. Some minutes on one core; deterministic on one machine, other versions of
torch may end in other weights. The file's metadata say how far the network is from the distance, on average, near the
surface.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from reluscope.datasets import demo_surface

STEPS, BATCH = 6000, 4096
# Distances count up to this far from the surface.
NEAR = 0.2


def distance(x: Tensor) -> Tensor:
    """Return the signed distance from the shape, negative inside; between the parts as good as."""
    around = torch.linalg.vector_norm(x[:, :2], dim=1) - 0.55
    ring = torch.sqrt(around**2 + x[:, 2] ** 2) - 0.18
    ball = torch.linalg.vector_norm(x - torch.tensor([0.45, 0.0, 0.25]), dim=1) - 0.35
    blend = 0.1
    share = (0.5 + 0.5 * (ball - ring) / blend).clamp(0, 1)
    return ball * (1 - share) + ring * share - blend * share * (1 - share)


def points(number: int) -> Tensor:
    """Return points of the box, most of them near the surface."""
    x = 2 * torch.rand(8 * number, 3) - 1
    chance = torch.exp(-distance(x).abs() / 0.05) + 0.02
    return x[torch.multinomial(chance, number)]


def main() -> None:
    """Train, measure, and write the weights."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = demo_surface.surface_module()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        x = points(BATCH)
        optimizer.zero_grad()
        error = model(x)[:, 0].clamp(-NEAR, NEAR) - distance(x).clamp(-NEAR, NEAR)
        error.abs().mean().backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        x = points(100_000)
        found, true = model(x)[:, 0], distance(x)
        near = true.abs() < NEAR / 4
        error = float((found - true)[near].abs().mean())
    weights = {name: tensor.detach().contiguous() for name, tensor in model.state_dict().items()}
    path = Path(demo_surface.__file__).with_name(demo_surface.WEIGHTS)
    save_file(weights, path, {"torch": torch.__version__, "mean_error": f"{error:.2e}", "steps": str(STEPS)})
    print(f"{path.name}: {path.stat().st_size:,} bytes, mean error near the surface {error:.2e}")  # noqa: T201


if __name__ == "__main__":
    main()
