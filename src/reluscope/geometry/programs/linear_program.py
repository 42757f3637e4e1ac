"""One persistent linear program: maximise c x subject to row and column bounds, solved again and again by HiGHS.

Building a program from scratch costs more than solving a small one, so a model is built once; its rows, bounds and
objective are changed in place and every solve starts from the last basis. Only this module and `mixed_integer_program`
know the solver and its status codes.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from math import inf
from typing import Any, NamedTuple, TypeVar

import highspy
import numpy as np
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.numbers.resolutions import FEASIBILITY, LEAST_FEASIBILITY
from reluscope.interruption import left_from_within, step_point, would_leave
from reluscope.time_limits import seconds_left

_Answer = TypeVar("_Answer")

# Of entries as they are given: HiGHS drops smaller ones.
LEAST_ENTRY = 1e-12
# Programs of so many entries end where Ctrl-C strikes; smaller ones end anyway.
LARGE_PROGRAM = 10_000
# So many seconds more HiGHS has than the clock: what it ends is over by the clock, too.
LATER = 1e-2


class ProgramStatus(Enum):
    """How a linear program ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"


class ProgramSolution(NamedTuple):
    """The end of a solve: the value is -inf if infeasible and inf if unbounded, and then the arrays hold NaN."""

    status: ProgramStatus
    value: float
    point: np.ndarray
    duals: np.ndarray


# Gains beyond these powers of two are scaled to about one.
PLAIN_EXPONENTS = 20
# How a model without an answer is solved once more: some have one only as they stand.
PLAINLY = {"presolve": "off", "simplex_scale_strategy": 0}
# Every status that is an answer. All others raise SolverError, after the last attempt.
_STATUS = {
    highspy.HighsModelStatus.kOptimal: ProgramStatus.OPTIMAL,
    highspy.HighsModelStatus.kModelEmpty: ProgramStatus.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: ProgramStatus.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: ProgramStatus.UNBOUNDED,
}


