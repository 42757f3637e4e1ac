"""The nearest change of class in a convex set of steps u away from a point, on which the outputs are affine.

The outputs on that set decide which classes may win there; with a single output f the classes 0 and 1 have the outputs
0 and f.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Integer

from reluscope.analyses.robustness.rival_class import Rival
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.polyhedra.nearest_point import NearestPoint, nearest_point
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.passes.forms import Forms
from reluscope.regions.region_of_code import region_of_code

_Given = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# Lengths below this, relative to the point and its distances, are not resolved in floats. The domain has no part in it.
RESOLUTION = 1e-9
# Steps into a half-space are no longer than this, in units of the distance that is sought there.
MAX_LENGTH = 1e5
# Rows move inwards by at least this share of the point's scale, so that a point inside them has an interior around it.
LEAST_MOVE = 1e-100
# Corrections of a step by the rows that it violates. Where they do not suffice, programs solve for the nearest point of
# rows that moved by such shares of the distance more, for programs have tolerances, and within so many distances.
MAX_PUSHES, MOVES, FARTHEST = 3, (0.0, 4e-9, 1e-7), 1e3
# A direction leads away from rows of length 1 if its entries are at most 1 and it leaves each of them by so much.
LEAST_WAY_IN = 1e-5


class StepRegion:
    """A convex set of steps from a point, a closed region or an enclosure, with affine forms of outputs.

    ``rows u <= slack`` with rows of length 1, which the domain's join; it holds for steps up to ``radius``. Steps
    shorter than ``clear`` cross no hyperplane whose slopes are below their rounding: those are no rows.
    """

    def __init__(
        self,
        view: Viewpoint,
        rows: Float[np.ndarray, "h n"],
        slack: Float[np.ndarray, " h"],
        errors: Float[np.ndarray, " h"],
        entries: Float[np.ndarray, " h"],
        outputs: Forms,
        *,
        radius: float = np.inf,
        weight_error: float = 0.0,
        clear: float = np.inf,
    ) -> None:
        self.view, self.outputs, self.radius, self.weight_error = view, outputs, radius, weight_error
        self.clear = clear
        limits = view.domain.half_spaces
        self.num_own = len(rows)
        own = HalfSpaces(rows, slack, view.lower, view.upper)
        self.half_spaces = own.cut(limits.rows, limits.offsets - limits.rows @ view.x)
        sizes = np.abs(limits.offsets) + np.abs(limits.rows) @ np.abs(view.x)
        self.errors = np.concatenate([errors, view.rounding * sizes])
        self.entries = np.concatenate([entries, np.full(len(limits.rows), view.rounding)])
        self.origin = np.zeros(len(view.x))
        self._last: tuple[Rival | None, _Given] | None = None  # the rows that were asked for last

    @classmethod
    def of(cls, view: Viewpoint, pieces: Sequence[Integer[np.ndarray, " _"]]) -> "StepRegion":
        """Return the region of a code."""
        region = region_of_code(view.network, view.x, pieces, tolerance=view.tolerance)
        outputs = Forms(region.outputs, region.weight, np.zeros((len(region.outputs), 0)), region.errors)
        return cls(
            view,
            region.rows,
            region.slack,
            region.noise,
            region.entries,
            outputs,
            weight_error=region.weight_error,
            clear=region.clear / view.norm.dual.size_of_ones(len(view.x)),
        )

    @cached_property
    def rivals(self) -> list[Rival]:
        """The classes that may win somewhere by these outputs."""
        labels = range(max(2, len(self.outputs.centers)))
        found = [self.rival(label) for label in labels if label != self.view.label]
        return [rival for rival in found if rival is not None]

    def rival(self, label: int) -> Rival | None:
        """Return another class as a half-space, None if it wins nowhere by these outputs."""
        outputs, own = self.outputs, self.view.label
        entries = float(np.abs(outputs.weights).max(initial=0.0))
        if len(outputs.centers) == 1:  # the classes 0 and 1 have the outputs 0 and f
            lead = outputs if own == 1 else outputs.reflected(np.zeros(1))
        else:
            lead = outputs[np.array([own])] - outputs[np.array([label])]
        row, noise, error = lead.weights[0], lead.noise[0], float(lead.errors[0])
        slack = float(np.abs(noise).sum() - lead.centers[0])
        doubt = max(self.view.rounding * entries * max(2, len(outputs.centers)), 2 * self.weight_error)
        length = float(self.view.norm.dual.size(row))
        steepest = length + doubt * self.view.norm.dual.size_of_ones(len(row))
        behind = max(0.0, -slack - error)
        least = behind / steepest if steepest > 0 else 0.0 if behind == 0 else np.inf
        if np.abs(row).max(initial=0.0) > doubt:
            return Rival(label, row, slack, noise, error, length, float(doubt), float(least))
        # Outputs that differ by a constant, as far as floats can tell; of equal ones the lower wins.
        if least > self.reach or (slack + error <= 0 and steepest == error == 0 and (slack < 0 or label > own)):
            return None
        is_equal = bool(slack == steepest == error == 0)
        return Rival(
            label,
            0 * row,
            0.0,
            noise,
            error,
            0.0,
            float(doubt),
            float(least),
            is_equal,
            is_equal or bool(slack > error),
        )

    @cached_property
    def reach(self) -> float:
        """The length of the longest steps."""
        ends = np.maximum(-self.view.lower, self.view.upper)
        return min(self.radius, float(self.view.norm.size(ends)) if np.isfinite(ends).all() else np.inf)

    def half_spaces_beyond(self, rival: Rival) -> HalfSpaces:
        """Return the part of the set where another class is not below the point's own."""
        return self.half_spaces.cut(rival.row[None], np.array([rival.slack]))

    def cut(self, rival: Rival, found: NearestPoint) -> tuple[Float[np.ndarray, " n"] | None, float]:
        """Return ``form u >= level`` of dual norm 1 that holds wherever a rival may win: what keeps it from being near.

        Any combination of rows says something of this kind; that of the nearest change has the largest level.
        """
        rows, offsets, errors, entries = self._given(rival)
        form = -(found.multipliers @ rows)
        length, doubt = float(self.view.norm.dual.size(form)), float(found.multipliers @ entries)
        if not length > 0 or (doubt > 0 and not np.isfinite(self.reach)):
            return None, 0.0
        level = -float(found.multipliers @ (offsets + errors)) - (doubt * self.reach if doubt > 0 else 0.0)
        return form / length, level / length

    def nearest_change(self, rival: Rival, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the set where another class is not below the point's own."""
        return self._nearest(self.half_spaces_beyond(rival), self.view.norm, bound)

    def proved(self, rival: Rival | None, found: NearestPoint) -> float:
        """Return a distance below which no change, or no point of the set, is, whatever rounding made of the rows."""
        rows, offsets, errors, entries = self._given(rival)
        multipliers = found.multipliers
        errors, entries = float(multipliers @ errors), float(multipliers @ entries)
        if found.is_empty or errors == entries == 0:
            return found.lower
        form, bounds = multipliers @ rows, found.bound_multipliers
        # What multipliers were divided by: in l2 the length of their sum, with those of bounds; in l1 and linf, where a
        # side of a box may stop what exceeds it, at least 1.
        length = float(np.linalg.norm(form + bounds)) if self.view.norm.order == 2 else 1.0
        lower = (found.lower * length - errors) / (length + entries) if length > 0 else 0.0
        if not np.isfinite(found.distance):  # multipliers of a contradiction, or nearly one, with those of bounds
            sides = np.where(bounds > 0, self.half_spaces.upper, np.where(bounds < 0, self.half_spaces.lower, 0.0))
            value = -float(multipliers @ offsets) - float(bounds @ sides) - errors
            terms = float(multipliers @ np.abs(offsets)) + float(np.abs(bounds) @ np.abs(sides))
            value -= len(multipliers) * np.finfo(float).eps * terms
            steep = float(np.linalg.norm(form + bounds)) + entries
            steep += (
                (len(multipliers) + len(form)) * np.finfo(float).eps * float(multipliers.sum() + np.abs(bounds).sum())
            )
            spread = self.view.norm.stretch(len(form))
            lower = max(lower, value / (steep * spread) if steep > 0 else 0.0)
        return max(0.0, min(found.lower, lower))

    def _given(self, rival: Rival | None) -> "_Given":
        """Return rows and offsets, bounds on their errors, and on what the rows' entries make of a step of length 1."""
        if self._last is None or self._last[0] is not rival:
            half_spaces, errors, entries = self.half_spaces, self.errors, self.entries
            if rival is not None:
                half_spaces, errors = self.half_spaces_beyond(rival), np.append(errors, rival.error)
                entries = np.append(entries, rival.entries)
            spread = self.view.norm.dual.size_of_ones(len(self.origin))
            own = self.view.rounding * self.view.norm.dual.size(half_spaces.rows)
            self._last = rival, (half_spaces.rows, half_spaces.offsets, errors, np.maximum(own, spread * entries))
        return self._last[1]

    def reached(self, rival: Rival, found: NearestPoint) -> float:
        """Return a distance at which the rival is certainly ahead in the set, infinite if none is known.

        Rows move inwards by what rounding may have made of them, and the nearest point moves with them.
        """
        rows, offsets, errors, entries = self._given(rival)
        if rival.length == 0:  # ahead everywhere, or nowhere for certain
            rows, offsets, errors, entries = rows[:-1], offsets[:-1], errors[:-1], entries[:-1]
        else:
            offsets = np.append(offsets[:-1], offsets[-1] - 2 * np.abs(rival.noise).sum())
        if rival.length == 0 and not rival.is_sure:
            return np.inf
        unit, far = (len(self.origin) + 8) * np.finfo(float).eps, found.distance
        margins = 2 * (errors + (entries + unit) * far) + LEAST_MOVE * self.view.scale
        moved = HalfSpaces(rows, offsets - margins, *self.view.sure_bounds)
        bound = FARTHEST * far + RESOLUTION * self.view.scale
        for share in (None, *MOVES):
            if share is not None:
                found = self._nearest(replace(moved, offsets=moved.offsets - share * far), self.view.norm, bound)
            if not np.isfinite(found.distance):
                break
            step = _pushed(moved, found.point)
            far = float(self.view.norm.size(step) * (1 + unit))
            if (rows @ step - offsets + errors + (entries + unit) * far < 0).all():
                return far if far <= self.radius and far < self.clear else np.inf
        return np.inf

    def is_surely_empty(self, found: NearestPoint, rival: Rival | None) -> bool:
        """Return whether multipliers contradict each other by more than rounding makes of the rows."""
        half_spaces = self.half_spaces if rival is None else self.half_spaces_beyond(rival)
        errors = self.errors if rival is None else np.append(self.errors, rival.error)
        bounds = found.bound_multipliers
        sides = np.where(bounds > 0, half_spaces.upper, np.where(bounds < 0, half_spaces.lower, 0.0))
        value = -float(found.multipliers @ half_spaces.offsets) - float(bounds @ sides)
        return value > 2 * float(found.multipliers @ errors)

    def nearest(self, bound: float) -> NearestPoint:
        """Return the step to the nearest point of the set."""
        return self._nearest(self.half_spaces, self.view.norm, bound)

    def _nearest(self, half_spaces: HalfSpaces, norm: Norm, bound: float = np.inf) -> NearestPoint:
        return nearest_point(
            half_spaces.rows,
            half_spaces.offsets,
            self.origin,
            norm=norm,
            lower=half_spaces.lower,
            upper=half_spaces.upper,
            bound=bound,
            extent=self.view.scale,
        )

    def is_thin(self, step: Float[np.ndarray, " n"]) -> bool:
        """Return whether the set, seen from one of its points, is thinner than the resolution everywhere.

        Independent rows that are tight at a point leave room. Else the set is asked for a point that is inside all
        rows by the resolution: only a contradiction that is proved makes it thin.
        """
        reach, tight, free = self._at(step)
        if not tight[: self.num_own].any():
            return False
        inner = self.half_spaces.rows[np.ix_(tight, free)]
        if len(inner) <= inner.shape[1] and np.linalg.svd(inner, compute_uv=False)[-1] > 1e-6:
            return False
        slack = self.half_spaces.offsets.copy()
        slack[: self.num_own] -= reach
        return self._nearest(replace(self.half_spaces, offsets=slack), L2).is_empty

    def inward(self, step: Float[np.ndarray, " n"], rival: Rival) -> Float[np.ndarray, " n"] | None:
        """Return a direction from a step into the set and a rival's half-space; None if the tight rows leave none.

        It leaves all rows that are tight at the step equally fast, or as fast as the slowest can be left.
        """
        reach, tight, free = self._at(step)
        rows = np.concatenate([self.half_spaces.rows[tight], rival.row[None] / np.linalg.norm(rival.row)])
        way = np.zeros(len(step))
        way[free] = -np.linalg.lstsq(rows[:, free], np.ones(len(rows)), rcond=None)[0]
        if not (rows @ way < -0.5).all():
            own = self.half_spaces
            program = LinearProgram(len(step) + 1)
            low, high = -1.0 * (step - own.lower > 10 * reach), 1.0 * (own.upper - step > 10 * reach)
            program.set_all_bounds(np.append(low, 0.0), np.append(high, 1.0))
            program.add_rows(np.column_stack([rows, np.ones(len(rows))]), np.zeros(len(rows)))
            found = program.maximize(np.append(np.zeros(len(step)), 1.0))
            if found.status is not ProgramStatus.OPTIMAL or found.point[-1] < LEAST_WAY_IN:
                return None
            way = found.point[:-1]
        return way / float(self.view.norm.size(way))

    def contains(self, steps: Float[np.ndarray, "s n"]) -> Bool[np.ndarray, " s"]:
        """Return which steps are in the set, with a tenth of the resolution as tolerance."""
        own = self.half_spaces
        moved = replace(own, offsets=own.offsets + 0.1 * RESOLUTION * self.view.scale)
        return moved.contains(steps) & (self.view.norm.size(steps) <= self.radius)

    def surely_contains(self, steps: Float[np.ndarray, "s n"]) -> Bool[np.ndarray, " s"]:
        """Return which steps are in the set, whatever rounding made of its rows."""
        own, (low, high), far = self.half_spaces, self.view.sure_bounds, self.view.norm.size(steps)
        rounded = self.entries + (steps.shape[1] + 8) * np.finfo(float).eps
        inside = (steps @ own.rows.T + self.errors + np.outer(far, rounded) < own.offsets).all(axis=1)
        inside &= ((low <= steps) & (steps <= high)).all(axis=1)
        return inside & (far <= self.radius) & (far < self.clear)

    def deepest(self, rival: Rival) -> Float[np.ndarray, " n"] | None:
        """Return a step far inside the half-space of a rival, among those at most a million times as long as the scale.

        Where the rival's row is zero, the step leads to an inner point of the set.
        """
        dim = len(self.origin)
        # Numbers of the program are in units of the cap; rows that no step reaches are left out, whatever their size.
        cap = 10.0 * max(self.view.scale, rival.distance)
        own = self.half_spaces
        low = np.append(np.maximum(own.lower / cap, -MAX_LENGTH), -1.0)
        high = np.append(np.minimum(own.upper / cap, MAX_LENGTH), 1.0)
        near = own.offsets / cap <= np.abs(own.rows) @ np.maximum(-low, high)[:dim] + 1.0
        length = np.linalg.norm(rival.row)
        table = np.column_stack([own.rows, np.full(len(own.rows), float(length == 0))])[near]
        slack = own.offsets[near] / cap
        if length > 0:
            table = np.concatenate([table, np.append(rival.row / length, 1.0)[None]])
            slack = np.append(slack, rival.slack / length / cap)
        program = LinearProgram(dim + 1)
        program.set_all_bounds(low, high)
        program.add_rows(table, slack)
        gain = np.append(np.zeros(dim), 1.0)
        found = program.maximize(gain)
        return cap * found.point[:dim] if found.status is ProgramStatus.OPTIMAL else None

    def _at(self, step: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the resolution at a step, the rows that are tight there, and the coordinates that no bound stops."""
        reach = RESOLUTION * max(self.view.scale, float(np.abs(step).max(initial=0.0)))
        own = self.half_spaces
        free = (step - own.lower > 10 * reach) & (own.upper - step > 10 * reach)
        return reach, own.offsets - own.rows @ step <= 10 * reach, free


def _pushed(inside: HalfSpaces, step: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return a step clipped to the bounds and corrected by the least changes that fulfil the rows that it violates."""
    step = np.clip(step, inside.lower, inside.upper)
    taken = np.zeros(len(inside.rows), dtype=bool)
    for _ in range(MAX_PUSHES):
        over = inside.rows @ step - inside.offsets
        if (over <= 0).all():
            break
        taken |= over > 0
        free = (step > inside.lower) & (step < inside.upper)
        if not free.any():
            break
        change = np.zeros(len(step))
        change[free] = np.linalg.lstsq(inside.rows[np.ix_(taken, free)], np.maximum(over[taken], 0.0), rcond=None)[0]
        step = np.clip(step - change, inside.lower, inside.upper)
    return step
