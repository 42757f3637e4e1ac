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
    """Return a partition with its cells confirmed: all of them, or as many as there is time for.

    A network that is too deep for proved bounds on rounding, or has ties in every cell, as poolings on a constant
    background have, has regions whose codes float64 finds inside them, and of which a share alone is proved when a
    partition is made: ``part.work["cells_confirmed"]``. Here the others are looked
    at, by numbers of a hundred bits, and what cells turn out to be no regions, or pieces of others, is left out.

    Parameters
    ----------
    part : Partition
        With its network.
    budget : Budget, optional
        Seconds; without it all cells are looked at.
    progress : bool or callable
        True shows a bar; a function is told the share of the cells that was looked at.

    Returns
    -------
    Partition
        ``confirmed`` says which are, and they are not looked at again; ``work["cells_unconfirmed"]`` says how many are
        left, and is not there if none are: the number of regions is then a lower bound that is proved. Ctrl-C keeps
        what was confirmed. A partition without doubtful signs is returned as it is.

    Raises
    ------
    InputError
        If the partition was loaded without its network.

    Notes
    -----
    About twenty forward passes for each cell. `partition` spends what its budget of seconds leaves on this.

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
