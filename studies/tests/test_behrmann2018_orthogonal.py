"""Compositions of orthogonal layers: alone they keep lengths, with gates between them they do not."""

import numpy as np
import pytest
import torch

from reluscope.studies import Setting
from reluscope_studies.behrmann2018 import orthogonal_layers as study

pytestmark = pytest.mark.slow


def test_without_gates_every_singular_value_is_one():
    weights = study.orthogonal_weights(study.Plan(5, 3, 4, 1), np.random.default_rng(0))
    product = np.linalg.multi_dot(weights[::-1])
    assert np.linalg.svd(product, compute_uv=False) == pytest.approx(np.ones(5))


def test_numbers_are_those_of_autograd(monkeypatch):
    plan = study.Plan(4, 3, 3, 1)
    monkeypatch.setitem(study.PLANS, "small", plan)
    outcome = study.protocol(Setting("small", seed=3))
    rng = np.random.default_rng(3)
    weights = study.orthogonal_weights(plan, rng)
    point = torch.from_numpy(rng.normal(size=(1, 4)))
    conditions = []
    for gates in (1, 2):
        model = study._model(weights, 0.0)[: 2 * gates]
        values = torch.linalg.svdvals(torch.autograd.functional.jacobian(model, point)[0, :, 0])
        conditions.append(float(values[0] / values[values > 1e-12][-1]))
    (table,) = outcome.tables
    shown = [float(row[-1]) for row in table.rows if row[0] == "ReLU"]
    assert shown == pytest.approx(conditions, rel=5e-3)
    assert next(one.word for one in outcome.verdicts) == "confirmed"
