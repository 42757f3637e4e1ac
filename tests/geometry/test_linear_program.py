"""The persistent linear program: answers after every kind of change are those of a program built afresh."""

import os
import signal
from contextlib import nullcontext

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from reluscope.errors import SolverError
from reluscope.geometry.programs import linear_program
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.mixed_integer_program import MixedIntegerProgram
from reluscope.interruption import deferred


def test_changes_in_place_agree_with_scipy() -> None:
    generator = np.random.default_rng(0)
    program = LinearProgram(4)
    rows, upper = generator.normal(size=(30, 4)), generator.uniform(0.5, 2, 30)
    program.add_rows(rows, upper)
    for step in range(60):
        row = int(generator.integers(30))
        upper[row] = [np.inf, generator.uniform(0.1, 2), -0.3][step % 3]
        program.set_row(row, -np.inf, upper[row])
        objective = generator.normal(size=4)
        answer = linprog(-objective, A_ub=rows[np.isfinite(upper)], b_ub=upper[np.isfinite(upper)], bounds=(None, None))
        solution = program.maximize(objective)
        expected = {0: ProgramStatus.OPTIMAL, 2: ProgramStatus.INFEASIBLE, 3: ProgramStatus.UNBOUNDED}[answer.status]
        assert solution.status is expected
        if expected is ProgramStatus.OPTIMAL:
            assert solution.value == pytest.approx(-answer.fun, abs=1e-8)
            assert solution.duals @ np.where(np.isfinite(upper), upper, 0) == pytest.approx(solution.value, abs=1e-7)
    assert program.num_solves == 60


def test_equalities_bounds_and_empty_programs() -> None:
    program = LinearProgram(2)
    assert program.maximize(np.zeros(2)).status is ProgramStatus.OPTIMAL
    assert program.maximize(np.ones(2)).value == np.inf
    program.add_rows(np.array([[1.0, 1.0]]), np.array([1.0]), np.array([1.0]))
    program.set_bounds(0, 0.0, 3.0)
    solution = program.maximize(np.array([1.0, 0.0]))
    np.testing.assert_allclose(solution.point, [3, -2])
    program.add_rows(np.array([[1.0, 1.0]]), np.array([0.0]))
    assert program.maximize(np.array([1.0, 0.0])).value == -np.inf


def test_small_entries_are_kept() -> None:
    program = LinearProgram(1)
    program.add_rows(np.array([[1e-10]]), np.array([1e-10]))
    assert program.maximize(np.ones(1)).value == pytest.approx(1)


def test_any_other_status_is_an_error(monkeypatch) -> None:
    program = LinearProgram(1)
    program.add_rows(np.array([[1.0]]), np.array([1.0]))
    status = highspy.HighsModelStatus.kOptimal
    monkeypatch.setattr(linear_program, "_STATUS", {k: v for k, v in linear_program._STATUS.items() if k != status})
    with pytest.raises(SolverError, match="'Optimal'"):
        program.maximize(np.ones(1))


def test_a_program_that_only_answers_without_scaling() -> None:
    rows = np.array(
        [
            [2.4166446316273996e-08, 0.9999999999999998, 1.5850407708765803e-09, 1.0],
            [-4.781604208641958e-04, 1.4534576985987184e-03, 0.9999988294109801, 1.0],
            [1.0, 0.0, 0.0, 1.0],
            [0.0, -1.0, 0.0, 1.0],
            [0.0, 0.0, -1.0, 1.0],
            [-0.9999999981549082, -1.0484795879721425e-11, -6.074687981228582e-05, 1.0],
        ]
    )
    program = LinearProgram(4)
    program.add_rows(rows, np.array([0.25000000049532517, 0.312862998615581, 0.5, 0.0, 0.0, -0.37500812088177704]))
    assert program.maximize(np.array([0.0, 0.0, 0.0, 1.0])).value == pytest.approx(0.0625035470371)


def test_a_solver_that_introduces_itself_when_it_is_made_prints_nothing(monkeypatch, capfd) -> None:
    register = highspy.Highs.enableCallbacks

    def introduce(model: highspy.Highs) -> None:  # as HiGHS 1.16 does
        if model.getOptionValue("output_flag")[1]:
            os.write(1, b"Running HiGHS\n")
        register(model)

    monkeypatch.setattr(highspy.Highs, "enableCallbacks", introduce)
    LinearProgram(1).maximize(np.ones(1))
    assert capfd.readouterr().out == ""
    highspy.Highs()
    assert capfd.readouterr().out


@pytest.mark.parametrize("size", [1e-24, 1e-9, 1.0, 1e9, 1e24])
def test_gains_of_any_size(size) -> None:
    rows = np.array([[0.37265206403440126, -0.9279711413459475], [0.0083, 0.99996], [-0.092, 0.9957562778469584]])
    program = LinearProgram(2)
    program.set_all_bounds(-np.ones(2), np.ones(2))
    program.add_rows(rows, np.zeros(3))
    gain = np.array([-0.227691999, 2.09302878])
    plain = program.maximize(gain)
    scaled = program.maximize(size * gain)
    assert scaled.value == pytest.approx(size * plain.value, rel=1e-9, abs=1e-9 * size)
    assert scaled.duals / size == pytest.approx(plain.duals, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(scaled.point, plain.point, atol=1e-9)


def _strike_at(callback: highspy.HighsCallback, number: int) -> list[int]:
    """Let Ctrl-C strike when HiGHS asks for the number-th time; return a list that counts how often it has asked."""
    asked: list[int] = []

    def strike(event: object) -> None:
        del event
        asked.append(len(asked))
        if len(asked) == number:
            signal.raise_signal(signal.SIGINT)

    callback.subscribe(strike)
    return asked


@pytest.mark.parametrize("is_deferred", [True, False])
def test_ctrl_c_ends_a_large_program_within(is_deferred: bool) -> None:
    """The solver is told at its next iteration, and solves the next program as if nothing had been."""
    rng = np.random.default_rng(0)
    rows, high = rng.normal(size=(900, 400)) / 20, np.abs(rng.normal(size=900))
    program = LinearProgram(400)
    program.set_all_bounds(-np.ones(400), np.ones(400))
    program.add_rows(rows, high)
    gain = rng.normal(size=400)
    iterations = _strike_at(program._model.cbSimplexInterrupt, 5)
    with pytest.raises(KeyboardInterrupt), deferred() if is_deferred else nullcontext():
        program.maximize(gain)
    assert len(iterations) <= 6
    expected = linprog(-gain, A_ub=rows, b_ub=high, bounds=(-1, 1))
    assert program.maximize(gain).value == pytest.approx(-expected.fun)


def test_ctrl_c_ends_a_mixed_integer_program_within() -> None:
    rng = np.random.default_rng(0)
    program = MixedIntegerProgram()
    program.add_columns(np.zeros(60), np.ones(60), is_integer=True)
    for row in rng.uniform(size=(20, 60)):
        program.add_row(np.arange(60), row, upper=row.sum() / 2)
    gain = rng.uniform(size=60)
    asked = _strike_at(program._model.cbMipInterrupt, 2)
    with pytest.raises(KeyboardInterrupt), deferred():
        program.maximize(np.arange(60), gain)
    assert len(asked) <= 3
