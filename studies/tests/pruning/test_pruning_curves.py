"""The picture of pruning curves: what is drawn is what was given."""

import numpy as np
import pytest
import torch
from torch import nn

from reluscope_studies import pictures, pruning


def test_accuracies_over_the_weights_that_pruning_leaves():
    module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    x, labels = torch.rand(6, 1, 4, 4), torch.arange(6) % 2
    tests = {"fine_tune": lambda module: None, "test_x": x, "test_labels": labels}
    channels = pruning.prune_channels(module, x, labels, **tests)
    weights = pruning.prune_by_magnitude(module, [0.5], **tests)
    (axes,) = pictures.pruning_curves({"channels": channels, "weights": weights}).axes
    for line, curve in zip(axes.lines, (channels, weights), strict=True):
        assert line.get_xdata() == pytest.approx(np.sort(100 * curve.findings["share_of_weights"].value))
    assert [text.get_text() for text in axes.texts] == ["3", "2", "1"]  # the channels that are left
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["channels", "weights"]
    assert pictures.pruning_curves({}).axes
