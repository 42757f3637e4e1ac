"""Singular values after the layers of a network: curves of all of them, and ranks and condition numbers by layer."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reluscope.analyses.stability.stability_measures import CONDITION, NUM_NONZERO, curve, read_spectra
from reluscope.arguments import Share, read_drawn, read_positions
from reluscope.findings import Findings, Quantity
from reluscope.plots.figures import new_figure
from reluscope.plots.style import (
    bare,
    canvas,
    category,
    dashes,
    depth_colors,
    figure_of,
    legend,
    legend_below,
    number_logarithmically,
    say,
)

MARKS = ("o", "s", "D", "^")


@read_drawn
def spectra(
    found: Findings,
    *,
    layers: Sequence[int] | None = None,
    band: tuple[Share, Share] | None = (0.25, 0.75),
    axes: Axes | None = None,
) -> Figure:
    """Draw the singular values of some layers, in descending order, on a logarithmic axis.

    Parameters
    ----------
    found : Findings
        From `reluscope.stability.spectra`.
    layers : sequence of int, optional
        Positions among the layers; by default the gates. Layers with only the extreme values known are omitted.
    band : (low, high), optional
        Quantiles over samples between which a band is drawn.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        Medians over samples of the largest, the second largest, ... value, if nonzero; affine layers are dashed.
    """
    axes = canvas(axes, (6.4, 3.8))
    every = _first(found)
    gates = np.flatnonzero(every.details["kind"] == "gate").tolist()
    wanted = gates if layers is None else read_positions(layers, "layers", len(every), "layers").tolist()
    shown = [index for index in wanted if len(every.details["singular_values"][index])]
    if not shown:
        say(axes, "no layer with all its singular values")
        return figure_of(axes)
    handles: list[Artist] = []
    num_samples = int(found.is_done.sum()) // len(every)
    for index, color in zip(shown, depth_colors(len(shown)), strict=True):
        name, is_gate = str(every.keys["layer"][index]), every.details["kind"][index] == "gate"
        median = _nonzero(curve(found, name), every.details["nonzero"][index])
        style = "-" if is_gate else (0, (4, 1.6))
        label = f"{index + 1}: {name}" + ("" if is_gate else " (affine)")
        where = np.arange(1, len(median) + 1)
        if band is not None and num_samples > 1:
            low, high = (curve(found, name, quantile)[: len(median)] for quantile in band)
            axes.fill_between(where, np.maximum(low, median.min(initial=1.0) / 10), high, color=color, alpha=0.18, lw=0)
        marker = "o" if len(median) == 1 else None
        axes.plot(where, median, color=color, linestyle=style, linewidth=1.5, marker=marker, markersize=4)
        handles.append(Line2D([], [], color=color, linestyle=style, linewidth=1.8, label=label))
    _logarithmic(axes)
    axes.set_xlabel("singular values, from the largest")
    axes.set_ylabel("singular value")
    bare(axes, "top", "right")
    legend(axes, handles)
    return figure_of(axes)


@read_drawn
def spectra_by_layer(found: Mapping[str, Findings]) -> Figure:
    """Draw sizes, numbers of nonzero singular values and condition numbers of layers, in order of layers.

    Parameters
    ----------
    found : mapping of names to Findings
        From `reluscope.stability.spectra`, for each network.

    Returns
    -------
    matplotlib.figure.Figure
        Three rows of medians over samples; marks of affine layers are hollow. For layers with only the extreme
        values known, condition numbers are lower bounds.
    """
    figure = new_figure((6.4, 6.2))
    rows = [canvas(axes, (0, 0)) for axes in figure.subplots(3, 1, sharex=True)]
    handles: list[Artist] = []
    for number, (name, one) in enumerate(found.items()):
        every = _first(one)
        where, is_gate = np.arange(1, len(every) + 1), every.details["kind"] == "gate"
        names = [str(layer) for layer in every.keys["layer"]]
        medians = [[_median(one, layer, which) for layer in names] for which in (NUM_NONZERO, CONDITION)]
        columns = (every.details["size"].astype(np.float64), *map(np.array, medians))
        color, mark = category(number), MARKS[number % len(MARKS)]
        for axes, values in zip(rows, columns, strict=True):
            axes.plot(where, values, color=color, linestyle=dashes(number), linewidth=1.4)
            for chosen, face in ((is_gate, color), (~is_gate, "none")):
                looks = {"color": color, "markerfacecolor": face, "markersize": 5}
                axes.plot(where[chosen], values[chosen], mark, zorder=3, clip_on=False, **looks)  # whole at 0, too
        handles.append(
            Line2D([], [], color=color, linestyle=dashes(number), marker=mark, markersize=5, linewidth=1.4, label=name)
        )
    for axes, label in zip(rows, ("entries of the layer", "nonzero\nsingular values", "condition number"), strict=True):
        axes.set_ylabel(label)
        bare(axes, "top", "right")
    for axes in rows[:2]:
        axes.set_ylim(bottom=0)
    _logarithmic(rows[2])
    rows[-1].set_xlabel("layer; hollow: affine, filled: gate")
    rows[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, handles if len(handles) > 1 else [])
    return figure


def _first(found: Findings) -> Findings:
    """Return the rows of the first sample, one per layer."""
    read_spectra(found)
    return found.where(sample=found.keys["sample"][0])


def _median(found: Findings, layer: str, which: Quantity) -> float:
    """Return the median over samples, NaN where none has one."""
    there = found.where(layer=layer)
    return np.nan if np.isnan(there[which].value).all() else there.median(which).value


def _logarithmic(axes: Axes) -> None:
    """Make the vertical axis logarithmic once all is drawn, if anything on it is positive."""
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in axes.lines] or [np.zeros(0)])
    if not (heights > 0).any():
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    number_logarithmically(axes, high / low, along="y")


def _nonzero(values: Float[np.ndarray, " k"], share: float) -> Float[np.ndarray, " _"]:
    """Return descending values as far as they count as nonzero."""
    return values[: int((values > share * values.max(initial=0.0)).sum())]
