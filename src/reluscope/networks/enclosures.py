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
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from reluscope.geometry.balls import CutBall
from reluscope.networks.graph import Max, Pointwise
from reluscope.networks.linearize import run_linear
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage, Values

# Ranges on both sides of a breakpoint count as on one side if they reach beyond by less than so many rounding errors.
CLEAR = 4.0


@dataclass(frozen=True, eq=False)
class Forms:
    """Affine forms with noise.

    Parameters
    ----------
    centers : (f,) float64
        Values at the point.
    weights : (f, n) float64
    noise : (f, e) float64
        Later forms have more noise symbols.
    errors : (f,) float64
        Bounds on the rounding of the centers.
    """

    centers: Float[np.ndarray, " f"]
    weights: Float[np.ndarray, "f n"]
    noise: Float[np.ndarray, "f e"]
    errors: Float[np.ndarray, " f"]

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


@dataclass(frozen=True, eq=False)
class Enclosure:
    """What all values of a network can be.

    Parameters
    ----------
    is_empty : bool
        Whether no step lets all units have the pieces they are held to.
    limits : list of Forms
        Forms that are at most 0 where units have the pieces they are held to; what the ball implies is left out.
    open : list of OpenUnit
        One per noise symbol.
    outputs : Forms, optional
        None where an open unit has an infinite range: later gates are then left out, too.
    """

    is_empty: bool
    limits: list[Forms]
    open: list[OpenUnit]
    outputs: Forms | None


@torch.no_grad()
def enclose(
    network: Network,
    point: Float[np.ndarray, " n"],
    steps: CutBall,
    first: Sequence[Integer[np.ndarray, " _"]],
    last: Sequence[Integer[np.ndarray, " _"]],
    *,
    rounding: float,
) -> Enclosure:
    """Enclose all values over steps away from a point.

    Parameters
    ----------
    network : Network
    point : (n,) array
    steps : CutBall
        The steps u.
    first, last : sequences of (u,) integer arrays
        The pieces that each unit may have, one array per gate. A max unit is held to one candidate, or to none.
    rounding : float
        Of a sum, relative to the magnitudes of its terms.

    Returns
    -------
    Enclosure

    Notes
    -----
    About a forward pass per input and open unit.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [2.0]]), np.array([0.5, 9.0])), (np.ones((1, 2)), np.zeros(1))])
    >>> steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    >>> found = enclose(net, np.zeros(1), steps, [np.zeros(2, int)], [np.ones(2, int)], rounding=1e-15)
    >>> found.open, found.outputs.centers + found.outputs.noise.sum(1)  # u + 0.5 may change its sign
    ([OpenUnit(gate=0, unit=0, parts=((0, 0), (1, 1)))], array([9.75]))
    """
    walk = _Walk(network, point, steps, rounding)
    outputs = None
    for stage, low, high in zip(network.stages, first, last, strict=True):
        through = walk.max if isinstance(stage.gate, Max) else walk.pointwise
        if not through(stage, low.astype(np.int64), high.astype(np.int64)):
            break
    else:
        outputs = walk.outputs()
    return Enclosure(walk.is_empty, walk.limits, walk.open, outputs)


