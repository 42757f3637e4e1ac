"""All values of a network around a point as affine forms with noise: ``value = center + form u + noise e``, |e| <= 1.

A unit that keeps one piece wherever the step u may go passes its form on. One that does not is *open*: the chord of its
function over its range takes the function's place, and what the function strays from the chord is one more noise
symbol. Later values share the symbols, so what cancels cancels. Units may also be held to some of their pieces: then
the enclosure is that of the steps at which they have these.

References: affine arithmetic (Stolfi and de Figueiredo, 1997); as bounds of ReLU networks Singh et al., "Fast and
effective robustness certification" (NeurIPS 2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.interruption import step_point
from reluscope.needed_memory import need_at_once
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.graph.points import chunks
from reluscope.networks.passes.maps import linear_part
from reluscope.networks.passes.rounding import affine_error, piece_error

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph
    from reluscope.networks.passes.stages import Stage

# Ranges on both sides of a breakpoint count as on one side if they reach beyond by less than so many rounding errors.
CLEAR = 4.0
# Bytes of forms that are looked at together.
TOGETHER = 2**26


@dataclass(frozen=True, eq=False)
class Forms:
    """Affine forms with noise, later ones with more of its symbols."""

    centers: Float[np.ndarray, " f"]  # values at the point
    weights: Float[np.ndarray, "f n"]
    noise: Float[np.ndarray, "f e"]
    errors: Float[np.ndarray, " f"]  # bounds on the rounding of the centers

    @property
    def spread(self) -> Float[np.ndarray, " f"]:
        """How far the noise can move the forms."""
        return np.abs(self.noise).sum(axis=1)

    def __getitem__(self, rows: np.ndarray) -> "Forms":
        return Forms(self.centers[rows], self.weights[rows], self.noise[rows], self.errors[rows])

    def lowered(self, levels: Float[np.ndarray, " f"]) -> "Forms":
        """Return the forms less constants."""
        return Forms(self.centers - levels, self.weights, self.noise, self.errors)

    def reflected(self, levels: Float[np.ndarray, " f"]) -> "Forms":
        """Return constants less the forms."""
        return Forms(levels - self.centers, -self.weights, -self.noise, self.errors)

    def __sub__(self, other: "Forms") -> "Forms":
        return Forms(
            self.centers - other.centers,
            self.weights - other.weights,
            self.noise - other.noise,
            self.errors + other.errors,
        )


class OpenUnit(NamedTuple):
    """A unit that may be on several pieces: gate, unit, and the first and last piece of each part to split it into."""

    gate: int
    unit: int
    parts: tuple[tuple[int, int], ...]


class PossiblePieces(NamedTuple):
    """The pieces that the units of a gate may have, rounding included.

    Of max units ``first`` and ``last`` are both the candidate that leads at the point.
    """

    first: np.ndarray  # (u,) lowest of each unit
    last: np.ndarray  # (u,) highest of each unit
    leading: np.ndarray | None = None  # (u, k) max candidates that may also be the largest

    @property
    def several(self) -> dict[int, tuple[int, ...]]:
        """The pieces of units that may have more than one."""
        if self.leading is None:
            some = np.flatnonzero(self.last > self.first).tolist()
            return {unit: tuple(range(self.first[unit], self.last[unit] + 1)) for unit in some}
        some = np.flatnonzero(self.leading.any(axis=1)).tolist()
        return {unit: (int(self.first[unit]), *np.flatnonzero(self.leading[unit]).tolist()) for unit in some}


class FormValue(NamedTuple):
    """One value of the graph over all steps."""

    center: Tensor  # (1, *shape), at the point
    columns: Tensor  # (1, c, *shape), one slice per input and noise symbol
    size: Tensor  # (1, *shape), bounds of absolute values over all steps
    error: Tensor  # (1, *shape), bounds on the rounding of the centers


class FormCarrier:
    """Affine forms with noise that a network carries, over the steps of each of k balls or boxes.

    ``unit`` is the rounding of one sum relative to its absolute terms; ``count`` is the number of inputs and noise
    symbols so far.
    """

    unit: float
    dim: int
    count: int

    def affine(self, node: Affine, inputs: Sequence[FormValue]) -> FormValue:
        """Return the node's forms; columns of symbols that a value does not know of are zero."""
        sizes, errors = [one.size for one in inputs], [one.error for one in inputs]
        return FormValue(
            node.apply(*(one.center for one in inputs)),
            linear_part(node, [self.widened(one.columns) for one in inputs]),
            node.magnitudes.apply(*sizes),
            affine_error(node, sizes, errors, self.unit),
        )

    def widened(self, columns: Tensor) -> Tensor:
        """Return columns for all symbols so far."""
        missing = self.count - columns.shape[1]
        if not missing:
            return columns
        return torch.cat([columns, columns.new_zeros(len(columns), missing, *columns.shape[2:])], dim=1)

    def arrive(self, stage: "Stage", value: FormValue) -> FormValue:
        """Return what goes into the gate."""
        del stage
        return value._replace(columns=self.widened(value.columns))

    def departing(self, stage: "Stage", columns: Tensor, is_open: Tensor, passed: "PassedGate") -> FormValue:
        """Return a gate's output, with one new noise symbol for each open unit."""
        number, _, units = columns.shape
        place = is_open.cumsum(dim=1) - 1
        fresh = columns.new_zeros(number, int(place.max()) + 1 if units else 0, units)
        one, unit = is_open.nonzero(as_tuple=True)
        fresh[one, place[one, unit], unit] = passed.stray[one, unit]
        self.count += fresh.shape[1]
        shape = (number, *stage.gate.shape)
        return FormValue(
            passed.output.reshape(shape),
            torch.cat([columns, fresh], dim=1).reshape(number, self.count, *stage.gate.shape),
            torch.maximum(passed.largest, passed.output.abs()).reshape(shape),
            passed.error.reshape(shape),
        )


