"""A network in training
========================

What a `Tracker` recorded during eight epochs of a small classifier: loss and accuracy, codes that change, regions.
Recording five hundred samples takes longer than an epoch of so small a network.
"""

from pathlib import Path
from tempfile import mkdtemp

import torch
from torch import nn

import reluscope as rs

data = rs.datasets.digits("train")
images, labels = torch.tensor(data.points, dtype=torch.float32), torch.tensor(data.labels)
torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
target = Path(mkdtemp()) / "run.parquet"

with rs.Tracker(model, images, target, labels=labels, plane=(0, 1, 2)) as tracker:
    for epoch in range(8):
        for rows in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()
            optimizer.step()
        tracker.record(epoch=epoch, loss=loss)

figure = rs.plots.tracking(rs.tracking.read_records(target))
figure
