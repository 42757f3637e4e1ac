"""Codes of samples, with what rounding could change in them, computed once for many analyses."""

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int, Shaped

from reluscope.analyses.classification.class_predictions import predicted_classes, read_classes
from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

METHOD = "float64 forward pass with a running error bound, codes compared exactly"


@dataclass(frozen=True, repr=False)
class SampleCodes(Shown):
    """Codes of samples.

    Parameters
    ----------
    codes : Codes
    doubtful : (s, gates) bool
        Whether rounding could change a piece in the gate.
    seconds : float
        Runtime of the codes and of the bounds on rounding.
    what : str
        Name of the samples, in the plural.
    """

    codes: Codes
    doubtful: Bool[np.ndarray, "s gates"]
    seconds: float
    what: str = "samples"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def in_doubt(self) -> Bool[np.ndarray, " s"]:
        """Whether rounding could change a sample's code."""
        return np.asarray(self.doubtful.any(axis=1))

    @property
    def domain(self) -> str:
        """Which samples these are, in words."""
        return f"{len(self):,} {self.what}"

    @read_arguments
    def select(self, rows: Shaped[np.ndarray, " k"], *, what: str | None = None) -> "SampleCodes":
        """Return some of the samples, by a mask or by their rows, and what to call them."""
        return replace(self, codes=self.codes[rows], doubtful=self.doubtful[rows], what=what or self.what)

    @read_arguments
    def of_gates(self, *names: str) -> "SampleCodes":
        """Return the codes of some gates together; see `Codes.of_gates`."""
        chosen = self.codes.layout.positions(names)
        return replace(self, codes=self.codes.of_gates(*names), doubtful=self.doubtful[:, chosen])


@read_arguments
@holds_across_jumps
def sample_codes(network: Network, x: Points, *, tolerance: Tolerance | None = None) -> SampleCodes:
    """Return the codes of samples, and which codes rounding could change.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    SampleCodes

    Notes
    -----
    Cost: about four forward passes.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.codespace.sample_codes(net, [[1.0, 1.0], [2.0, -1.0]]).codes.to_array()
    array([[1, 1],
           [1, 0]], dtype=uint8)
    """
    began = time.perf_counter()
    points = network.points(x)
    codes = network.codes(points)
    doubtful = rounded_forward(network, points, tolerance=tolerance).doubtful
    return SampleCodes(codes, doubtful, time.perf_counter() - began)


@read_arguments
def correctly_classified(
    network: Network, sampled: SampleCodes, x: Points, labels: Int[np.ndarray, " s"]
) -> SampleCodes:
    """Return the codes of the samples that the network classifies correctly.

    Parameters
    ----------
    network : Network
    sampled : SampleCodes
        Codes of x.
    x : (s, *input_shape) or (s, n)
    labels : (s,) int

    Returns
    -------
    SampleCodes
        Valid in every function of this package; `distinct_codes` returns the number of cells with a correctly
        classified sample.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> x = [[2.0, 1.0], [1.0, 2.0], [3.0, 1.0]]
    >>> rs.codespace.correctly_classified(net, rs.codespace.sample_codes(net, x), x, np.array([0, 1, 1])).domain
    '2 correctly classified samples'
    """
    predicted = predicted_classes(network, x)
    labels = read_classes(network, labels, len(predicted))
    return sampled.select(predicted == labels, what="correctly classified samples")


@read_arguments
def piece_counts(codes: Codes) -> list[Int[np.ndarray, "pieces u"]]:
    """Return the number of codes that use each piece of each unit, one table per gate.

    Notes
    -----
    Codes are unpacked in blocks of 16 MB.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.codes import CodeLayout, GateLayout
    >>> layout = CodeLayout((GateLayout("relu", 2),))
    >>> rs.codespace.piece_counts(rs.Codes.from_pieces([np.array([[0, 1], [0, 0]])], layout))[0]
    array([[2, 1],
           [0, 1]])
    """
    counts = [np.zeros((max(2, gate.num_pieces), gate.num_units), dtype=np.int64) for gate in codes.layout]
    parts = list(codes.by_gate().values())
    for table, part, gate in zip(counts, parts, codes.layout, strict=True):
        block = max(1, 2**24 // max(1, gate.num_units))
        for start in range(0, len(codes), block):
            pieces = part[start : start + block].to_array()
            if len(table) == 2:
                ones = pieces.sum(axis=0, dtype=np.int64)
                table += np.stack([len(pieces) - ones, ones])
            else:
                cells = pieces.astype(np.int64) * gate.num_units + np.arange(gate.num_units)
                table += np.bincount(cells.ravel(), minlength=table.size).reshape(table.shape)
    return counts
