"""How strongly each region of a partition stretches: the spectral norm of its affine map."""

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_numbers import map_norms as norms_of_maps


@read_arguments
def map_norms(part: Partition) -> Float[np.ndarray, " r"]:
    """Return the largest singular value of the affine map of every region, restricted to the domain.

    Parameters
    ----------
    part : Partition
        With its network.

    Returns
    -------
    (r,) float64
        The largest factor by which lengths in domain coordinates grow. For an orthonormal slice these are lengths
        in input space, along the slice only.

    Raises
    ------
    InputError
        If the partition was loaded without its network.

    Notes
    -----
    About one forward pass over the regions per dimension of the domain.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (3 * np.eye(2), np.zeros(2))])
    >>> map_norms(rs.partition(net, rs.Box(0, 1, 2)))
    array([3.])
    """
    return norms_of_maps.of(part)
