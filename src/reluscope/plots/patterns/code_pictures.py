"""Activation patterns as a picture: samples by units, gates side by side, samples of one class together.

Where there are more samples or units than cells, a cell shows the mean over a block, and the picture says how large the
blocks are. Blocks never reach across gates or classes.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from reluscope.arguments import read_drawn, read_labels
from reluscope.codes.packed import Codes
from reluscope.plots.drawing.without_axes import say_alone
from reluscope.plots.style import bare, canvas, figure_of, scale_beside, shortened

MAX_ROWS, MAX_COLUMNS = 480, 720
MIN_ROWS, MIN_COLUMNS = 240, 480
CHUNK = 2_048
STEPS = 6
INK_ON_PAPER = LinearSegmentedColormap.from_list("pieces", ["#f2e3bd", "#7fb0b5", "#0b3c66"])


@read_drawn
def codes(
    codes: Codes,
    *,
    labels: Int[np.ndarray, " s"] | Sequence[int] | None = None,
    class_names: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the piece of every unit at every sample.

    Parameters
    ----------
    codes : Codes
        Codes of s samples; may be empty.
    labels : (s,) int, optional
        Class of each sample: samples of one class form a band.
    class_names : sequence of str, optional
        Names of the classes; by default their numbers.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        One row per sample, one column per unit, light for the first piece and dark for the last (for ReLU: inactive
        and active). Within a class, samples are sorted along the direction in which codes differ most, equal codes
        together; units keep their order. A cell for several samples or units shows their mean; the axes give the
        largest number per cell. For max gates, the number of a candidate means only its place in the window.

    Raises
    ------
    ShapeError
        If there is not one label per sample.

    Notes
    -----
    10,000 samples of 3,072 units take about a second; memory is that of the pixels.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> figure = rs.plots.codes(net.codes(np.eye(3) - 0.5), labels=[0, 0, 1])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['class 0 (2)', 'class 1 (1)']
    """
    number = len(codes)
    given = np.zeros(number, dtype=np.int64) if labels is None else read_labels(labels, num_samples=number)
    classes, counts = np.unique(given, return_counts=True)
    edges = [np.linspace(0, n, min(n, -(-n * MAX_ROWS // max(number, 1))) + 1).round().astype(int) for n in counts]
    gates = [gate for gate in codes.layout if gate.num_units]
    total = sum(gate.num_units for gate in gates)
    columns = [
        np.linspace(0, n, min(n, -(-n * MAX_COLUMNS // total)) + 1).round().astype(int)
        for n in (gate.num_units for gate in gates)
    ]
    shown = sum(len(edge) - 1 for edge in edges)
    axes = canvas(axes, (8.2, float(np.clip(1.2 + 0.022 * shown + 0.2 * len(counts), 3.0, 7.2))))
    if not number or not gates:
        say_alone(axes, "there are no codes" if not number else "the network has no gates")
        return figure_of(axes)
    order = _order(codes, given, columns)
    means = _means(codes, order, np.concatenate([[0], np.cumsum(counts)]), edges, columns)
    # Few samples or units are drawn larger, so that the gaps between them stay narrow.
    tall, wide = max(1, MIN_ROWS // means.shape[0]), max(1, MIN_COLUMNS // means.shape[1])
    heights, widths = [tall * (len(edge) - 1) for edge in edges], [wide * (len(edge) - 1) for edge in columns]
    picture, top, left = _apart(means.repeat(tall, axis=0).repeat(wide, axis=1), heights, widths)
    norm = Normalize(0.0, 1.0)
    axes.imshow(picture, norm=norm, cmap=INK_ON_PAPER, aspect="auto", interpolation="none")
    middle = [start + (width - 1) / 2 for start, width in zip(left, widths, strict=True)]
    names = [f"{shortened(gate.name, 18)} ({gate.num_units:,})" for gate in gates]
    needed = sum(len(name) + 2 for name in names)
    axes.xaxis.tick_top()
    named = range(len(names)) if len(names) <= 40 else np.linspace(0, len(names) - 1, 40).round().astype(int)
    turned = {} if needed < 95 else {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}
    axes.set_xticks([middle[index] for index in named], [names[index] for index in named], **turned)
    if labels is None:
        axes.set_yticks([])
    else:
        bands = [_class(int(one), class_names, int(n)) for one, n in zip(classes, counts, strict=True)]
        axes.set_yticks([start + (height - 1) / 2 for start, height in zip(top, heights, strict=True)], bands)
    axes.tick_params(length=0)
    bare(axes, "top", "right", "left", "bottom")
    axes.set_xlabel(_blocks(edges, columns))
    if labels is None:
        axes.set_ylabel(f"{number:,} samples")
    binary = all(gate.num_pieces <= 2 for gate in gates)
    scale_beside(axes, norm, INK_ON_PAPER, "share of active units" if binary else "mean piece (0 first, 1 last)")
    return figure_of(axes)


def _class(one: int, names: Sequence[str] | None, count: int) -> str:
    name = f"class {one}" if names is None or not 0 <= one < len(names) else shortened(str(names[one]), 18)
    return f"{name} ({count:,})"


def _blocks(edges: list[np.ndarray], columns: list[np.ndarray]) -> str:
    tall, wide = (max(int(np.diff(edge).max()) for edge in sides) for sides in (edges, columns))
    some = f"up to {tall:,} samples" if tall > 1 else "one sample"
    others = f"up to {wide:,} units" if wide > 1 else "one unit"
    mean = "the mean over " if tall > 1 or wide > 1 else ""
    return f"a cell is {mean}{some} and {others}"


def _order(codes: Codes, labels: np.ndarray, columns: list[np.ndarray]) -> Int[np.ndarray, " s"]:
    """Return samples by label, then along the first principal direction of the codes, equal codes together."""
    distinct, inverse = codes.unique(return_inverse=True)
    features = np.concatenate([_gate_means(distinct, gate, columns, slice(0, len(distinct)))
                               for gate in range(len(columns))], axis=1)  # fmt: skip
    features -= features.mean(axis=0)
    direction = features[np.argmax((features**2).sum(axis=1))]
    for _ in range(STEPS):
        size = float(np.linalg.norm(direction))
        if not size > 0:
            break
        direction = features.T @ (features @ (direction / size))
    along = np.empty(len(distinct), dtype=np.int64)
    along[np.argsort(features @ direction, kind="stable")] = np.arange(len(distinct))
    return np.lexsort((along[inverse], labels))


def _gate_means(codes: Codes, gate: int, columns: list[np.ndarray], rows: slice) -> Float[np.ndarray, "s c"]:
    """Return for some codes the mean piece over each block of units of one gate, from 0 to 1."""
    index = [i for i, one in enumerate(codes.layout) if one.num_units][gate]
    layout = codes.layout.gates[index]
    alone = list(codes[rows].by_gate().values())[index]
    pieces = alone.to_array().astype(np.float32) / max(1, layout.num_pieces - 1)
    edges = columns[gate]
    return np.add.reduceat(pieces, edges[:-1], axis=1) / np.diff(edges)


def _means(
    codes: Codes, order: np.ndarray, starts: np.ndarray, edges: list[np.ndarray], columns: list[np.ndarray]
) -> Float[np.ndarray, "y x"]:
    """Return the mean over every block of sorted samples and of units."""
    bounds = np.unique(np.concatenate([start + edge for start, edge in zip(starts[:-1], edges, strict=True)]))
    sums = np.zeros((len(bounds) - 1, sum(len(edge) - 1 for edge in columns)))
    block = np.searchsorted(bounds, np.arange(len(order)), side="right") - 1
    for first in range(0, len(order), CHUNK):
        some = codes[order[first : first + CHUNK]]
        means = np.concatenate(
            [_gate_means(some, gate, columns, slice(0, len(some))) for gate in range(len(columns))], axis=1
        )
        owners = block[first : first + CHUNK]
        begins = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        sums[owners[begins]] += np.add.reduceat(means, begins, axis=0)
    return sums / np.diff(bounds)[:, None]


def _apart(means: np.ndarray, heights: list[int], widths: list[int]) -> tuple[np.ma.MaskedArray, list[int], list[int]]:
    """Return the blocks of classes and gates with gaps between them, and where each begins."""
    gap_high, gap_wide = max(1, round(sum(heights) / 110)), max(1, round(sum(widths) / 110))
    top = (np.cumsum([0, *heights[:-1]]) + gap_high * np.arange(len(heights))).tolist()
    left = (np.cumsum([0, *widths[:-1]]) + gap_wide * np.arange(len(widths))).tolist()
    picture = np.full((top[-1] + heights[-1], left[-1] + widths[-1]), np.nan)
    y = np.concatenate([start + np.arange(height) for start, height in zip(top, heights, strict=True)])
    x = np.concatenate([start + np.arange(width) for start, width in zip(left, widths, strict=True)])
    picture[np.ix_(y, x)] = means
    return np.ma.masked_invalid(picture), top, left
