"""The states that a closed loop with a linear plant can be in, step by step.

The state after t steps is a piecewise-linear function of the first one: the network of t copies of the controller with
the plant between them. Its image is exact, for as long as its regions are few; then boxes of first states, with affine
bounds through all copies, enclose it. Nothing is enclosed twice: no step begins with the box of the one before.
"""

import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.reachability.closed_loop import Plant, check_fits, closed_loop
from reluscope.analyses.reachability.cover import Cover, cover
from reluscope.analyses.reachability.images import Image, check_bounded, image
from reluscope.analyses.reachability.stored_sets import (
    IMAGE,
    SETS,
    described_sets,
    read_sets,
)
from reluscope.arguments import Natural, read_arguments, read_position
from reluscope.budget import Budget, RegionBudget, Remainder, why_ended
from reluscope.effort import Effort
from reluscope.errors import ShapeError
from reluscope.files.named_arrays import load_as, save_arrays
from reluscope.findings import Claim, Finding
from reluscope.findings.data_frames import as_pandas
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import has_struck, held
from reluscope.networks.building.smooth_functions import REPLACEABLE
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done
from reluscope.stopping import INTERRUPTED, Explained, Stop, StopReason, is_interrupted
from reluscope.time_limits import GRACE, LEAST_GRACE, OutOfTime, driven, is_overdue
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# Regions of an exact step, and boxes of another one.
NUM_REGIONS, NUM_BOXES = 10_000, 256


@dataclass(frozen=True, eq=False)
class ReachableSets(Explained):
    """The states of a closed loop after 0, 1, 2, ... steps.

    Parameters
    ----------
    sets : tuple of Image or Cover
        For each step all states, EXACT, or boxes that contain them, UPPER.
    start : Domain
        The initial states.
    fingerprint : str
        Of the network.
    stop : Stop, optional
        Why later steps are not exact, or missing; None if all are exact. `stopped` says it in words.
    work : dict
        Runtime in seconds.
    """

    sets: tuple[Image | Cover, ...]
    start: Domain
    fingerprint: str
    stop: Stop | None = None
    work: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of steps and one: the first states are there, too."""
        return len(self.sets)

    @read_arguments
    def __getitem__(self, index: int) -> Image | Cover:
        return self.sets[read_position(index, "index", len(self), "steps")]

    def __repr__(self) -> str:
        return f"ReachableSets({len(self) - 1} steps, {self.num_exact - 1} of them exact, from {self.start.describe()})"

    @property
    def claims(self) -> list[Claim]:
        """What each step claims: EXACT, or UPPER where boxes hold all states."""
        return [one.claim for one in self.sets]

    @property
    def num_exact(self) -> int:
        """How many of the sets are exact, the first one included."""
        return sum(claim is Claim.EXACT for claim in self.claims)

    @property
    def ends(self) -> Float[np.ndarray, "t 2 n"]:
        """For each step a box that holds all states: the least one, up to rounding, where the step is exact."""
        return np.array([one.ends for one in self.sets]).reshape(len(self), 2, _num_states(self.start))

    @read_arguments
    def maximum(self, direction: ArrayLike) -> list[Finding]:
        """Return the largest value of a linear function of the states after each step.

        Parameters
        ----------
        direction : (n,) array
        """
        return [one.maximum(direction) for one in self.sets]

    @read_arguments
    def within(self, target: Box | Polyhedron) -> list[bool | None]:
        """Return for each step whether all states are in a polyhedron: True or False if that is sure, else None.

        Parameters
        ----------
        target : Box or Polyhedron
            In the space of states. First states in a box are compared exactly: all of that box are within itself.
        """
        states = self.ends.shape[2]
        if target.dim != states:
            raise ShapeError(f"expected a target in {states} dimensions, as many as states, got a {target.describe()}")
        rows, ends = target.polyhedron.inequalities()
        found = [_all_below(one, rows, ends) for one in self.sets]
        if found and isinstance(self.start, Box):
            found[0] = _has_all(self.start, rows, ends)
        return found

    @read_arguments
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to an Arrow file, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written; what was there before stays.
        """
        save_arrays(path, *described_sets(self, [one.stored_parts() for one in self.sets]))

    @staticmethod
    @read_arguments
    def load(path: str | os.PathLike[str]) -> "ReachableSets":
        """Read what `save` wrote; partitions come without their networks.

        Raises
        ------
        InputError
            If the file is missing, damaged, or holds something else.
        """
        return load_as(path, SETS, lambda arrays, described: _sets_of(*read_sets(arrays, described)))

    def to_table(self) -> "pa.Table":
        """Return one row per step.

        ``step``; ``claim``: EXACT or UPPER; ``pieces``: how many polytopes or boxes; ``lower_i`` and ``upper_i``: ends
        of a box that holds state i.

        Returns
        -------
        pyarrow.Table
        """
        import pyarrow as pa

        columns: dict[str, Any] = {
            "step": np.arange(len(self)),
            "claim": [str(claim) for claim in self.claims],
            "pieces": np.array([len(one) for one in self.sets], dtype=np.int64),
        }
        for axis in range(self.ends.shape[2]):
            columns[f"lower_{axis}"], columns[f"upper_{axis}"] = self.ends[:, 0, axis], self.ends[:, 1, axis]
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas."""
        return as_pandas(self.to_table())


def _sets_of(sets: list[tuple[str, dict[str, Any]]], others: dict[str, Any]) -> ReachableSets:
    """Return reachable sets from what a file holds."""
    found = tuple(Image(**one) if kind == IMAGE else Cover(**one) for kind, one in sets)
    states = _num_states(others["start"])
    if {one.ends.shape[1] for one in found} - {states}:
        raise ValueError(f"sets that are not of {states} states")
    return ReachableSets(found, **others)


def _has_all(box: Box, rows: np.ndarray, ends: np.ndarray) -> bool:
    """Return whether all of a box fulfils all rows: at each row's worst corner all of them, compared exactly."""
    return bool(Polyhedron(rows, ends).contains(np.where(rows > 0, box.hi, box.lo)).all())


