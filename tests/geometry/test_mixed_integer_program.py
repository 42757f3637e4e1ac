"""Mixed-integer programs against all their integer points."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from reluscope.geometry.programs.mixed_integer_program import Ending, MixedIntegerProgram

SMALL = st.integers(-4, 4)


@settings(max_examples=25)
@given(
    rows=st.lists(st.lists(SMALL, min_size=4, max_size=4), min_size=1, max_size=4),
    objective=st.lists(SMALL, min_size=3, max_size=3),
)
def test_the_best_integer_point_is_found_again_and_again(rows, objective):
    table = np.array(rows, dtype=float)
    program = MixedIntegerProgram()
    program.add_columns(np.zeros(3), np.full(3, 2.0), is_integer=True)
    program.add_rows(scipy.sparse.csr_array(table[:, :3]), upper=table[:, 3])
    points = np.array(list(itertools.product(range(3), repeat=3)), dtype=float)
    for bound in (np.inf, 3.0, 1.0):
        program.add_row([0, 1, 2], [1.0, 1.0, 1.0], upper=bound)
        points = points[(points @ table[:, :3].T <= table[:, 3]).all(axis=1) & (points.sum(axis=1) <= bound)]
        outcome = program.maximize(range(3), objective)
        if not len(points):
            assert (outcome.ending, outcome.bound, outcome.point) == (Ending.INFEASIBLE, -np.inf, None)
            return
        best = (points @ objective).max()
        assert outcome.ending is Ending.OPTIMAL
        assert outcome.point is not None
        assert outcome.bound == pytest.approx(best, abs=1e-6)
        assert np.array(objective) @ outcome.point == pytest.approx(best, abs=1e-6)
        assert program.maximize(range(3), objective, is_relaxed=True).bound >= best - 1e-6


def test_what_was_added_can_be_taken_out():
    program = MixedIntegerProgram()
    program.add_columns(np.zeros(2), np.ones(2), is_integer=True)
    program.add_row([0, 1], [1.0, 1.0], upper=1.0)
    extra = program.add_columns(np.zeros(1), np.ones(1))
    program.add_row([0, extra], [1.0, 1.0], upper=0.0)
    assert program.maximize([0], [1.0]).bound == 0.0
    program.keep_first(num_rows=1, num_columns=2)
    assert program.maximize([0], [1.0]).bound == 1.0
    assert (program.num_rows, program.num_columns, program.work["programs"]) == (1, 2, 2)


def test_time_that_runs_out_leaves_a_bound():
    random = np.random.default_rng(0)
    program = MixedIntegerProgram()
    program.add_columns(np.zeros(60), np.ones(60), is_integer=True)
    program.add_rows(scipy.sparse.csr_array(random.random((30, 60))), upper=np.full(30, 8.0))
    weights = random.random(60)
    outcome = program.maximize(range(60), weights, seconds=0.0)
    assert outcome.ending is Ending.LIMIT
    assert outcome.bound >= program.maximize(range(60), weights, seconds=0.3).bound - 1e-6


def test_a_model_that_was_there_before_ends_none_of_ours():
    """From HiGHS 1.16 on, the first model of a process says how many threads there are; others are errors."""
    program = """
import highspy, numpy as np
from reluscope.geometry.programs.mixed_integer_program import MixedIntegerProgram
first = highspy.Highs()
first.setOptionValue("output_flag", False)
first.setOptionValue("threads", 2)
first.addVars(1, [0.0], [1.0])
first.run()
second = MixedIntegerProgram()
second.add_columns(np.zeros(3), np.ones(3), is_integer=True)
second.add_row([0, 1, 2], [1, 1, 1], upper=2.0)
assert second.maximize([0, 1, 2], [1, 1, 1]).bound == 2
"""
    subprocess.run([sys.executable, "-c", program], check=True)
