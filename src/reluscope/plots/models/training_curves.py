"""Quantities that a tracker recorded over the epochs of a training run, one panel for each kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, StrMethodFormatter

from reluscope.analyses.tracking.records import Records
from reluscope.arguments import read_drawn
from reluscope.findings.written_findings import signed
from reluscope.plots.figures import new_figure
from reluscope.plots.style import INK, bare, canvas, category, dashes, depth_colors, say, shortened

SIZE = (3.1, 2.35)
COLUMNS = 3
MAX_GATES = 8


@read_drawn
def tracking(records: Records) -> Figure:
    """Draw the records of a tracker over epochs.

    Parameters
    ----------
    records : Records

    Returns
    -------
    matplotlib.figure.Figure
        One panel per kind of number; kinds without any record are omitted. Hollow marks are not proved numbers:
        lower bounds of regions, and estimates where rounding could change codes. Of more than eight gates the first
        and the last are drawn.
    """
    panels = [(panel, lines) for panel in PANELS if (lines := panel.lines(records))]
    rows = max(1, ceil(len(panels) / COLUMNS))
    figure = new_figure((COLUMNS * SIZE[0], rows * SIZE[1] + 0.35))
    figure.suptitle(_headline(records), color=INK, fontsize=9.5, x=0.01, ha="left")
    grid = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes in grid[max(1, len(panels)) :]:
        axes.set_axis_off()
    if not panels:
        canvas(grid[0], SIZE)
        say(grid[0], "no numbers yet")
    # Epochs that were recorded twice would fold the lines back.
    folds = len(records) > 1 and bool((np.diff(records.epochs) <= 0).any())
    where = np.arange(len(records), dtype=np.float64) if folds else records.epochs
    for axes, (panel, lines) in zip(grid, panels, strict=False):
        _draw(axes, panel, lines, where)
        axes.set_xlabel("record" if folds else "epoch")
    return figure


@dataclass(frozen=True)
class _Line:
    """One line of a panel: values over records, hollow where they are no proof; no label for one of a bundle."""

    values: Float[np.ndarray, " r"]
    is_hollow: np.ndarray
    color: str
    dash: object
    label: str = ""
    is_thin: bool = False


@dataclass(frozen=True)
class _Panel:
    title: str
    lines: Callable[[Records], list[_Line]]
    lowest: float | None = 0.0
    highest: float | None = None
    is_whole: bool = False
    by_gate: bool = False


def _named(**names: str) -> Callable[[Records], list[_Line]]:
    """Return the lines of quantities of the whole network, by the words of the legend."""

    def lines(records: Records) -> list[_Line]:
        found = []
        for place, (name, label) in enumerate(names.items()):
            values, hollow = _values(records, name)
            if np.isfinite(values).any():
                found.append(_Line(values, hollow, category(place), dashes(place), label))
        return found

    return lines


def _by_gate(name: str) -> Callable[[Records], list[_Line]]:
    """Return one line per gate in which a quantity is there."""

    def lines(records: Records) -> list[_Line]:
        values, hollow = _values(records, name)
        colors = depth_colors(len(records.gates)) if records.gates else []
        found = [
            _Line(values[:, gate], hollow[:, gate], colors[gate], dashes(gate), shortened(records.gates[gate], 14))
            for gate in range(len(records.gates))
            if np.isfinite(values[:, gate]).any()
        ]
        return found if len(found) <= MAX_GATES else [*found[: MAX_GATES // 2], *found[-MAX_GATES // 2 :]]

    return lines


def _segments(records: Records) -> list[_Line]:
    """Return a thin line per segment, and a bold one for their median."""
    values, hollow = _values(records, "segment_regions")
    if not np.isfinite(values).any():
        return []
    each = [_Line(values[:, place], hollow[:, place], category(0), "-", "", True) for place in range(values.shape[1])]
    if each:
        each[0] = _Line(values[:, 0], hollow[:, 0], category(0), "-", "each", True)
    median, open_ones = _values(records, "median_segment_regions")
    return [*each, _Line(median, open_ones, INK, "-", "median")]


PANELS: Sequence[_Panel] = (
    _Panel("accuracy", _named(accuracy="accuracy"), None, 1.0),
    _Panel("cross-entropy", _named(cross_entropy="cross-entropy")),
    _Panel(
        "distinct codes",
        _named(distinct_codes="all samples", distinct_codes_correct="correct samples"),
        is_whole=True,
    ),
    _Panel("distinct codes by gate", _by_gate("distinct_codes_by_gate"), is_whole=True, by_gate=True),
    _Panel("share of samples with a new code", _by_gate("changed_samples_by_gate"), 0.0, 1.0, by_gate=True),
    _Panel("changed units per sample", _by_gate("changed_units_by_gate"), by_gate=True),
    _Panel("activation rate", _by_gate("activation_rate_by_gate"), 0.0, 1.0, by_gate=True),
    _Panel("dead units", _by_gate("dead_units_by_gate"), is_whole=True, by_gate=True),
    _Panel("always-on units", _by_gate("always_on_units_by_gate"), is_whole=True, by_gate=True),
    _Panel("regions on segments", _segments),
    _Panel("median norm of the Jacobian", _named(spectral_norm="spectral", frobenius_norm="Frobenius")),
    _Panel("local complexity: units", _named(crossing_units="crossing units", square_regions="regions in a square")),
    _Panel("local complexity: density of bends", _named(kink_density="density")),
    _Panel("regions on the plane", _named(plane_regions="regions"), is_whole=True),
)


def _values(records: Records, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a quantity, and where it claims less than EXACT."""
    values = records[name]
    hollow = np.zeros(values.shape, dtype=bool)
    for place, found in enumerate(records.findings(name)):
        if found is not None:
            entries = found if isinstance(found, tuple) else (found,)
            weaker = [one is not None and one.claim != "EXACT" for one in entries]
            hollow[place] = weaker if values.ndim == 2 else weaker[0]
    return values, hollow


