"""The pixels of a picture from samples of which several lie in each."""

from typing import Annotated

import numpy as np
from jaxtyping import Float, Int, UInt8
from matplotlib.colors import to_rgb

from reluscope.arguments import Range
from reluscope.plots.style import DARK

# With two samples along each side, the most that kernels take.
Pixels = Annotated[int, Range(least=1, most=2800)]
# Edges are drawn so dark at most, and in full from such a width of lines on.
DARKEST, FULL_WIDTH = 0.75, 0.4
# Samples of so many rows are in memory as colours at once.
BAND = 128


def averaged(
    nearest: Int[np.ndarray, "h w"],
    colors: Float[np.ndarray, "p 4"] | Float[np.ndarray, "h w 4"],
    edges: float,
    samples: int,
) -> UInt8[np.ndarray, "rows columns 4"]:
    """Return pixels, each the mean of ``samples`` squared samples.

    ``nearest`` is the polygon of every sample, -1 where there is none; ``colors`` are of polygons or samples,
    multiplied by their opacities; ``edges`` is the width of edges between polygons, 0 for none.
    """
    height, width = (side // samples for side in nearest.shape)
    shades = np.concatenate([colors, np.zeros((1, 4))]).astype(np.float32) if colors.ndim == 2 else colors
    is_edge, share = _edges(nearest, edges) if edges else (None, 0.0)
    picture = np.zeros((height, width, 4), dtype=np.uint8)
    for start in range(0, height, BAND):
        rows = slice(samples * start, samples * min(height, start + BAND))
        seen = shades[nearest[rows]] if colors.ndim == 2 else shades[rows]
        if is_edge is not None:
            chosen = is_edge[rows]
            seen[chosen, :3] += share * (np.array(to_rgb(DARK), dtype=np.float32) * seen[chosen, 3:] - seen[chosen, :3])
        mean = seen.reshape(-1, samples, width, samples, 4).mean(axis=(1, 3))
        mean[..., :3] /= np.maximum(mean[..., 3:], 1e-6)
        picture[start : start + BAND] = np.round(255 * np.clip(mean, 0, 1))
    return picture


def _edges(nearest: np.ndarray, width: float) -> tuple[np.ndarray, np.float32]:
    """Return the samples with another polygon at their right, or above, and how dark they are."""
    is_edge = np.zeros(nearest.shape, dtype=bool)
    is_edge[:, :-1] |= nearest[:, :-1] != nearest[:, 1:]
    is_edge[:-1] |= nearest[:-1] != nearest[1:]
    is_edge &= nearest >= 0
    # Where most samples are edges they would be all that is seen.
    share = np.count_nonzero(is_edge) / max(1, np.count_nonzero(nearest >= 0))
    return is_edge, np.float32(min(DARKEST, width / FULL_WIDTH) * (1 - share) ** 2)
