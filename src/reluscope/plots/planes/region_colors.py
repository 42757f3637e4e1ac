"""Colours of regions by their codes: a code keeps its colour in all pictures that share a `RegionColors`.

A code gets its colour when it is first seen: of the colours that none of its neighbours has, one that fewest regions of
the picture have, and of these the one that fewest codes have so far. So neighbours look different where they appear
together, and a network with few regions shows no colour twice.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from reluscope.arguments import read_drawn
from reluscope.palette import TINT
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.style import CATEGORIES, tint
from reluscope.shown import Shown

SHADES = tuple(tint(color, share) for share in (TINT, 0.32) for color in CATEGORIES)


@dataclass(frozen=True, eq=False, repr=False)
class RegionColors(Shown):
    """The colours assigned to all codes drawn so far.

    Parameters
    ----------
    by_code : dict
        Number of the colour by the bytes of the code; new partitions add entries.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> colors = rs.plots.RegionColors()
    >>> whole = colors.of(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> colors.of(rs.partition(net, rs.Box(0, 1, 2)))[0] in whole
    True
    """

    by_code: dict[bytes, int] = field(default_factory=dict)

    @read_drawn
    def of(self, part: Partition) -> Int[np.ndarray, " r"]:
        """Return the number of every region's colour in ``SHADES``; codes that are new get one now.

        Parameters
        ----------
        part : Partition
            Of the same layout of gates as all before.
        """
        codes = [row.tobytes() for row in np.ascontiguousarray(part.codes.words)]
        found = np.array([self.by_code.get(code, -1) for code in codes], dtype=np.int64)
        if (found >= 0).all():
            return found
        used = np.bincount(found[found >= 0], minlength=len(SHADES)).astype(np.float64)
        used += np.bincount(list(self.by_code.values()), minlength=len(SHADES)) / (len(self.by_code) + len(part) + 1)
        beside = part.adjacency()
        for row in np.flatnonzero(found < 0):
            # Pieces of one region may not have been joined where work stopped early.
            kind = self.by_code.get(codes[row])
            if kind is None:
                around = found[beside.indices[beside.indptr[row] : beside.indptr[row + 1]]]
                cost = used.copy()
                cost[around[around >= 0]] += len(part) + 2
                kind = int(cost.argmin())
                self.by_code[codes[row]] = kind
            found[row] = kind
            used[kind] += 1
        return found
