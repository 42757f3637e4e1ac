"""One persistent mixed-integer program: maximise c x where some of the x are integers, solved again and again by HiGHS.

The model is built once and grows: a cut that forbids a solution is one more row. Only this module and `linear_program`
know the solver and its status codes.
"""

from enum import Enum
from typing import NamedTuple

import highspy
import numpy as np
import scipy.sparse
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.geometry.numbers.resolutions import FEASIBILITY, LEAST_FEASIBILITY
from reluscope.geometry.programs.linear_program import answer, check_added, silent_model


class Ending(Enum):
    """How a mixed-integer program ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    LIMIT = "limit"


class MixedIntegerSolution(NamedTuple):
    """The end of a solve: how it ended, a bound and the best solution found."""

    ending: Ending  # LIMIT if time or nodes ran out first
    bound: float  # no solution has a larger value; -inf if infeasible
    point: np.ndarray | None  # (n,) best solution found, None if none was
    duals: np.ndarray | None = None  # (h,) multipliers of the rows of a relaxed program


_ENDINGS = {
    highspy.HighsModelStatus.kOptimal: Ending.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Ending.INFEASIBLE,
    # All variables are bounded, so nothing is unbounded.
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Ending.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Ending.LIMIT,
    highspy.HighsModelStatus.kSolutionLimit: Ending.LIMIT,
}


class MixedIntegerProgram:
    """A mixed-integer program: maximise ``c x`` under bounds on rows and variables, some x integers.

    All variables have finite bounds; scale them to sizes about 1. ``tolerance``, at least 1e-10, is absolute, for rows,
    bounds and integrality. Ctrl-C ends the solve under way.
    """

    def __init__(self, *, tolerance: float = FEASIBILITY) -> None:
        self._model = silent_model(tolerance)
        for option, setting in (
            ("mip_feasibility_tolerance", max(tolerance, LEAST_FEASIBILITY)),
            # Each of these solves programs of its own, which takes longer than all of a small program.
            ("mip_heuristic_run_feasibility_jump", False),
            ("mip_heuristic_run_rens", False),
            ("mip_heuristic_run_rins", False),
            ("mip_heuristic_run_root_reduced_cost", False),
        ):
            self._model.setOptionValue(option, setting)
        self._model.end_by_strike()
        self.num_columns = 0
        self.num_rows = 0
        self.work = {"programs": 0, "nodes": 0, "simplex_iterations": 0}

    def add_columns(
        self, lower: Float[np.ndarray, " k"], upper: Float[np.ndarray, " k"], *, is_integer: bool = False
    ) -> int:
        """Append variables with finite bounds and return the position of the first."""
        first, count = self.num_columns, len(lower)
        if count:
            self._model.addVars(count, lower, upper)
            if is_integer:
                columns = np.arange(first, first + count, dtype=np.int32)
                kinds = np.full(count, highspy.HighsVarType.kInteger)
                self._model.changeColsIntegrality(count, columns, kinds)
        self.num_columns += count
        return first

    def add_row(
        self, columns: ArrayLike, coefficients: ArrayLike, *, lower: float = -np.inf, upper: float = np.inf
    ) -> None:
        """Append a row ``lower <= coefficients x[columns] <= upper``."""
        places, entries = np.asarray(columns, dtype=np.int32), np.asarray(coefficients, dtype=float)
        self._model.addRow(lower, upper, len(places), places, entries)
        self.num_rows += 1

    def add_rows(
        self,
        rows: scipy.sparse.csr_array,
        *,
        lower: Float[np.ndarray, " h"] | None = None,
        upper: Float[np.ndarray, " h"] | None = None,
    ) -> None:
        """Append rows ``lower <= rows x <= upper``; a side that is not given is open."""
        count = len(rows.indptr) - 1
        if not count:
            return
        low = np.full(count, -np.inf) if lower is None else np.asarray(lower, dtype=float)
        high = np.full(count, np.inf) if upper is None else np.asarray(upper, dtype=float)
        starts, indices = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
        check_added(self._model.addRows(count, low, high, rows.nnz, starts, indices, rows.data.astype(float)))
        self.num_rows += count

    def keep_first(self, *, num_rows: int, num_columns: int) -> None:
        """Take out what was appended after the first rows and columns."""
        rows = np.arange(num_rows, self.num_rows, dtype=np.int32)
        columns = np.arange(num_columns, self.num_columns, dtype=np.int32)
        self._model.deleteRows(len(rows), rows)
        self._model.deleteCols(len(columns), columns)
        self.num_rows, self.num_columns = num_rows, num_columns

    def maximize(
        self,
        columns: ArrayLike,
        coefficients: ArrayLike,
        *,
        is_relaxed: bool = False,
        seconds: float = np.inf,
    ) -> MixedIntegerSolution:
        """Return the outcome of maximising an objective, which is zero in columns that are not given.

        ``is_relaxed`` lets integers be any numbers: an upper bound by one linear program. Raises SolverError if HiGHS
        ends without an answer, also from scratch and without presolve.
        """
        objective = np.zeros(self.num_columns)
        objective[np.asarray(columns, dtype=int)] = coefficients
        model = self._model
        model.changeColsCost(self.num_columns, np.arange(self.num_columns, dtype=np.int32), objective)
        model.setOptionValue("solve_relaxation", is_relaxed)
        size = f"{self.num_rows} rows and {self.num_columns} variables"
        ending = answer(model, self._run, _ENDINGS, f"a mixed-integer program with {size}", max(float(seconds), 0.0))
        if ending is Ending.INFEASIBLE:
            return MixedIntegerSolution(ending, -np.inf, None)
        info = model.getInfo()
        is_found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        point = np.array(model.getSolution().col_value, dtype=float) if is_found else None
        # Programs without integers have no nodes; a linear program that stopped early bounds nothing.
        is_linear = info.mip_node_count < 0
        bound = info.objective_function_value if is_linear else info.mip_dual_bound
        duals = np.array(model.getSolution().row_dual, dtype=float) if is_relaxed else None
        return MixedIntegerSolution(
            ending, np.inf if is_linear and ending is Ending.LIMIT else float(bound), point, duals
        )

    def _run(self) -> None:
        self._model.run()
        info = self._model.getInfo()
        self.work["programs"] += 1
        self.work["nodes"] += max(0, info.mip_node_count)
        self.work["simplex_iterations"] += max(0, info.simplex_iteration_count)
