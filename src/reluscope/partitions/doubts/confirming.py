"""Cells of a partition that float64 could not decide, confirmed one by one by numbers of a hundred bits."""

import time

from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.budget import TimeBudget
from reluscope.errors import InputError
from reluscope.interruption import has_struck, held
from reluscope.partitions.doubts.shown_regions import shown
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress, counting_regions


@held
@read_arguments
@holds_across_jumps
def confirm(part: Partition, *, budget: TimeBudget | None = None, progress: Progress = False) -> Partition:
    """Return a partition with all of its cells confirmed, or as many as the time allows.

    For a network too deep for proved bounds on rounding, or with ties in every cell (as poolings on a constant
    background have), a region is listed if float64 finds its code inside it, and `partition` proves only a share of
    the regions: ``part.work["cells_confirmed"]``. This function checks the other cells by numbers of a hundred
    bits, and removes cells that are no regions or pieces of other regions.

    Parameters
    ----------
    part : Partition
        With its network.
    budget : Budget, optional
        Seconds; without it all cells are checked.
    progress : bool or callable
        True shows a bar; a function receives the share of checked cells.

    Returns
    -------
    Partition
        ``confirmed`` marks the confirmed cells, which are not checked again. ``work["cells_unconfirmed"]`` counts
        the remaining cells, and is absent if there are none: the number of regions is then a proved lower bound.
        Ctrl-C keeps the cells confirmed so far. A partition without doubtful signs is returned unchanged.

    Raises
    ------
    InputError
        If the partition was loaded without its network.

    Notes
    -----
    About twenty forward passes for each cell. `partition` uses the remaining seconds of its budget for this.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.confirm(rs.partition(net, rs.Box(-1, 1, 2)))
    Partition(4 regions, EXACT, of box [-1, 1]^2)
    """
    if part.network is None:
        raise InputError(
            "confirming regions needs the network, and the partition was loaded without it: give it to load"
        )
    until = time.time() + budget.seconds_allowed if budget is not None else float("inf")
    with counting_regions("confirm", progress) as count:
        found = shown(part, until, count)
    has_struck()  # what was confirmed until then is there
    return found
