"""The meaning of the colours of regions: a share of active units, a size, groups, or any quantity the user gives."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float, Int, Shaped
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LogNorm, Normalize, to_hex, to_rgba
from matplotlib.patches import Patch

from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.random_kinds import random_kinds
from reluscope.errors import InputError, ShapeError
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_numbers import RATE, VOLUME
from reluscope.partitions.region_quantities import region_quantities
from reluscope.plots.style import NEUTRAL, category, scale_beside, tint

Quantity = Callable[[Partition], Shaped[np.ndarray, " r"]]
Color = str | Quantity | Shaped[np.ndarray, " r"] | None

# Red, green, blue and opacity.
Shade = tuple[float, float, float, float]

MAX_KINDS = 10
LEVELS = 32
SLIVERS = 0.01


@dataclass(frozen=True)
class Kinds:
    """Regions in groups without order; ``names`` is empty if the groups mean nothing."""

    group: Int[np.ndarray, " r"]
    names: tuple[str, ...]
    label: str = ""
    share: float = 0.6  # of the colour of each category, mixed with white

    @property
    def palette(self) -> list[Shade]:
        """The colour of every group."""
        kinds = range(int(self.group.max(initial=0)) + 1)
        return [to_rgba(tint(category(kind), self.share)) for kind in kinds]

    def explain(self, axes: Axes) -> list[Patch]:
        """Return the legend; nothing is put beside the axes."""
        del axes
        return [Patch(color=to_hex(one), label=name) for one, name in zip(self.palette, self.names, strict=False)]


@dataclass(frozen=True)
class Scale:
    """Regions by a number; those where it is not finite have no colour of the scale.

    A logarithmic scale starts at its lowest percentile, below which values share the lowest colour: a few slivers would
    take most of it.
    """

    values: Float[np.ndarray, " r"]
    label: str = ""
    is_logarithmic: bool = False
    ramp: str | Colormap = "cividis"
    num_levels: int = LEVELS

    @property
    def ends(self) -> tuple[float, float]:
        """The values at both ends of the scale, not equal."""
        finite = self.values[np.isfinite(self.values)]
        if self.is_logarithmic:
            finite = finite[finite > 0]
        if not len(finite):
            return 0.0, 1.0
        low = float(np.quantile(finite, SLIVERS, method="lower") if self.is_logarithmic else finite.min())
        high = float(finite.max())
        return (low, high) if high > low else (low, low + max(1.0, abs(low)))

    @property
    def only(self) -> float | None:
        """The value, if it is the same everywhere."""
        return float(self.values[0]) if len(self.values) and bool((self.values == self.values[0]).all()) else None

    @property
    def extend(self) -> Literal["min", "neither"]:
        """Whether values lie below the scale."""
        return "min" if bool((self.values < self.ends[0]).any()) else "neither"

    def norm(self) -> Normalize:
        """Return the way from values to [0, 1]."""
        return LogNorm(*self.ends) if self.is_logarithmic and self.ends[0] > 0 else Normalize(*self.ends)

    @cached_property
    def group(self) -> Int[np.ndarray, " r"]:
        """Which of equal steps of the scale each value lies on, -1 where it is not finite."""
        known, number = np.isfinite(self.values), self.num_levels
        shown = self.norm()(np.clip(np.where(known, self.values, self.ends[0]), *self.ends))
        return np.where(known, np.minimum(number * np.ma.getdata(shown), number - 1), -1).astype(np.int64)

    @property
    def palette(self) -> list[Shade]:
        """The colour of every step, and last that of values without one."""
        ramp = colormaps.get_cmap(self.ramp)
        return [*(ramp((step + 0.5) / self.num_levels) for step in range(self.num_levels)), to_rgba(NEUTRAL)]

    def explain(self, axes: Axes) -> list[Patch]:
        """Put the scale beside the axes, if values differ; return the legend."""
        if self.only is not None:
            return [Patch(color=to_hex(self.palette[self.group[0]]), label=f"{self.label} {self.only:.4g} everywhere")]
        scale_beside(axes, self.norm(), colormaps.get_cmap(self.ramp), self.label, extend=self.extend)
        return [Patch(color=NEUTRAL, label="no value")] if (self.group < 0).any() else []


def coloring(part: Partition, color: Color, label: str = "") -> Kinds | Scale:
    """Return the groups or the scale that a choice of colours stands for, for a partition's regions.

    ``label`` takes the place of the known meaning; "class" is not accepted. Raises InputError for unknown names or a
    missing activation rate, ShapeError without one entry per region.
    """
    if color is None:
        rate = activation_rate(part.codes)
        # Where k of n units are active everywhere, one colour would hide all regions.
        tells = rate is not None and (len(part) < 2 or len(np.unique(rate)) > 1)
        color = RATE.name if tells else "random"
    if isinstance(color, str):
        if color == "random":
            return Kinds(random_kinds(part.codes), (), label)
        return _declared(part, color, label)
    if callable(color):
        name = getattr(color, "__name__", "")
        label = label or ("" if name == "<lambda>" else name.replace("_", " "))
        color = color(part)
    return quantity(np.asarray(color), len(part), "region", label)


def _declared(part: Partition, color: str, label: str) -> Kinds | Scale:
    """Return the scale of a declared quantity; the volume of few dimensions is an area."""
    size = "area" if part.dim < 3 else VOLUME.name
    known = {entry.name: entry for entry in region_quantities()}
    entry = known.get(VOLUME.name if color == size else color)
    if entry is None:
        names = ('"class", "area", ' if part.dim < 3 else "") + ", ".join(f'"{name}"' for name in known)
        raise InputError(
            f'color must be "random", {names}, a callable that takes the partition, or an array with one entry per '
            f"region, got {color!r}"
        )
    if lacking := entry.why_not(part):
        raise InputError(f'{entry.quantity.title} needs {lacking}: use color="random" or "{size}"')
    known_label = {VOLUME.name: "length" if part.dim == 1 else size, RATE.name: "share of active units"}
    label = label or known_label.get(entry.name, entry.quantity.title)
    if entry.quantity.is_discrete:
        return quantity(entry.of(part), len(part), "region", label)
    return Scale(entry.of(part).astype(np.float64), label, entry.is_logarithmic)


def quantity(values: Shaped[np.ndarray, "..."], number: int, what: str, label: str = "") -> Kinds | Scale:
    """Return given entries as kinds (text, truth values, whole numbers of up to ten different values) or as a scale."""
    if values.shape != (number,):
        raise ShapeError(f"expected one colour per {what}, ({number},), got shape {values.shape}")
    if values.dtype.kind in "fiu" and (values.dtype.kind == "f" or len(np.unique(values)) > MAX_KINDS):
        return Scale(values.astype(np.float64), label)
    if values.dtype.kind not in "biuUO":
        raise InputError(f"colours must be numbers, truth values or text, got an array of {values.dtype}")
    kinds, group = np.unique(values, return_inverse=True)
    return Kinds(group.reshape(-1).astype(np.int64), tuple(f"{label} {kind}".strip() for kind in kinds), label)
