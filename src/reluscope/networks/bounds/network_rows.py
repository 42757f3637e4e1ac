"""Linear rows that a network's inputs, outputs and pieces keep on a bounded domain, rounding included."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Bool, Float, Int

from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.bounds.mixed_integer import ProgramEncoder
from reluscope.networks.bounds.program_bounds import padded
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER


class NetworkRows(NamedTuple):
    """Rows ``row_lower <= matrix @ columns <= row_upper`` on columns within bounds, some of them 0 or 1.

    The first columns are the inputs, the next ones the outputs. Each row of ``switches`` is a row of the matrix that is
    there to keep a column at 0 where a binary is 0 or 1: the row, the column, the binary, and that 0 or 1.
    """

    matrix: scipy.sparse.csr_array
    row_lower: Float[np.ndarray, " h"]
    row_upper: Float[np.ndarray, " h"]
    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]
    is_binary: Bool[np.ndarray, " k"]
    switches: Int[np.ndarray, "s 4"]


def network_rows(network: NetworkGraph, domain: Box | Polyhedron) -> NetworkRows:
    """Return rows that every input of a domain keeps, with its output and some values of the other columns.

    Whatever keeps them is an input with its output up to their rounding.
    """
    encoder = ProgramEncoder(network, domain, 0.0)
    found = carry_to_output(network, encoder, encoder.start)
    outputs, width = encoder.bounds(found), encoder.program.num_columns
    tables = [scipy.sparse.csr_array((0, width)), *(padded(table, width) for table in encoder.tables)]
    table = scipy.sparse.csr_array(scipy.sparse.vstack(tables))
    low, high = (np.concatenate([np.empty(0), *(ends[side] for ends in encoder.sides)]) for side in (0, 1))
    # Nothing asks for a margin.
    is_kept = table[:, [encoder.margin]].toarray()[:, 0] == 0
    columns = np.delete(np.arange(width), encoder.margin)
    inner = table[np.flatnonzero(is_kept)][:, columns]
    middle, middle_error = encoder.start.constant, encoder.start.error
    last_error = found.error + ANY_ORDER * outputs.terms
    size, number = len(middle), len(found.constant)
    matrix = scipy.sparse.block_array(
        [
            [scipy.sparse.eye_array(size), None, -padded(encoder.start.matrix, width)[:, columns]],
            [None, scipy.sparse.eye_array(number), -padded(found.matrix, width)[:, columns]],
            [scipy.sparse.csr_array((inner.shape[0], size)), None, inner],
        ],
        format="csr",
    )
    is_binary = np.zeros(width, dtype=bool)
    is_binary[np.concatenate([np.empty(0, dtype=np.int64), *(choice.columns for choice in encoder.choices)])] = True
    place = np.full(width, -1)
    place[columns] = size + number + np.arange(width - 1)
    rows = size + number + np.cumsum(is_kept) - 1
    switches = encoder.switches
    return NetworkRows(
        scipy.sparse.csr_array(matrix),
        np.concatenate([_below(middle - middle_error), _below(found.constant - last_error), low[is_kept]]),
        np.concatenate([_above(middle + middle_error), _above(found.constant + last_error), high[is_kept]]),
        np.concatenate([encoder.corners[0], _below(outputs.lower), encoder.lower[columns]]),
        np.concatenate([encoder.corners[1], _above(outputs.upper), encoder.upper[columns]]),
        np.concatenate([np.zeros(size + number, dtype=bool), is_binary[columns]]),
        np.stack([rows[switches[:, 0]], place[switches[:, 1]], place[switches[:, 2]], switches[:, 3]], axis=1),
    )


def _below(numbers: np.ndarray) -> np.ndarray:
    return np.nextafter(numbers, -np.inf)


def _above(numbers: np.ndarray) -> np.ndarray:
    return np.nextafter(numbers, np.inf)