class AffineForms(FormCarrier):
    """Affine forms with noise over the steps away from a point.

    The caller of `carry` passes each gate by `pointwise` or `max`, which return whether the evaluation can go on.
    """

    def __init__(self, network: "NetworkGraph", point: np.ndarray, steps: CutBall, unit: float) -> None:
        self.steps, self.unit = steps, unit
        self.dim = self.count = network.num_inputs
        need_at_once(
            8 * self.dim * max(node.size for node in network.nodes),
            f"values of all units as functions of {self.dim:,} inputs",
            "ask on a Plane or a Segment, or about fewer inputs",
        )
        x = network.points(point)
        identity = torch.eye(self.dim, dtype=torch.float64, device=x.device).reshape(1, self.dim, *network.input_shape)
        reach = np.minimum(steps.reach, np.maximum(np.abs(steps.lower), np.abs(steps.upper)))
        farthest = _size(x, np.abs(point) + np.where(np.isfinite(reach), reach, 0.0))
        self.start = FormValue(x, identity, farthest, torch.zeros_like(x))
        self.is_empty = False
        self.limits: list[Forms] = []
        self.open: list[OpenUnit] = []
        self.pieces: list[PossiblePieces] = []

    def leave(self, stage: "Stage", arrived: FormValue) -> FormValue:
        """Return what `pointwise` or `max` made of what arrived."""
        del stage, arrived
        return self._left

    def form(self, value: FormValue) -> Forms:
        """Return the forms of the flattened entries of a value."""
        columns = self.widened(value.columns).reshape(self.count, -1)
        return self._forms(value.center.reshape(-1), columns, value.error.reshape(-1).cpu().numpy())

    def pointwise(self, stage: "Stage", arrived: FormValue, first: np.ndarray, last: np.ndarray) -> bool:
        """Pass a gate, and return whether the evaluation can go on."""
        gate = stage.gate
        assert isinstance(gate, Pointwise)
        pre = gate.candidates(arrived.center)
        columns = arrived.columns.reshape(self.count, -1)
        error = gate.candidates(arrived.error)
        forms = self._forms(pre[0], columns, error[0].cpu().numpy())
        low, high = self._range(forms)
        levels = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), gate.num_units))
        unit = np.arange(gate.num_units)
        least = np.where(first > 0, levels[np.maximum(first - 1, 0), unit], -np.inf)
        most = np.where(last < len(levels), levels[np.minimum(last, len(levels) - 1), unit], np.inf)
        clear = CLEAR * forms.errors
        if (low > most + clear).any() or (high < least - clear).any():
            self.is_empty = True
            return False
        # What varies by no more than rounding may be beyond its end anywhere: whoever reads limits has to know.
        margin = np.where(high - low <= 2 * clear, 0.0, clear)
        above, below = np.flatnonzero(low < least - margin), np.flatnonzero(high > most + margin)
        if len(above):
            self.limits.append(forms[above].reflected(least[above]))
        if len(below):
            self.limits.append(forms[below].lowered(most[below]))
        lowest, highest = (np.clip((levels < end).sum(axis=0), first, last) for end in (low, high))
        self.pieces.append(PossiblePieces(lowest, highest))
        low, high = np.clip(low, least, most), np.clip(high, least, most)
        # What is above the whole range is not below any of it, however close.
        begin = np.clip((levels < np.minimum(low + clear, high)).sum(axis=0), first, last)
        end = np.clip((levels < high - clear).sum(axis=0), begin, last)
        is_open = end > begin
        if not np.isfinite(high[is_open] - low[is_open]).all():
            self._split(stage, np.flatnonzero(is_open & ~np.isfinite(high - low)), begin, end)
            return False
        self._split(stage, np.flatnonzero(is_open), begin, end)
        tables = [torch.as_tensor(one, device=pre.device)[None] for one in (low, high, begin, is_open)]
        ends = [torch.where(one.isfinite(), one, 0.0) for one in tables[:2]]
        slope, passed = pass_gate(gate, pre, error, tables, ends, self.unit)
        self._left = self.departing(stage, slope[:, None] * columns[None], tables[3], passed)
        return True

    def max(self, stage: "Stage", arrived: FormValue, first: np.ndarray, last: np.ndarray) -> bool:
        """Pass a gate, and return whether the evaluation can go on."""
        gate = stage.gate
        assert isinstance(gate, Max)
        pre, columns = gate.candidates(arrived.center), arrived.columns.reshape(self.count, -1)
        flat_pre, flat_noise = arrived.center.reshape(-1), arrived.error.reshape(-1).cpu().numpy()
        entries = gate.index.cpu().numpy()
        number, count = entries.shape
        is_fixed = first == last
        chosen = np.where(is_fixed, first, pre[0].argmax(dim=-1).cpu().numpy())
        source = entries[np.arange(number), chosen]
        forms = self._forms(flat_pre, columns, flat_noise)
        rivals, sources = np.maximum(entries, 0).reshape(-1), np.repeat(source, count)
        low, high = (end.reshape(number, count) for end in self._ranges(forms, rivals, less=sources))
        clear = CLEAR * (forms.errors[rivals] + forms.errors[sources]).reshape(number, count)
        is_ahead = (high > clear) & (entries >= 0) & (entries != source[:, None])
        if (is_fixed[:, None] & is_ahead & (low > clear)).any():
            self.is_empty = True
            return False
        is_hidden = (high > 0) & (high - low <= 2 * clear) & (entries >= 0) & (entries != source[:, None])
        cut = np.flatnonzero((is_fixed[:, None] & (is_ahead | is_hidden)).reshape(-1))
        if len(cut):
            self.limits.append(forms[rivals[cut]] - forms[sources[cut]])
        leading = (high >= 0) & (entries >= 0) & (entries != source[:, None]) & ~is_fixed[:, None]
        self.pieces.append(PossiblePieces(chosen, chosen, leading))
        is_open = ~is_fixed & is_ahead.any(axis=1)
        which = np.flatnonzero(is_open)
        lead = np.where(is_ahead, high, 0.0).max(axis=1)
        endless = which[~np.isfinite(lead[which])]
        for unit in (endless if len(endless) else which).tolist():
            candidates = np.union1d(np.flatnonzero(is_ahead[unit]), chosen[unit]).tolist()
            self.open.append(OpenUnit(stage.index, unit, tuple((candidate, candidate) for candidate in candidates)))
        if len(endless):
            return False
        stray = np.where(is_open, lead / 2, 0.0)
        taken = torch.as_tensor(source, device=columns.device)
        output = flat_pre[taken] + torch.as_tensor(stray, device=columns.device)
        ends = np.abs(self._ranges(forms, source))
        largest = np.where(np.isfinite(ends), ends, 0.0).max(axis=0) + stray
        # Rivals that are ahead by no more than what counts as clear are left out.
        passed = np.where(entries >= 0, flat_noise[np.maximum(entries, 0)], 0.0).max(axis=1, initial=0.0) + np.where(
            is_fixed, 0.0, np.where(high > 0, np.minimum(high, clear), 0.0).max(axis=1, initial=0.0)
        )
        passed = passed + self.unit * stray
        tables = [torch.as_tensor(one, device=columns.device)[None] for one in (stray, largest, passed)]
        is_new = torch.as_tensor(is_open, device=columns.device)[None]
        self._left = self.departing(stage, columns[None, :, taken], is_new, PassedGate(output[None], *tables))
        return True

    def _split(self, stage: "Stage", which: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Add pointwise units to the open ones, to be split in the middle of their pieces."""
        most = stage.gate.num_pieces - 1
        for unit in which.tolist():
            middle = (int(begin[unit]) + int(end[unit])) // 2
            self.open.append(OpenUnit(stage.index, unit, ((0, middle), (middle + 1, most))))

    def _forms(self, centers: Tensor, columns: Tensor, errors: np.ndarray) -> Forms:
        table = columns.T.cpu().numpy()
        return Forms(centers.cpu().numpy(), table[:, : self.dim], table[:, self.dim :], errors)

    def _ranges(self, forms: Forms, rows: np.ndarray, less: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of some forms, less others: a few at a time, as a table of all may take gigabytes."""
        found = []
        for part in chunks(max(1, len(rows)), 8 * (self.dim + forms.noise.shape[1]), TOGETHER):
            step_point()
            some = forms[rows[part]]
            found.append(self._range(some if less is None else some - forms[less[part]]))
        low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return low, high

    def _range(self, forms: Forms) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.steps.extent(forms.weights)
        spread = forms.spread + forms.errors
        return forms.centers + low - spread, forms.centers + high + spread


def _size(center: Tensor, largest: np.ndarray) -> Tensor:
    """Return bounds on the absolute values of a value's entries over all steps; of its center where endless."""
    return torch.maximum(torch.as_tensor(largest, device=center.device).reshape(center.shape), center.abs())


class PassedGate(NamedTuple):
    """What a gate makes of forms, but for their columns: entries (k, u)."""

    output: Tensor
    stray: Tensor  # how far the gate strays from the chord
    largest: Tensor  # bounds on absolute values
    error: Tensor


def pass_gate(
    gate: Pointwise, pre: Tensor, error: Tensor, seen: Sequence[Tensor], ends: Sequence[Tensor], unit: float
) -> tuple[Tensor, PassedGate]:
    """Return by what columns are multiplied, and what becomes of centers ``pre`` and their errors, at a gate.

    ``seen`` are the least and greatest inputs, the piece of closed units, and which are open; ``ends`` count for sizes.
    """
    low, high, begin, is_open = seen
    levels = gate.breakpoints.expand(-1, low.shape[1])[:, None]
    slope, middle, stray = _chords(gate, low, high, begin, is_open)
    largest = torch.maximum(*((slope * end + middle).abs() for end in ends)) + stray
    # A closed unit may still be beyond its kink by what counts as clear of it.
    crosses = ((levels > low) & (levels < high)).any(dim=0) & ~is_open
    passed = piece_error(slope, middle.abs() + stray, torch.maximum(*(end.abs() for end in ends)), error, unit)
    passed = passed + torch.where(crosses, 2 * gate.slopes.abs().amax(dim=0) * (CLEAR * error), 0.0)
    return slope, PassedGate(slope * pre + middle, stray, largest, passed)


def _chords(
    gate: Pointwise, low: Tensor, high: Tensor, begin: Tensor, is_open: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return slopes and constants of chords, and how far functions stray from them; the own piece of closed units."""
    units = low.shape[1]
    slopes, intercepts = gate.slopes.expand(-1, units), gate.intercepts.expand(-1, units)
    levels, unit = gate.breakpoints.expand(-1, units)[:, None], torch.arange(units, device=low.device)
    places = torch.cat([low[None], high[None], torch.clamp(levels.expand(-1, *low.shape), low, high)])
    pieces = (places[:, None] > levels[None]).sum(dim=1)
    values = slopes[pieces, unit] * places + intercepts[pieces, unit]
    chord = (values[1] - values[0]) / torch.where(is_open, high - low, 1.0)
    away = values - chord * places
    top, bottom = away.amax(dim=0), away.amin(dim=0)
    return (
        torch.where(is_open, chord, slopes[begin, unit]),
        torch.where(is_open, (top + bottom) / 2, intercepts[begin, unit]),
        torch.where(is_open, (top - bottom) / 2, 0.0),
    )
