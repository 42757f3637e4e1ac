"""Runs of training in miniature: a model, data, and steps that are the same every time."""

import numpy as np
import torch
from torch import nn

import reluscope as rs

POINTS = np.random.default_rng(0).normal(size=(60, 4))
LABELS = (POINTS[:, 0] * POINTS[:, 1] > 0).astype(np.int64) + (POINTS[:, 2] > 1)
# What a resumed run cannot have alike.
TIMES = ("time", "seconds", "seconds_writing", "seconds_between")


def make_model(seed=0):
    """Return a model with batch norm, dropout and a max gate."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(4, 12),
        nn.BatchNorm1d(12),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Unflatten(1, (3, 4)),
        nn.MaxPool1d(4),
        nn.Flatten(),
        nn.Linear(3, 5),
        nn.ReLU(),
        nn.Linear(5, 3),
    )


def step(model, seed):
    """Do one epoch of training."""
    torch.manual_seed(seed)
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = torch.tensor(POINTS, dtype=torch.float32), torch.tensor(LABELS)
    for rows in torch.randperm(len(x)).split(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()


def track(model, file, **options):
    """Open a tracker of few samples."""
    settings = {"labels": LABELS, "samples": 40, "segments": 2, "jacobians": 5, **options}
    return rs.Tracker(model, POINTS, file, **settings)


def without_times(records):
    """Return the rows of records as far as they are the same in every run."""
    return [{name: value for name, value in row.items() if name not in TIMES} for row in records.rows]
