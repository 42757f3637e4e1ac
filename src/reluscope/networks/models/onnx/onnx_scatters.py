"""Entries that are put to, added to or compared with others at constant places, and images read at constant places."""

from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_moves import moved_together
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, Operand, lowers
from reluscope.networks.models.operators.sampling import sampled
from reluscope.networks.models.operators.scattering import scattered

# Names of opset 20 in those of earlier ones, which are PyTorch's.
_MODES = {"linear": "bilinear", "cubic": "bicubic"}


@lowers("ScatterND", "ScatterElements", "Scatter")
def scatter(site: NodeSite) -> Activation:
    """Entries of one tensor that are replaced by those of another at constant positions, or meet them."""
    reduction = site.setting("reduction", "none")
    if reduction == "none":
        return moved_together(site, (0, 2))
    base, updates = site.operand(0), site.operand(2)
    assert base is not None
    positions = np.arange(prod(base.shape)).reshape(base.shape)
    places = _taken(site, positions, np.asarray(site.given(1)))
    found = scattered(site, _part(site, base), _part(site, updates), places.reshape(-1), reduction)
    return site.close(found, base.shape)


@lowers("GridSample")
def grid_sample(site: NodeSite) -> Activation:
    """Interpolate images at a constant grid."""
    x, grid = site.activation(), np.asarray(site.given(1), dtype=np.float64)
    if x.shape[0] == 1 and bool((grid == grid[:1]).all()):
        grid = grid[:1]  # written down for the file's fixed batch
    mode = str(site.setting("mode", "linear"))
    padding, align = site.setting("padding_mode", "zeros"), bool(site.setting("align_corners", 0))
    whole, images = site.whole(x), []
    for row, places in enumerate(torch.from_numpy(grid)):
        image = site.builder.take(whole, 0, row)
        images.append(sampled(site, image, places, _MODES.get(mode, mode), padding, align_corners=align))
    shape = (*x.shape[:2], *grid.shape[1:-1])
    rows = [site.builder.reshape(image, (1, *shape[1:])) for image in images]
    return site.close(site.builder.concatenate(rows, 0) if len(rows) > 1 else rows[0], shape)


def _taken(site: NodeSite, positions: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the position that belongs to each of the updates."""
    if site.operator == "ScatterND":
        return positions[tuple(np.moveaxis(indices, -1, 0))]
    axis = site.setting("axis", 0) % positions.ndim
    near = tuple(slice(None) if at == axis else slice(0, length) for at, length in enumerate(indices.shape))
    return np.take_along_axis(positions[near], indices % positions.shape[axis], axis)


def _part(site: NodeSite, operand: Operand) -> Value | Tensor:
    if isinstance(operand, Activation):
        return site.whole(operand)
    return torch.from_numpy(np.array(operand, dtype=np.float64))
