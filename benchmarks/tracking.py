"""What a tracker at default settings adds to an epoch of training, in processor time."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import reluscope as rs
from benchmarks.measure import Measurement
from reluscope.datasets.mnist import mnist

TARGET = "at default settings under 10 % of an epoch, and local complexity under 10 % besides, on MNIST, batches of 128"
FOLDER = Path(__file__).parents[2] / "shared" / "data" / "mnist"
BATCH = 128
RADIUS = 0.1


def run(quick: bool) -> list[Measurement]:
    """Train a perceptron and a small convolutional network, and record after every epoch."""
    torch.set_num_threads(1)
    if FOLDER.is_dir() and not quick:
        data = mnist(FOLDER, "train")
        points, labels = torch.tensor(data.points, dtype=torch.float32), torch.tensor(data.labels)
    else:
        generator = np.random.default_rng(0)
        points = torch.tensor(generator.random((2_000, 1, 28, 28)), dtype=torch.float32)
        labels = torch.tensor(generator.integers(0, 10, 2_000))
    models = {"784-256-256-10": _perceptron, "conv net, 2 convolutions of 16 and 32 channels": _convolutional}
    epochs = 2 if quick else 3
    return [
        _track(f"{case}{', with local complexity' * (radius is not None)}", make(), points, labels, epochs, radius)
        for case, make in models.items()
        for radius in (None, RADIUS)
    ]


def _track(
    case: str, model: nn.Module, points: torch.Tensor, labels: torch.Tensor, epochs: int, radius: float | None
) -> Measurement:
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    training, recording = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        rs.Tracker(model, points, Path(folder) / "run.parquet", labels=labels, complexity_radius=radius) as tracker,
    ):
        for epoch in range(epochs):
            began = time.process_time()
            for rows in torch.randperm(len(points)).split(BATCH):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(points[rows]), labels[rows]).backward()
                optimizer.step()
            middle = time.process_time()
            tracker.record(epoch=epoch)
            training.append(middle - began)
            recording.append(time.process_time() - middle)
        records = tracker.records
    ratios = [mine / other for mine, other in zip(recording, training, strict=True)]
    counts = records.findings("segment_regions")[-1]
    detail = (
        f"{records.num_samples:,} samples, {sum(int(found) for found in counts):,} regions on {len(counts)} segments "
        f"({counts[0].claim}), {len(records.settings['jacobians'])} Jacobians; accuracy "
        f"{records['accuracy'][-1]:.1%}; epochs of {len(points):,} images"
    )
    if radius is not None:
        detail += f"; {records['crossing_units'][-1]:.1f} units, {records['square_regions'][-1]:.1f} regions"
        detail += f" ({records.findings('square_regions')[-1].claim}), density {records['kink_density'][-1]:.1f}"
    # The first record also waits for modules.
    return Measurement(
        case, statistics.median(recording[1:]), statistics.median(ratios[1:]), statistics.median(training), None, detail
    )


def _perceptron() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, 10),
    )


def _convolutional() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 49, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )
