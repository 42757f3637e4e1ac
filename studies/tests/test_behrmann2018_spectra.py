"""The studies of singular values: the paper's networks, tables and pictures, work that goes on where it was stopped."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.analyses.stability.layer_spectra import _All as All
from reluscope.studies import Setting
from reluscope_studies.behrmann2018 import _spectra, spectra, spectra_dense
from reluscope_studies.behrmann2018._networks import DENSE, THIN, WIDE, Architecture, Training

pytestmark = pytest.mark.slow

PLAN = replace(
    spectra.PLANS["small"],
    architectures=(Architecture("wide", ((3, 1), (4, 2)), (6,)), Architecture("thin", ((2, 1), (2, 2)), (6,))),
    training=Training("RMSprop", 1e-2, 2, 32),
    num_samples=7,
    pairs=(2,),
    correlated=(1,),
)


def blobs(number, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 3
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(3, 1, 4, 4))
    points = np.clip(centers[labels] + rng.normal(0, 0.15, size=(number, 1, 4, 4)), 0, 1)
    return rs.datasets.dataset_of(points, labels, name="blobs")


def make_setting(**options):
    return Setting("small", blobs(96, 1), blobs(30, 2), **options)


@pytest.mark.parametrize(
    ("architecture", "sizes"),
    [
        (WIDE, (32768, 16384, 16384, 8192, 8192, 4096, 512)),
        (THIN, (32768, 8192, 4096, 4096, 4096, 2048, 512)),
    ],
)
def test_the_papers_networks(architecture, sizes):
    model, value, found = architecture.build((3, 32, 32), 10, 0), torch.zeros(1, 3, 32, 32), []
    for layer in model:
        value = layer(value)
        found += [value.numel()] * isinstance(layer, torch.nn.ReLU)
    assert tuple(found) == sizes
    assert value.shape == (1, 10)


def test_the_dense_network_and_the_plans():
    assert [layer.out_features for layer in DENSE.build((1, 28, 28), 10, 0) if isinstance(layer, torch.nn.Linear)] == [
        3500, 784, 10,
    ]  # fmt: skip
    full = spectra.PLANS["full"]
    assert (full.training.epochs, full.training.batch, full.num_samples) == (100, 32, 50)
    assert (spectra_dense.PLANS["full"].training.epochs, spectra_dense.PLANS["full"].training.batch) == (25, 1000)


def test_numbers_are_those_of_the_analysis_and_pictures_are_there():
    setting = make_setting()
    found = _spectra.report(setting, PLAN)
    names = [picture.name for picture in found.pictures]
    assert names == [
        "spectra-layers",
        "spectra-decay-1",
        "spectra-gates-1",
        "spectra-decay-2",
        "spectra-gates-2",
        "spectra-correlation-1",
    ]
    assert len(found.tables) == 3
    assert [row[1] for row in found.tables[0].rows] == [
        "conv1 (affine)", "relu1 (gate)", "conv2 (affine)", "relu2 (gate)", "dense3 (affine)", "relu3 (gate)",
        "logits (affine)",
    ]  # fmt: skip
    medians = [one for one in found.findings if one.name.startswith("wide: median condition number after conv1")]
    assert [str(one.claim) for one in medians] == ["ESTIMATE"]
    again = _spectra.report(setting, PLAN)  # from the records
    assert [one.value for one in again.findings] == pytest.approx([one.value for one in found.findings], nan_ok=True)


def test_work_that_was_stopped_goes_on(monkeypatch):
    setting, whole = make_setting(), _spectra.report(make_setting(), PLAN)
    real, calls = All.__call__, []

    def stops(work, point):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(work, point)

    monkeypatch.setattr(All, "__call__", stops)
    part = _spectra.report(setting, PLAN)
    assert part.interrupted
    assert "over 3 samples" in part.tables[0].caption  # blocks of one, of two, and half of one of four
    monkeypatch.setattr(All, "__call__", real)
    rest = _spectra.report(setting, PLAN)
    assert not rest.interrupted
    assert [one.value for one in rest.findings] == pytest.approx([one.value for one in whole.findings], nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("study", [spectra, spectra_dense])
def test_the_small_size_runs(study):
    setting = Setting("small", rs.datasets.digits("train"), rs.datasets.digits("test"))
    found = study.protocol(setting)
    assert found.findings[0].value > 0.8


def test_which_way_numbers_go():
    assert _spectra._goes([1.0, 2.0, 3.0], up=True)
    assert _spectra._goes([1.0, 3.0, 2.0], up=True) is None
    assert _spectra._goes([3.0, 2.0, 2.5], up=True) is False
    assert _spectra._goes([3.0, 2.0], up=False)
