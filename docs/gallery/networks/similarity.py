"""Similarity of networks
=========================

Four classifiers of digits, compared by the affine maps that they use on 300 images. Light is alike.
"""

from itertools import pairwise

import torch
from torch import nn

import reluscope as rs

digits = rs.datasets.digits("train")
x, y = digits.points.reshape(len(digits), -1), digits.labels


def trained(seed, *hidden):
    """Return a dense classifier after 60 steps of Adam."""
    torch.manual_seed(seed)
    sizes = [64, *hidden, 10]
    layers = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU())][:-1]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.tensor(x[:900]).float()), torch.tensor(y[:900])).backward()
        optimizer.step()
    return rs.load(model, input_shape=(64,))


networks = {"linear": trained(0), "dense 1": trained(0, 32), "dense 2": trained(1, 32), "deep": trained(0, 24, 24)}
found = rs.similarity.compare(networks, x[900:1200], y[900:1200], fit_on=x[:900])

figure = rs.plots.similarity(found, "cka")
figure
