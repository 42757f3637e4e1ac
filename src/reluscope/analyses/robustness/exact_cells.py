"""The nearest change of class in the region of a code, decided in fractions where floats do not.

In fractions a region and the lead of a class are half-spaces without any rounding. Whether they have a common interior
is decided by the simplex method in whole numbers. Rows that are rounded after that have all their digits, so that
multipliers bound the distance from below; a point moved into all half-spaces in fractions bounds it from above.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from reluscope.analyses.robustness.class_changes import Change
from reluscope.analyses.robustness.rival_class import Rival
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.programs.proved_programs import MAX_DIMENSIONS, MAX_NUMBERS, nearest
from reluscope.geometry.programs.rational_program import CONSTANT, Form, deepest, value_at, whole_form
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_maps import rational_maps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes.forms import PossiblePieces
from reluscope.partitions.exact.exact_regions import code_rows

# Multiplications for the affine functions of one code, and codes that are decided for one point.
MAX_MULTIPLICATIONS, MAX_CODES = 2_000_000, 512
# A step right beyond a change is as long as this share of the point's size.
BEYOND = Fraction(1, 10**9)
Code = tuple[tuple[int, ...], ...]


class ExactCells:
    """Decides about the regions of codes, seen from one point.

    ``left`` is how many codes may still be decided.
    """

    def __init__(self, view: Viewpoint) -> None:
        self.view, self.left = view, MAX_CODES
        self._known: dict[tuple[Code, int], Change | None] = {}

    @cached_property
    def is_small(self) -> bool:
        """Whether a code takes less than a second."""
        network, dim = self.view.network, len(self.view.x)
        gates = [stage.gate for stage in network.stages]
        if dim > MAX_DIMENSIONS or not all(isinstance(gate, Pointwise | Max) for gate in gates):
            return False
        if any(isinstance(gate, Pointwise) and not gate.is_continuous for gate in gates):
            return False
        number = sum(gate.index.numel() if isinstance(gate, Max) else gate.num_units for gate in gates)
        return (number + 2 * dim) * dim <= MAX_NUMBERS and (dim + 1) * multiplications(network) <= MAX_MULTIPLICATIONS

    def changes(self, pieces: Sequence[PossiblePieces], labels: Sequence[int]) -> list[Change] | None:
        """Return the nearest changes to some classes in the regions of all codes that units may have.

        None where these are too many, or the network is too large for fractions.
        """
        opened = [(gate, unit, several) for gate, one in enumerate(pieces) for unit, several in one.several.items()]
        number = prod([len(several) for *_, several in opened], start=1)
        if len(pieces) < len(self.view.network.stages) or number * len(labels) > self.left or not self.is_small:
            return None
        found = []
        for chosen in product(*(several for _, _, several in opened)):
            tables = [one.first.tolist() for one in pieces]
            for (gate, unit, _), piece in zip(opened, chosen, strict=True):
                tables[gate][unit] = piece
            code = tuple(map(tuple, tables))
            found += [change for label in labels if (change := self._change(code, label)) is not None]
        return found

    def rival(self, code: Sequence[np.ndarray], rival: Rival) -> Rival | None:
        """Return a class as a half-space whose row is exact but for its last digit, None if it wins nowhere."""
        if not self.is_small:
            return rival
        lead = self._lead(tuple(tuple(table.tolist()) for table in code), rival.label)
        if lead is None:
            return None
        if not any(axis != CONSTANT for axis in lead):
            return replace(rival, least=0.0, is_sure=True)
        row, slack = self._row(lead)
        norm, unit = self.view.norm.dual, 4 * np.finfo(float).eps
        return Rival(rival.label, row, slack, 0 * rival.noise, unit * abs(slack), float(norm.size(row)), unit)

    def change(self, code: Sequence[np.ndarray], label: int) -> Change | None:
        """Return where a class is first not below that of the point in the closed region of a code; None if nowhere."""
        return self._decided(tuple(tuple(table.tolist()) for table in code), label, is_closed=True)

    def _row(self, form: Form) -> tuple[np.ndarray, float]:
        """Return where a form is at least 0, as ``row u <= slack`` for steps u."""
        scale, row = max(abs(entry) for axis, entry in form.items() if axis != CONSTANT), np.zeros(self._dim)
        for axis, entry in form.items():
            if axis != CONSTANT:
                row[axis] = nearest(Fraction(-entry, scale))
        return row, nearest(value_at(form, self._point) / scale)

    def _change(self, code: Code, label: int) -> Change | None:
        """Return the nearest change to a class in the region of a code, None if there is none."""
        if (code, label) not in self._known:
            self.left -= 1
            self._known[code, label] = self._decided(code, label, is_closed=False)
        return self._known[code, label]

    def _decided(self, code: Code, label: int, *, is_closed: bool) -> Change | None:
        rows = code_rows(self._exact, code)
        lead = self._lead(code, label)
        if rows is None or lead is None:
            return None
        names = [*range(self._dim), CONSTANT]
        forms = [{name: entry for name, entry in zip(names, row, strict=True) if entry} for row in rows]
        forms += [*self._domain, *([lead] if any(axis != CONSTANT for axis in lead) else [])]
        inner, depth = deepest(forms, self._dim) if forms else (self._point, Fraction(1))
        return self._nearest(forms, inner, label) if depth > 0 or (is_closed and depth == 0) else None

    def _lead(self, code: Code, label: int) -> Form | None:
        """Return how far a class leads that of the point; None if it wins nowhere with an interior."""
        outputs, own = rational_maps(self._exact, code).outputs, self.view.label
        if len(outputs) == 1:
            lead = [entry if label == 1 else -entry for entry in outputs[0]]
        else:
            lead = [one - other for one, other in zip(outputs[label], outputs[own], strict=True)]
        is_constant = not any(lead[:-1])
        if is_constant and (lead[-1] < 0 or (lead[-1] == 0 and label > own)):
            return None
        return {} if is_constant else whole_form(lead)

    def _nearest(self, forms: list[Form], inner: Sequence[Fraction], label: int) -> Change:
        """Return the least distance at which all forms are at least 0, of which one point has an interior."""
        view, sides = self.view, [self._row(form) for form in forms]
        rows = np.array([row for row, _ in sides]).reshape(-1, self._dim)
        slack = np.array([end for _, end in sides])
        found = nearest_point(rows, slack, np.zeros(self._dim), norm=view.norm)
        near = found.point if np.isfinite(found.point).all() else np.zeros(self._dim)
        point = [start + Fraction(entry) for start, entry in zip(self._point, near.tolist(), strict=True)]
        share = Fraction(0)
        for form in forms:
            if (value := value_at(form, point)) < 0:
                share = max(share, -value / (value_at(form, inner) - value))
        way = [end - entry for entry, end in zip(point, inner, strict=True)]
        step = [entry + share * along - start for start, entry, along in zip(self._point, point, way, strict=True)]
        farther = min(1 - share, BEYOND * Fraction(view.scale) / max(max(map(abs, way)), Fraction(1, 10**300)))
        beyond = [entry + farther / 2 * along for entry, along in zip(step, way, strict=True)]
        short, past = (np.array([nearest(entry) for entry in steps]) for steps in (step, beyond))
        upper = float(view.norm.size(short)) * (1 + 4 * self._dim * np.finfo(float).eps)
        lower = min(found.lower if np.isfinite(found.lower) else 0.0, upper)
        return Change(float(view.norm.size(short)), lower, float(upper), short, past, label)

    @property
    def _dim(self) -> int:
        return len(self.view.x)

    @cached_property
    def _exact(self) -> RationalNetwork:
        return RationalNetwork(self.view.network)

    @cached_property
    def _point(self) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, self.view.x.tolist()))

    @cached_property
    def _domain(self) -> list[Form]:
        """The domain's half-spaces."""
        units = [Fraction(side) for side in self.view.units.sides.tolist()]
        limits, forms = (self.view.given or self.view).domain.half_spaces, []
        sides = list(zip(limits.rows.tolist(), limits.offsets.tolist(), strict=True))
        for sign, bounds in ((1.0, limits.upper), (-1.0, limits.lower)):
            for axis in np.flatnonzero(np.isfinite(bounds)).tolist():
                sides.append(([sign * float(one == axis) for one in range(self._dim)], sign * float(bounds[axis])))
        for row, offset in sides:
            forms.append(
                whole_form([*(-Fraction(one) * side for one, side in zip(row, units, strict=True)), Fraction(offset)])
            )
        return forms
