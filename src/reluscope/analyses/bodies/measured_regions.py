"""Quantities of the regions of a partition as findings: every value between its ends, within a budget."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reluscope.analyses.samples.pacing import until_interrupted
from reluscope.arguments import read_arguments
from reluscope.budget import Budget, TimeBudget
from reluscope.findings import Claim, Column, Finding, Findings, Kind
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_quantities import RegionQuantity, chosen_quantities
from reluscope.progress import Progress, share_done

# Regions whose numbers are computed together: between two blocks the time is looked at.
BLOCK = 2**16


@read_arguments
def measure_regions(
    part: Partition,
    quantities: str | Sequence[str] | None = None,
    *,
    budget: TimeBudget | None = None,
    progress: Progress = False,
) -> Findings:
    """Return quantities of every region of a partition, each value with its ends and claim.

    Parameters
    ----------
    part : Partition
    quantities : str or sequence of str, optional
        Names of declared quantities, or "all" that the partition allows; by default those that `Partition.to_table`
        has. `declare_region_quantity` declares others.
    budget : Budget, optional
        Its seconds: a quantity that is expected to take longer than what is left of them is not begun, and left out.
    progress : bool or callable
        Show how much of the work is done; a function is told the share, from 0 to 1.

    Returns
    -------
    Findings
        A column for each quantity, a row for each listed ``region``: estimates where signs of the partition are
        undecided. Notes name the quantities that were left out.

    Raises
    ------
    InputError
        If there is no such quantity, or the partition lacks what it needs.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (3 * np.eye(2), np.zeros(2))])
    >>> found = rs.measure_regions(rs.partition(net, rs.Box(-1, 1, 2)), ["volume", "inradius"])
    >>> print(found.median("volume"), found.median("inradius"))
    1 (EXACT) 0.5 (EXACT)
    """
    asked = chosen_quantities(part, quantities)
    began = time.perf_counter()
    deadline = began + (budget or Budget()).seconds_allowed
    expected = [entry.cost(part) for entry in asked]
    columns, left_out = list[Column](), list[str]()
    with share_done("quantities", progress) as tell:

        def work() -> None:
            done = 0.0
            for entry, cost in zip(asked, expected, strict=True):
                ends_in_time = time.perf_counter() + cost <= deadline
                column = _column(entry, part, deadline) if ends_in_time else None
                if column is None:
                    left_out.append(f"{entry.quantity.title}, which takes about {cost:.2g} s")
                else:
                    columns.append(column)
                tell(min(1.0, (done := done + cost) / max(sum(expected), cost)))

        stopped = until_interrupted(work, columns)
    return Findings.of(
        *columns,
        keys={"region": np.arange(len(part))},
        domain=part.domain.describe(),
        stop=stopped or part.stop,
        seconds=time.perf_counter() - began,
        notes=(f"Left out, for want of time: {'; '.join(left_out)}.",) if left_out else (),
    )


def typical_values(part: Partition, found: Findings) -> tuple[Finding, ...]:
    """Return the median of each quantity over the listed regions, the share of truths.

    Estimates where the partition lists not all regions.
    """
    middle = []
    for column in found.columns.values():
        if np.isnan(column.value).all():
            continue
        one = found.share(column.quantity) if column.quantity.kind is Kind.TRUTH else found.median(column.quantity)
        if not left_open(part).is_nothing:
            one = replace(one, claim=Claim.ESTIMATE, interval=None, tolerance=None)
        middle.append(one)
    return tuple(middle)


def _column(entry: RegionQuantity, part: Partition, deadline: float) -> Column | None:
    """Return a quantity of all regions, None if the time is over before."""
    blocks = list[Column]()
    for start in range(0, max(1, len(part)), BLOCK):
        if blocks and time.perf_counter() > deadline:
            return None
        blocks.append(entry.column(part, slice(start, min(start + BLOCK, len(part)))))
    return Column.joined(blocks)