class SilentModel(highspy.Highs):
    """HiGHS that prints nothing, not even, from 1.16 on, its banner when the constructor registers callbacks."""

    _ends_by_strike = False

    def enableCallbacks(self) -> None:  # noqa: N802
        """Listen, without a word."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()

    def end_by_strike(self) -> None:
        """Let runs end, without an answer, where Ctrl-C strikes: it is asked for at every iteration."""
        if not self._ends_by_strike:
            self._ends_by_strike = True
            for callback in (self.cbSimplexInterrupt, self.cbIpmInterrupt, self.cbMipInterrupt):
                callback.subscribe(_end_if_struck)

    def run(self) -> highspy.HighsStatus:
        """Solve the model."""
        if not self._ends_by_strike:
            return super().run()
        with left_from_within():
            return super().run()


def _end_if_struck(event: highspy.HighsCallbackEvent) -> None:
    event.interrupt(would_leave())  # HiGHS keeps what it was told last, from one run to the next, too


def silent_model(tolerance: float) -> SilentModel:
    """Return an empty model of a maximisation that prints nothing and starts no threads."""
    model = SilentModel()
    tolerances = dict.fromkeys(
        ("primal_feasibility_tolerance", "dual_feasibility_tolerance"), max(tolerance, LEAST_FEASIBILITY)
    )
    # The least entry is 1e-9 by default: smaller ones would be dropped.
    quiet = {"output_flag": False, "log_to_console": False, "parallel": "off", "threads": 1}
    _set_options(model, {**quiet, **tolerances, "small_matrix_value": LEAST_ENTRY})
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return model


def _set_options(model: highspy.Highs, options: Mapping[str, Any]) -> None:
    for option, setting in options.items():
        model.setOptionValue(option, setting)


def check_added(status: highspy.HighsStatus) -> None:
    """Raise SolverError where HiGHS has not taken rows, of which it then has none."""
    if status == highspy.HighsStatus.kError:
        raise SolverError(
            "expected rows with entries below 1e15 and finite ends below 1e20, as linear programs in float64 take "
            "them, and got larger ones: scale the network's weights or the domain to about 1"
        )


def answer(
    model: highspy.Highs,
    run: Callable[[], object],
    answers: Mapping[highspy.HighsModelStatus, _Answer],
    what: str,
    seconds: float = inf,
) -> _Answer:
    """Return how a model ends; if it ends without an answer, from scratch, and at last without presolve and scaling.

    All runs of a model share ``seconds``. Raises SolverError if the last has none.
    """
    step_point()
    # The clock of a model goes on from run to run.
    model.setOptionValue("time_limit", min(seconds, model.getRunTime() + max(seconds_left(), 0.0) + LATER))
    run()
    step_point()
    if model.getModelStatus() not in answers:
        model.clearSolver()
        run()
        step_point()
    if model.getModelStatus() not in answers:
        model.clearSolver()
        usual = {option: model.getOptionValue(option)[1] for option in PLAINLY}
        _set_options(model, PLAINLY)
        model.setOptionValue("threads", 0)  # from 1.16 on, others than the process's first model had are an error
        run()
        step_point()
        _set_options(model, usual)
    status = model.getModelStatus()
    if status not in answers:
        raise SolverError(
            f"{what} should have ended with an answer and ended with {model.modelStatusToString(status)!r}; look for "
            "entries of very different size"
        )
    return answers[status]


class LinearProgram:
    """Maximise ``c x`` subject to ``row_lower <= rows x <= row_upper`` and ``lower <= x <= upper``.

    Variables are free unless bounded. ``tolerance`` is absolute and at least 1e-10: scale rows to length 1. Duals are
    not negative at a binding upper end of a row. All solves share ``seconds``, then raise SolverError.
    """

    def __init__(self, num_variables: int, *, tolerance: float = FEASIBILITY, seconds: float | None = None) -> None:
        self._model = silent_model(tolerance)
        self._seconds = inf if seconds is None else seconds
        free = np.full(num_variables, np.inf)
        self._model.addVars(num_variables, -free, free)
        self.num_variables = num_variables
        self.num_rows = 0
        self.num_solves = 0

    def add_rows(
        self,
        rows: Float[np.ndarray, "h n"],
        upper: Float[np.ndarray, " h"],
        lower: Float[np.ndarray, " h"] | None = None,
    ) -> None:
        """Append rows ``lower <= rows x <= upper``; without ``lower`` they are bounded on one side.

        Raises SolverError if HiGHS does not take them: entries from 1e15 on, or lower ends from 1e20 on.
        """
        if not len(rows):
            return
        kept = rows != 0
        starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])[:-1].astype(np.int32)
        indices = np.nonzero(kept)[1].astype(np.int32)
        below = np.full(len(rows), -np.inf) if lower is None else lower
        check_added(self._model.addRows(len(rows), below, upper, len(indices), starts, indices, rows[kept]))
        self.num_rows += len(rows)
        if self._model.getNumNz() >= LARGE_PROGRAM:
            self._model.end_by_strike()

    def set_row(self, row: int, lower: float, upper: float) -> None:
        """Replace the bounds of one row; infinite bounds switch it off."""
        self._model.changeRowBounds(row, lower, upper)

    def set_bounds(self, variable: int, lower: float, upper: float) -> None:
        """Replace the bounds of one variable."""
        self._model.changeColBounds(variable, lower, upper)

    def set_all_bounds(self, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]) -> None:
        """Replace the bounds of all variables."""
        everything = np.arange(self.num_variables, dtype=np.int32)
        self._model.changeColsBounds(self.num_variables, everything, lower, upper)

    def maximize(self, objective: Float[np.ndarray, " n"]) -> ProgramSolution:
        """Return status, value, point and dual values of the rows, solved from the last basis.

        Raises SolverError if HiGHS ends without an answer, also from scratch and without presolve.
        """
        everything = np.arange(self.num_variables, dtype=np.int32)
        # A solver compares with numbers of about one: it finds no end of larger gains, and takes smaller ones for none.
        exponent = int(np.frexp(np.abs(objective).max(initial=0.0))[1])
        exponent = exponent if abs(exponent) > PLAIN_EXPONENTS else 0
        self._model.changeColsCost(self.num_variables, everything, np.ldexp(objective, -exponent))
        self.num_solves += 1
        size = f"{self.num_rows} rows and {self.num_variables} variables"
        status = answer(self._model, self._model.run, _STATUS, f"a linear program with {size}", self._seconds)
        if status is not ProgramStatus.OPTIMAL:
            value = -np.inf if status is ProgramStatus.INFEASIBLE else np.inf
            return ProgramSolution(status, value, np.full(self.num_variables, np.nan), np.full(self.num_rows, np.nan))
        solution = self._model.getSolution()
        point = np.array(solution.col_value, dtype=float)
        duals = np.ldexp(np.array(solution.row_dual, dtype=float), exponent)
        return ProgramSolution(status, float(objective @ point), point, duals)

    def infeasibility(self) -> Float[np.ndarray, " h"]:
        """Return multipliers of the rows whose sum no point within the bounds keeps; zeros if HiGHS has none.

        As duals they are not negative at the upper end of a row.
        """
        _, is_there, ray = self._model.getDualRay()  # pyright: ignore[reportAttributeAccessIssue] - of no stub
        return -np.array(ray, dtype=float) if is_there else np.zeros(self.num_rows)