class _Walk:
    """The values from which the next gate starts: centers, and one column per input and per noise symbol."""

    def __init__(self, network: Network, point: np.ndarray, steps: CutBall, rounding: float) -> None:
        self.network, self.steps, self.rounding = network, steps, rounding
        self.dim = network.num_inputs
        x = network.points(point)
        identity = torch.eye(self.dim, dtype=torch.float64, device=x.device)
        self.centers: Values = network.start(x)
        self.columns: Values = {0: identity.reshape(1, self.dim, *network.input_shape)}
        reach = np.minimum(steps.reach, np.maximum(np.abs(steps.lower), np.abs(steps.upper)))
        self.sizes: Values = {0: self._sizes(x, np.abs(point) + np.where(np.isfinite(reach), reach, 0.0))}
        self.errors: Values = {position: torch.zeros_like(value) for position, value in self.centers.items()}
        self.is_empty = False
        self.limits: list[Forms] = []
        self.open: list[OpenUnit] = []

    def pointwise(self, stage: Stage, first: np.ndarray, last: np.ndarray) -> bool:
        """Go through a gate; tell whether there is a way on."""
        gate = stage.gate
        assert isinstance(gate, Pointwise)
        pre, columns, noise = self._to_gate(stage)
        forms = self._forms(pre[0], columns, noise)
        low, high = self._range(forms)
        levels = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), gate.num_units))
        unit = np.arange(gate.num_units)
        least = np.where(first > 0, levels[np.maximum(first - 1, 0), unit], -np.inf)
        most = np.where(last < len(levels), levels[np.minimum(last, len(levels) - 1), unit], np.inf)
        clear = CLEAR * forms.errors
        if (low > most + clear).any() or (high < least - clear).any():
            self.is_empty = True
            return False
        above, below = np.flatnonzero(low < least - clear), np.flatnonzero(high > most + clear)
        if len(above):
            self.limits.append(forms[above].reflected(least[above]))
        if len(below):
            self.limits.append(forms[below].lowered(most[below]))
        low, high = np.clip(low, least, most), np.clip(high, least, most)
        begin = np.clip((levels < low + clear).sum(axis=0), first, last)
        end = np.clip((levels < high - clear).sum(axis=0), begin, last)
        is_open = end > begin
        if not np.isfinite(high[is_open] - low[is_open]).all():
            self._split(stage, np.flatnonzero(is_open & ~np.isfinite(high - low)), begin, end)
            return False
        slope, middle, stray = _chords(gate, low, high, begin, is_open)
        output = torch.as_tensor(slope, device=pre.device) * pre + torch.as_tensor(middle, device=pre.device)
        which = np.flatnonzero(is_open)
        self._split(stage, which, begin, end)
        ends = np.where(np.isfinite([low, high]), [low, high], 0.0)
        largest = np.abs(slope * ends + middle).max(axis=0) + stray
        # A closed unit may still be beyond its kink by what counts as clear of it.
        crosses = ((levels > low) & (levels < high)).any(axis=0) & ~is_open
        steepest = gate.slopes.abs().amax(dim=0).cpu().numpy()
        plain = ((slope == 0) | (slope == 1)) & (middle == 0) & ~is_open
        size = np.abs(slope) * np.abs(ends).max(axis=0) + np.abs(middle) + stray
        passed = np.abs(slope) * noise + np.where(crosses, 2 * steepest * clear, 0.0)
        passed = passed + np.where(plain, 0.0, self.rounding * size)
        columns = torch.as_tensor(slope, device=pre.device) * columns
        self._from_gate(stage, output, columns, which, stray, largest, passed)
        return True

    def max(self, stage: Stage, first: np.ndarray, last: np.ndarray) -> bool:
        """Go through a gate; tell whether there is a way on."""
        gate = stage.gate
        assert isinstance(gate, Max)
        pre, columns, noise = self._to_gate(stage)
        entries = gate.index.cpu().numpy()
        number, count = entries.shape
        held = first == last
        chosen = np.where(held, first, pre[0].argmax(dim=-1).cpu().numpy())
        source = entries[np.arange(number), chosen]
        flat_pre, flat_noise = self.flat, np.zeros(self.flat.shape[0])
        flat_noise[np.maximum(entries, 0)] = noise
        forms = self._forms(flat_pre, columns, flat_noise)
        rivals = np.maximum(entries, 0).reshape(-1)
        ahead = forms[rivals] - forms[np.repeat(source, count)]
        low, high = (end.reshape(number, count) for end in self._range(ahead))
        clear = CLEAR * ahead.errors.reshape(number, count)
        beyond = (high > clear) & (entries >= 0) & (entries != source[:, None])
        if (held[:, None] & beyond & (low > clear)).any():
            self.is_empty = True
            return False
        cut = np.flatnonzero((held[:, None] & beyond).reshape(-1))
        if len(cut):
            self.limits.append(ahead[cut])
        is_open = ~held & beyond.any(axis=1)
        which = np.flatnonzero(is_open)
        lead = np.where(beyond, high, 0.0).max(axis=1)
        endless = which[~np.isfinite(lead[which])]
        for unit in (endless if len(endless) else which).tolist():
            candidates = np.union1d(np.flatnonzero(beyond[unit]), chosen[unit]).tolist()
            self.open.append(OpenUnit(stage.index, unit, tuple((candidate, candidate) for candidate in candidates)))
        if len(endless):
            return False
        stray = np.where(is_open, lead / 2, 0.0)
        taken = torch.as_tensor(source, device=columns.device)
        output = flat_pre[taken] + torch.as_tensor(stray, device=columns.device)
        ends = np.abs(self._range(forms[source]))
        largest = np.where(np.isfinite(ends), ends, 0.0).max(axis=0) + stray
        # Rivals that are ahead by no more than what counts as clear are left out.
        passed = np.where(entries >= 0, noise, 0.0).max(axis=1, initial=0.0) + np.where(
            held, 0.0, np.where(high > 0, np.minimum(high, clear), 0.0).max(axis=1, initial=0.0)
        )
        passed = passed + self.rounding * stray
        self._from_gate(stage, output, columns[:, taken], which, stray, largest, passed)
        return True

    def outputs(self) -> Forms:
        """Return the forms of the outputs."""
        finish = self.network.finish
        columns = run_linear(finish.leg.plan, self.columns)[finish.leg.target].reshape(self.count, -1)
        errors = finish.errors(self.sizes, self.errors, self.rounding)
        return self._forms(finish(self.centers).reshape(-1), columns, errors)

    @property
    def count(self) -> int:
        """Columns: inputs and noise symbols so far."""
        return self.dim + len(self.open)

    def _to_gate(self, stage: Stage) -> tuple[Tensor, Tensor, np.ndarray]:
        """Return pre-activations, columns of the gate's flattened input, and errors of the pre-activations."""
        values = stage.leg.run(self.centers)
        self.flat = values[stage.leg.target].reshape(-1)
        self.centers = {position: values[position] for position in stage.keeps}
        columns = run_linear(stage.leg.plan, self.columns)
        self.columns = {position: columns[position] for position in stage.keeps}
        for position in stage.keeps:
            if position not in self.sizes:
                value, table = values[position].reshape(-1), columns[position].reshape(self.count, -1)
                forms = self._forms(value, table, np.zeros(len(value)))
                ends = np.abs(self._range(forms))
                self.sizes[position] = self._sizes(values[position], np.where(np.isfinite(ends), ends, 0.0).max(axis=0))
        _, errors, self.errors = stage.advance_errors(self.sizes, self.errors, self.rounding)
        pre = stage.gate.candidates(values[stage.leg.target])
        return pre, columns[stage.leg.target].reshape(self.count, -1), errors

    def _sizes(self, center: Tensor, largest: np.ndarray) -> Tensor:
        """Return bounds on the absolute values of a value's entries over all steps; over its center where endless."""
        return torch.maximum(torch.as_tensor(largest, device=center.device).reshape(center.shape), center.abs())

    def _from_gate(
        self,
        stage: Stage,
        output: Tensor,
        columns: Tensor,
        which: np.ndarray,
        stray: np.ndarray,
        largest: np.ndarray,
        errors: np.ndarray,
    ) -> None:
        """Go on with a gate's output: one new symbol for each open unit."""
        fresh = columns.new_zeros(len(which), columns.shape[1])
        fresh[torch.arange(len(which)), torch.as_tensor(which)] = torch.as_tensor(stray[which], device=fresh.device)
        for position, kept in self.columns.items():
            more = kept.new_zeros(1, self.count - kept.shape[1], *kept.shape[2:])
            self.columns[position] = torch.cat([kept, more], dim=1)
        shape = stage.gate.shape
        self.columns[stage.position] = torch.cat([columns, fresh]).reshape(1, -1, *shape)
        self.centers[stage.position] = output.reshape(1, *shape)
        self.errors[stage.position] = torch.as_tensor(errors, device=output.device).reshape(1, *shape)
        self.sizes[stage.position] = self._sizes(self.centers[stage.position], largest)

    def _split(self, stage: Stage, which: np.ndarray, begin: np.ndarray, end: np.ndarray) -> None:
        """Write down open pointwise units, to be split in the middle of their pieces."""
        most = stage.gate.num_pieces - 1
        for unit in which.tolist():
            middle = (int(begin[unit]) + int(end[unit])) // 2
            self.open.append(OpenUnit(stage.index, unit, ((0, middle), (middle + 1, most))))

    def _forms(self, centers: Tensor, columns: Tensor, errors: np.ndarray) -> Forms:
        table = columns.T.cpu().numpy()
        return Forms(centers.cpu().numpy(), table[:, : self.dim], table[:, self.dim :], errors)

    def _range(self, forms: Forms) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.steps.extent(forms.weights)
        spread = forms.spread + forms.errors
        return forms.centers + low - spread, forms.centers + high + spread


