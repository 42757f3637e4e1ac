"""Nothing that a solver has to say reaches the terminal: standard output and error are watched as descriptors."""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np

import reluscope as rs
from reluscope.errors import SolverError
from reluscope.geometry.programs.linear_program import LinearProgram
from reluscope.geometry.programs.mixed_integer_program import MixedIntegerProgram
from reluscope.testing import pseudo_random_network


def hard_programs(seed):
    """Rows of very different size, nearly the same ones, rows that contradict each other, endless ones."""
    random = np.random.default_rng(seed)
    for _ in range(40):
        height, dim = random.integers(1, 9, 2)
        rows = random.normal(size=(height, dim)) * 10.0 ** random.uniform(-9, 9, (height, 1))
        rows[height // 2 :] = rows[: height - height // 2] * (1 + 1e-12 * random.random())
        yield rows, random.normal(size=height) * 10.0 ** random.uniform(-9, 9, height), random.normal(size=dim)


def test_programs_print_nothing(capfd):
    for rows, offsets, gain in hard_programs(0):
        program = LinearProgram(len(gain), tolerance=0.0)
        program.add_rows(rows, offsets)
        with suppress(SolverError):
            program.maximize(gain)
            program.set_bounds(0, 1.0, -1.0)
            program.maximize(1e200 * gain)
        mixed = MixedIntegerProgram(tolerance=0.0)
        mixed.add_columns(np.zeros(len(gain)), np.full(len(gain), 7.0), is_integer=True)
        for row, offset in zip(rows, offsets, strict=True):
            mixed.add_row(np.arange(len(gain)), row, upper=offset)
        with suppress(SolverError):
            mixed.maximize(np.arange(len(gain)), gain, is_relaxed=True)
            mixed.maximize(np.arange(len(gain)), gain, seconds=0.2)
            mixed.maximize(np.arange(len(gain)), gain, seconds=-1.0)
            mixed.keep_first(num_rows=0, num_columns=len(gain))
            mixed.maximize(np.arange(len(gain)), gain, seconds=0.2)
    assert capfd.readouterr() == ("", "")


def test_questions_print_nothing(capfd):
    net, box = rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2)
    capfd.readouterr()
    rs.count(net, box, definition="activation", method="mip")
    rs.compression.prune_exact(net, domain=box, method="programs")
    rs.preimages.classify(([[1, 0], [0, 1], [-1, -1]], [-1, -1, -1]), [0, 0, 0])
    polyhedron = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [1.0, 0.5, 0.5])
    polyhedron.insphere()
    polyhedron.maximize([1.0, 2.0])
    assert capfd.readouterr() == ("", "")


def test_models_are_made_in_one_place():
    source = Path(rs.__file__).parent
    places = [
        path.name
        for path in source.rglob("*.py")
        for _ in re.findall(r"(?:Highs|SilentModel)\(\)|linprog|milp", path.read_text(encoding="utf-8"))
    ]
    assert set(places) == {"linear_program.py"}
