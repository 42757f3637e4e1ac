"""Images read between their entries, at constant places."""

import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators.operator_site import OperatorSite

_MAX_ENTRIES = 2**24


def sampled(site: OperatorSite, x: Value, grid: Tensor, mode: str, padding: str, *, align_corners: bool) -> Value:
    """Interpolate an image ``(channels, *sizes)`` at ``grid`` ``(*out, d)``, which has the last axis first.

    Coordinates go from -1 to 1. The result is ``(channels, *out)``: a product of every channel with one matrix, from
    images of unit vectors as channels.
    """
    sizes, out = x.shape[1:], tuple(grid.shape[:-1])
    number = torch.Size(sizes).numel()
    if number * torch.Size(out).numel() > _MAX_ENTRIES:
        raise site.unsupported("on images this large")
    units = torch.eye(number, dtype=torch.float64).reshape(1, number, *sizes)
    found = torch.nn.functional.grid_sample(
        units, grid[None].double(), mode=mode, padding_mode=padding, align_corners=align_corners
    )
    flat = site.builder.reshape(x, (x.shape[0], number))
    return site.builder.reshape(site.builder.matmul(flat, found.reshape(number, -1)), (x.shape[0], *out))