def _draw(axes: Axes, panel: _Panel, lines: list[_Line], where: np.ndarray) -> None:
    canvas(axes, SIZE)
    axes.set_title(panel.title, loc="left", color=INK, fontsize=9.5)
    axes.xaxis.label.set(color=INK, fontsize=8.5)
    for line in lines:
        width, alpha, size = (0.7, 0.35, 0.0) if line.is_thin else (1.5, 1.0, 3.6)
        axes.plot(where, line.values, color=line.color, linestyle=line.dash, linewidth=width, alpha=alpha)  # pyright: ignore[reportArgumentType]
        if line.is_thin and len(where) > 1 and not line.is_hollow.any():
            continue
        for hollow in (False, True):
            rows = line.is_hollow == hollow
            face = "none" if hollow else line.color
            axes.plot(
                where[rows],
                line.values[rows],
                linestyle="none",
                marker="o",
                markersize=size or 2.4,
                markerfacecolor=face,
                markeredgecolor=line.color,
                alpha=max(alpha, 0.6),
            )
    values = np.concatenate([line.values for line in lines])
    _limit(axes, panel, values[np.isfinite(values)], where)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6) if len(where) > 1 else FixedLocator([where[0]]))
    axes.yaxis.set_major_locator(MaxNLocator(integer=panel.is_whole, nbins=5))
    if panel.is_whole:
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    bare(axes, "top", "right")
    _explain(axes, panel, lines)


def _limit(axes: Axes, panel: _Panel, values: np.ndarray, where: np.ndarray) -> None:
    """Let axes begin and end where their numbers can, with room for marks, and all panels show the same epochs."""
    room = 0.04 * max(1.0, np.ptp(where)) if len(where) > 1 else 0.5
    axes.set_xlim(where.min() - room, where.max() + room)
    top = panel.highest if panel.highest is not None else float(values.max())
    bottom = panel.lowest if panel.lowest is not None else float(values.min())
    span = top - bottom or max(1.0, abs(top))
    axes.set_ylim(bottom - (0.05 if panel.lowest is None or not values.all() else 0.0) * span, bottom + 1.07 * span)


def _explain(axes: Axes, panel: _Panel, lines: list[_Line]) -> None:
    """Name the lines where there is more than one, and hollow marks where there are any."""
    named = [line for line in lines if line.label]
    handles = [
        Line2D([], [], color=line.color, linestyle=line.dash, linewidth=0.7 if line.is_thin else 1.5, label=line.label)  # pyright: ignore[reportArgumentType]
        for line in named
        if len(named) > 1 or panel.by_gate
    ]
    if any(line.is_hollow.any() for line in lines):
        handles.append(
            Line2D([], [], color=INK, marker="o", markersize=4, linestyle="none", markerfacecolor="none", label="bound")
        )
    if handles:
        axes.legend(
            handles=handles,
            frameon=False,
            fontsize=7,
            labelcolor=INK,
            loc="best",
            handlelength=1.8,
            borderpad=0.1,
            labelspacing=0.25,
            title="gate" if panel.by_gate else None,
            title_fontproperties={"size": 7},
        ).get_title().set_color(INK)


def _headline(records: Records) -> str:
    """Write which samples were tracked and what recording took."""
    said = f"{records.path.stem}: {len(records):,} record{'s' * (len(records) != 1)} of {records.num_samples:,} samples"
    return f"{said}; {cost_in_words(records)}" if len(records) else said


def cost_in_words(records: Records) -> str:
    """Write how many seconds recording took, and which share of the training where that took over a minute."""
    seconds, *shares = records.cost()
    said = f"recording took {signed(seconds, 3)} s"
    return f"{said}, {signed(shares[0])} of the training time" if shares else said
