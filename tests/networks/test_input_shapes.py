"""Absurd shapes are refused before memory is taken for them."""

import re

import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import InputError
from reluscope.testing import default_network

MODELS = {
    "flat": nn.Sequential(nn.Flatten(), nn.ReLU()),
    "convolution": nn.Sequential(nn.Conv2d(1, 1, 3), nn.ReLU()),
}
TOO_LARGE = [10**12, (10**6, 10**6), (1, 10**9, 10**9), 10**30, 2**31]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("shape", TOO_LARGE, ids=str)
def test_too_many_entries(model, shape, monkeypatch):
    monkeypatch.setattr(torch, "randn", None)  # nothing of that shape is made
    with pytest.raises(InputError, match=r"at most 134,217,728 numbers, but input_shape is \(\d+.*: give the shape"):
        rs.load(model, shape)


@pytest.mark.parametrize("shape", [0, -1, (1, 0, 3), (2, -2)], ids=str)
def test_lengths_that_are_none(shape):
    with pytest.raises(InputError, match=re.escape(f"positive integers without the batch axis, got {shape}")):
        rs.load(MODELS["flat"], shape)


@pytest.mark.parametrize("shape", [True, "12", 2.5, (2.5,), [[2]], (True,)], ids=str)
def test_shapes_of_other_kinds(shape):
    with pytest.raises(InputError, match="input_shape"):
        rs.load(MODELS["flat"], shape)


def test_an_exported_program_with_a_shape_left_open():
    batch, length = torch.export.Dim("batch", min=1), torch.export.Dim("length", min=2)
    program = torch.export.export(
        nn.Sequential(nn.ReLU()).double(),
        (torch.zeros(3, 4, dtype=torch.float64),),
        dynamic_shapes=({0: batch, 1: length},),
    )
    with pytest.raises(InputError, match="at most 134,217,728 numbers"):
        rs.load(program, 10**12)


@pytest.mark.parametrize("number", [10**12, 10**30])
def test_domains_of_absurd_dimension(number):
    for make in (lambda: rs.Box(0, 1, number), lambda: rs.Space(number)):
        with pytest.raises(InputError, match="134,217,728 dimensions at most"):
            make()


def test_layers_say_their_shape_themselves():
    with pytest.raises(InputError, match="input_shape"):
        rs.load(default_network([2, 3, 1]), 10**12)