def _all_below(states: Image | Cover, rows: np.ndarray, ends: np.ndarray) -> bool | None:
    """Return whether all states fulfil all rows, None if that is not known."""
    found: list[bool | None] = []
    for row, end in zip(rows, ends, strict=True):
        most = states.maximum(row)
        error = most.tolerance or 0.0
        low, high = most.interval or (most.value - error, most.value + error)
        found.append(True if high <= end else False if low > end else None)
    return False if False in found else None if None in found else True


def _refuse_ends(network: Network) -> None:
    """Refuse a controller whose last step was left off: without it, it is another controller."""
    if network.left_off is not None:
        name = network.left_off.name
        pieces = f"load it with approximate={{{name!r}: 32}}, pieces in its place, or " * (name in REPLACEABLE)
        refuse_left_off("what a loop can reach", network.left_off, f"{pieces}end it with a clamp")


@held
@read_arguments
def reach(
    network: Network,
    plant: Plant,
    start: Domain,
    steps: Natural,
    *,
    budget: RegionBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> ReachableSets:
    """Return the reachable states of a closed loop ``x' = A x + B net(x) + c`` after each step.

    Parameters
    ----------
    network : Network
        Maps states to controls; a network that ends with a clamp saturates.
    plant : Plant
        ``rs.reachability.Plant(A, B, c)``.
    start : Domain
        The initial states: a Box, a bounded Polyhedron, or a Slice if they are flat.
    steps : int
    budget : Budget, optional
        Regions: an exact step has at most this number, by default 10,000; any other step is enclosed by at most as
        many boxes, by default 256. Seconds: no box is halved after them.
    progress : bool or callable
        Show the number of finished steps.
    tolerance : Tolerance, optional
        Of the partitions.

    Returns
    -------
    ReachableSets
        EXACT steps first, then UPPER steps. On Ctrl-C, or when the seconds are over, the finished steps.

    Raises
    ------
    ShapeError
        If plant, network and initial states are inconsistent.
    InputError
        If the initial states are unbounded.

    Notes
    -----
    Each exact step is a partition of the initial states, by the units of all steps up to it, and an image. Bounds
    of other steps include all rounding, for the float64 numbers of network and plant in real arithmetic.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> brake = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[-0.5, 0.5]]), np.zeros(1))])  # -x / 2
    >>> found = rs.reach(brake, rs.reachability.Plant([[1.0]], [[1.0]]), rs.Box(-1, 2, 1), 2)
    >>> found, found.ends[:, :, 0].round(9).tolist()
    (ReachableSets(2 steps, 2 of them exact, from box [-1, 2]), [[-1.0, 2.0], [-0.5, 1.0], [-0.25, 0.5]])
    """
    check_fits(network, plant)
    _refuse_ends(network)
    read_domain(start, network.num_inputs)
    check_bounded(start)
    began = time.time()
    limit = Budget() if budget is None else budget
    regions = NUM_REGIONS if limit.regions is None else limit.regions
    most = min(NUM_BOXES, max(1, regions))
    sets: list[Image | Cover] = []
    stopped, boxes = None, None
    with share_done("reach", progress) as tell:
        for step in range(steps + 1):
            if has_struck():
                stopped = INTERRUPTED
                break
            loop = closed_loop(network, plant, step)
            if not stopped:
                left = None if limit.seconds is None else max(0.0, limit.seconds - (time.time() - began))
                exact = Effort.of(Budget(regions=regions, seconds=left), tolerance=tolerance)
                found, stopped = _exactly(loop, start, exact)
                if found is not None and found.claim is Claim.EXACT:
                    sets.append(found)
                    tell((step + 1) / (steps + 1))
                    continue
                stopped = _why(found, limit, began) if found is not None else stopped
                if is_interrupted(stopped):
                    break
            if boxes is None:
                boxes = _box_around(start)
            elif is_overdue() and time.time() - began > limit.seconds_allowed * (1 + GRACE) + 2 * LEAST_GRACE:
                break  # a step takes a moment then, and many take long
            try:
                with driven():
                    around = _cover(loop, start, boxes, most, limit, began)
            except (KeyboardInterrupt, OutOfTime) as end:
                stopped = why_ended(end)
                break
            sets.append(around)
            boxes = around.inputs
            tell((step + 1) / (steps + 1))
    return ReachableSets(tuple(sets), start, network.fingerprint, stopped, {"seconds": time.time() - began})


def _exactly(loop: Network, start: Domain, effort: Effort) -> tuple[Image | None, Stop | None]:
    """Return the states after some steps as an image, or why there is none."""
    try:
        with driven():
            return image(loop, start, budget=effort.budget, tolerance=effort.tolerance), None
    except (KeyboardInterrupt, OutOfTime) as end:
        return None, why_ended(end)


def _why(found: Image, limit: Budget, began: float) -> Stop | None:
    """Return why a step is not exact."""
    stopped = found.partition.stop
    if is_interrupted(stopped):
        return stopped
    if found.claim is Claim.ESTIMATE:
        return Stop(StopReason.ROUNDED_STATES)
    return limit.spent(0, began) or stopped or Stop(StopReason.ROUNDING)


def _box_around(start: Domain) -> np.ndarray:
    """Return a box around first states, in coordinates of their window."""
    window = start.window if isinstance(start, Slice) else start
    ends = bounding_box(window.polyhedron)
    assert ends is not None  # it is bounded
    return np.stack(ends)[None]


def _cover(loop: Network, start: Domain, boxes: np.ndarray, most: int, limit: Budget, began: float) -> Cover:
    """Return a cover of the states after some steps, from boxes of first states."""
    left = Budget() if limit.seconds is None else Remainder.of(limit, began + limit.seconds)
    left = replace(left, regions=None)  # boxes are counted by their number
    inner, within = (loop.restrict(start), start.window) if isinstance(start, Slice) else (loop, start)
    assert not isinstance(within, Space)  # it is bounded
    return cover(inner, within, boxes, most, left)


def _num_states(start: Domain) -> int:
    return len(start.origin) if isinstance(start, Slice) else start.dim