def _chords(
    gate: Pointwise, low: np.ndarray, high: np.ndarray, piece: np.ndarray, is_open: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return slopes and constants of chords, and how far functions stray from them; the own piece of closed units."""
    slopes, intercepts = (np.broadcast_to(t.cpu().numpy(), (len(t), len(low))) for t in (gate.slopes, gate.intercepts))
    unit = np.arange(len(low))
    slope, middle, stray = slopes[piece, unit], intercepts[piece, unit], np.zeros(len(low))
    if not is_open.any():
        return slope, middle, stray
    low, high, slopes, intercepts = low[is_open], high[is_open], slopes[:, is_open], intercepts[:, is_open]
    levels = np.broadcast_to(gate.breakpoints.cpu().numpy(), (len(gate.breakpoints), len(unit)))[:, is_open]
    places = np.concatenate([low[None], high[None], np.clip(levels, low, high)])
    pieces = (places[:, None] > levels[None]).sum(axis=1)
    values = np.take_along_axis(slopes, pieces, axis=0) * places + np.take_along_axis(intercepts, pieces, axis=0)
    chord = (values[1] - values[0]) / (high - low)
    away = values - chord * places
    top, bottom = away.max(axis=0), away.min(axis=0)
    slope[is_open], middle[is_open], stray[is_open] = chord, (top + bottom) / 2, (top - bottom) / 2
    return slope, middle, stray
