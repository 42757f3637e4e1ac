"""A network on a bounded domain as a mixed-integer program, for optimisers that make decisions with it."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import scipy.sparse
from jaxtyping import Bool, Float, Int

from reluscope.arguments import describe, read_arguments
from reluscope.budget import TimeBudget
from reluscope.errors import DegenerateGeometryError, InputError, ReluscopeError
from reluscope.files.whole_files import write_files
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.linear_program import check_added, silent_model
from reluscope.geometry.text.program_text import NamedProgram, entries_of_rows, lp_text, mps_text
from reluscope.networks.bounds.network_rows import network_rows
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network
from reluscope.shown import Shown

TOLERANCE = 1e-9
NAME, NUMBER = re.compile(r"[A-Za-z][A-Za-z0-9._]*"), re.compile(r"e\d*", re.IGNORECASE)
WORDS = {"st", "free", "inf", "infinity", "bounds", "bound", "binary", "binaries", "bin", "general", "generals", "gen"}
WORDS |= {"integer", "integers", "int", "end", "semi", "sos", "max", "maximize", "min", "minimize", "subject", "such"}


@dataclass(frozen=True, eq=False, repr=False)
class NetworkProgram(Shown):
    """Rows and columns that a network's inputs and outputs keep on a domain.

    Every input of the domain, with its output and some values of the other columns, keeps all rows, rounding included:
    what is largest over the program is at least what is largest over the network. Whatever keeps the rows in real
    arithmetic is an input with its output up to rounding; solvers let rows be missed by a tolerance of their own.

    Parameters
    ----------
    names : tuple of str
        Of all columns: the inputs, the outputs, then those of the network's inside, of sizes about 1.
    inputs, outputs : tuple of str
    matrix : (h, k) sparse array of float64
    row_lower, row_upper : (h,) float64
        Ends of the rows, infinite where there is none.
    lower, upper : (k,) float64
        Ends of the columns, all finite and proved.
    is_binary : (k,) bool
        Columns that are 0 or 1: on which side of a breakpoint a unit is, or which value is the largest. Units whose
        side is proved have none.
    switches : (s, 4) int64
        Rows with a big M, and what they say: a row, a column, a binary, and 0 or 1: the column is 0 where the binary is
        that.
    """

    names: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    matrix: scipy.sparse.csr_array
    row_lower: Float[np.ndarray, " h"]
    row_upper: Float[np.ndarray, " h"]
    lower: Float[np.ndarray, " k"]
    upper: Float[np.ndarray, " k"]
    is_binary: Bool[np.ndarray, " k"]
    switches: Int[np.ndarray, "s 4"]

    def __repr__(self) -> str:
        number = f"{len(self.row_lower):,} rows, {len(self.names):,} columns, {self.is_binary.sum():,} of them binary"
        return f"NetworkProgram({number}; {_listed(self.inputs)} to {_listed(self.outputs)})"

    @read_arguments
    def save(self, path: "str | os.PathLike[str]", *, indicators: bool = False) -> None:
        """Write the program, without an objective, to a file that ends in ``.mps`` or ``.lp``, whole or not at all.

        With ``indicators`` rows with a big M are written as ``binary = 0 -> column <= 0``, which LP files have and
        HiGHS does not read.

        Raises
        ------
        InputError
            If the name ends otherwise, indicators are asked of MPS, or the file cannot be written.
        """
        target = Path(path)
        form = target.suffix.lower()
        if form not in (".mps", ".lp"):
            raise InputError(f"path must end in .mps or .lp, got {str(path)!r}")
        if indicators and form == ".mps":
            raise InputError("indicators are written to LP files: let path end in .lp, or leave indicators out")
        switches = [(row, column, binary, at) for row, column, binary, at in self.switches.tolist()]
        text = mps_text(self._named) if form == ".mps" else lp_text(self._named, switches if indicators else ())
        write_files({target: text})

    def highs(self) -> highspy.Highs:
        """Return a model for HiGHS, which prints nothing: give columns costs by name, and run it.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
        >>> model = rs.as_program(net, rs.Box(-1, 3, dim=1)).highs()
        >>> _, column = model.getColByName("Y_0")
        >>> _ = model.changeColCost(column, 1.0), model.maximize()
        >>> round(model.getObjectiveValue(), 6)
        3.0
        """
        model, number = silent_model(TOLERANCE), len(self.names)
        model.setOptionValue("mip_rel_gap", TOLERANCE)  # by default a ten-thousandth, which large constants swallow
        model.addVars(number, self.lower, self.upper)
        (columns,) = self.is_binary.nonzero()
        kinds = np.full(len(columns), highspy.HighsVarType.kInteger)
        model.changeColsIntegrality(len(columns), columns.astype(np.int32), kinds)
        starts, places = (np.asarray(part).astype(np.int32) for part in (self.matrix.indptr, self.matrix.indices))
        count, numbers = len(self.row_lower), np.asarray(self.matrix.data, dtype=np.float64)
        check_added(model.addRows(count, self.row_lower, self.row_upper, len(numbers), starts[:-1], places, numbers))
        for column, name in enumerate(self.names):
            model.passColName(column, name)
        return model

    def pyomo(self) -> Any:
        """Return a ``ConcreteModel`` of Pyomo, with the variables in ``columns`` by name and the rows in ``rows``.

        It has no objective. Add one, or make it a block of a larger model.

        Raises
        ------
        ReluscopeError
            If Pyomo is not installed.
        """
        try:
            pyo = import_module("pyomo.environ")
        except ImportError as error:
            raise ReluscopeError(
                "expected pyomo, and it is not installed: run pip install pyomo, or take NetworkProgram.save"
            ) from error
        model: Any = pyo.ConcreteModel(name="network")
        ends = dict(zip(self.names, zip(self.lower.tolist(), self.upper.tolist(), strict=True), strict=True))
        binary = {name for name, is_one in zip(self.names, self.is_binary.tolist(), strict=True) if is_one}

        def kind_of(_: Any, name: str) -> Any:
            return pyo.Binary if name in binary else pyo.Reals

        model.columns = pyo.Var(list(self.names), bounds=lambda _, name: ends[name], domain=kind_of)
        low, high = (
            [end if np.isfinite(end) else None for end in side.tolist()] for side in (self.row_lower, self.row_upper)
        )

        entries = entries_of_rows(self.matrix)

        def row_of(_: Any, row: int) -> Any:
            total = sum(number * model.columns[self.names[place]] for place, number in entries[row])
            if low[row] is not None and low[row] == high[row]:
                return total == low[row]
            return (low[row], total, high[row])

        model.rows = pyo.Constraint(range(len(low)), rule=row_of)
        return model

    @property
    def _named(self) -> NamedProgram:
        ends = (self.row_lower, self.row_upper, self.lower, self.upper)
        return NamedProgram(self.names, self.matrix, *ends, self.is_binary)


@read_arguments
def as_program(
    network: Network,
    domain: Domain,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    budget: TimeBudget | None = None,
) -> NetworkProgram:
    """Return a network on a bounded domain as a mixed-integer program, with proved bounds.

    A unit that sees g and bends at t has ``g - t = h - k`` with ``0 <= h <= H z``, ``0 <= k <= K (1 - z)`` and a binary
    z, where ``-K <= g - t <= H`` on the domain is proved, rounding included.

    Parameters
    ----------
    network : Network
        Continuous. The model's last sigmoid or softmax must not be left off.
    domain : Domain
        A Box, a bounded Polyhedron with an interior, or a bounded Slice, whose coordinates are the inputs then.
    inputs, outputs : sequence of str, optional
        Names of all inputs and outputs: letters, digits, dots and underscores, the first one a letter. By default
        ``X_0``, ``X_1`` and ``Y_0``, ``Y_1``, as in VNN-LIB.
    budget : Budget, optional
        Seconds that bounds may be tightened for. What comes after has those of intervals.

    Returns
    -------
    NetworkProgram
        It is written to MPS and LP files, and taken by HiGHS and Pyomo.

    Raises
    ------
    InputError
        If the domain is unbounded or flat, or a name is missing, given twice, or not one that LP files can have.
    DiscontinuousNetworkError
        If the network jumps.

    Notes
    -----
    A column for every unit whose side intervals leave open, and two linear programs for its bounds. `maximize` finds
    largest values faster; a program is for what else an optimiser is asked: other variables, costs and rows beside the
    network.

    References
    ----------
    Fischetti and Jo, "Deep neural networks and mixed integer linear optimization" (Constraints 23, 2018); Serra,
    Tjandraatmadja and Ramalingam, "Bounding and counting linear regions of deep neural networks" (ICML 2018).

    Examples
    --------
    >>> import tempfile
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    >>> program = rs.as_program(net, rs.Box(-1, 3, dim=1), inputs=["price"], outputs=["loss"])
    >>> program
    NetworkProgram(8 rows, 9 columns, 2 of them binary; price to loss)
    >>> program.save(tempfile.mkdtemp() + "/network.lp")
    """
    if network.left_off is not None:
        refuse_left_off("a mixed-integer program", network.left_off, "take network.logits")
    domain = read_domain(domain, network.num_inputs)
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    if isinstance(domain, Space) or not domain.is_bounded():
        raise InputError(
            f"a mixed-integer program needs a bounded domain, got {domain.describe()}: give a Box or a bounded "
            "Polyhedron"
        )
    assert isinstance(domain, Box | Polyhedron)
    if isinstance(domain, Polyhedron) and (len(domain.C) or not domain.insphere().radius > 0):
        raise DegenerateGeometryError(
            f"the domain must have an interior, but {domain.describe()} is empty or flat: give another"
        )
    first = _names(inputs, "inputs", "X", network.num_inputs)
    last = _names(outputs, "outputs", "Y", network.num_outputs)
    found = network_rows(network, domain)
    inside = [f"{'z' if is_binary else 'v'}_{place}" for place, is_binary in enumerate(found.is_binary.tolist())]
    names = (*first, *last, *inside[len(first) + len(last) :])
    if len(set(names)) < len(names):
        raise InputError("inputs and outputs must have names of their own, other than v_0, z_0 and the like")
    return NetworkProgram(names, first, last, *found)


def _names(given: Sequence[str] | None, what: str, letter: str, number: int) -> tuple[str, ...]:
    """Return names of all inputs or outputs, given or made; InputError where an LP file can't have them."""
    if given is None:
        return tuple(f"{letter}_{place}" for place in range(number))
    if isinstance(given, str) or len(given) != number:
        raise InputError(f"expected a name for each of the {number} {what}, got {describe(given)}")
    for name in given:
        # A word such as e12 or free means something else in LP files.
        if not isinstance(name, str) or not NAME.fullmatch(name) or name.lower() in WORDS or NUMBER.fullmatch(name):
            raise InputError(
                f"{what} must be named by letters, digits, dots and underscores, a letter first, and not by a word of "
                f"LP files, got {describe(name)}"
            )
    return tuple(given)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f", ... {names[-1]}" if len(names) > 3 else "")
