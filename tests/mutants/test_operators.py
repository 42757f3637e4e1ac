"""The faults that are planted: which there are, that they are Python, and that the table of tests is true."""

import ast
from functools import cache
from pathlib import Path

import pytest

from mutants.explained import EXPLAINED
from mutants.modules import TESTS
from mutants.operators import mutants_of

ROOT = Path(__file__).parents[2]


def texts(source):
    """Return what becomes of a module by each fault."""
    return {mutant.apply(source) for mutant in mutants_of("module", source)}


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("a = b + error\n", {"a = (b)\n", "a = (error)\n"}),
        ("a = b - error\n", {"a = (b)\n"}),
        ("a = gamma * b\n", {"a = 0.0 * b\n"}),
        ("a = max(b, c)\n", {"a = (b)\n", "a = (c)\n"}),
        ("a = np.minimum(b, c)\n", {"a = (b)\n", "a = (c)\n"}),
        ("a = b <= c < d\n", {"a = b < c < d\n", "a = b <= c <= d\n"}),
        ("a = (b).any()\n", {"a = (b).all()\n"}),
        ("a = (b) & (c)\n", {"a = (b) | (c)\n"}),
        ("a = b and c or d\n", {"a = b or c or d\n", "a = b and c and d\n"}),
        ("a = not b\n", {"a = (b)\n"}),
        ("a |= b\n", {"pass\n", "a &= b\n"}),
        ("a += b\n", {"pass\n"}),
        ("CLOSE = 2.0**-52 * 2**16\n", {"CLOSE = (2.0**-52 * 2**16 / 2)\n", "CLOSE = (0.0)\n"}),
        ("a = rng(seed)\n", {"a = rng(0)\n"}),
        ("a = Claim.LOWER\n", {"a = Claim.EXACT\n"}),
        ("a = Claim.EXACT\n", {"a = Claim.ESTIMATE\n"}),
        ("f(tolerance=b[0])\n", {"f(tolerance=(0.0))\n"}),
        ("f(interval=(b, c))\n", {"f(interval=(c, b))\n", "f(interval=(b, b))\n", "f(interval=(c, c))\n"}),
        ("if stopped:\n    f()\n", {"if not (stopped):\n    f()\n"}),
    ],
)
def test_faults_of_every_kind(source, faults):
    assert texts(source) == faults


@pytest.mark.parametrize(
    "source",
    [
        '"""a + b <= c."""\n',
        "BLOCK = 2**20\n",
        "a: list[int | str] = b\n",
        "raise InputError(f'{a + b}')\n",
        "f(name='a' + b, definition=c + d)\n",
        "a = b[c + 1]\n",
        "def __str__(self):\n    return a + b\n",
        "for i in range(a + 1):\n    f(i)\n",
        "a = isinstance(b, c | d)\n",
        "a = time.perf_counter() - began\n",
        "a = began + seconds - time.monotonic()\n",
        "MAX_SHARE = 0.5\n",
        "a = b < 1e-3 * c\n",
        "a = b <= THIN * c\n",
        "a = time.monotonic() > until\n",
        "self.allowed -= cost\n",
        "a = b <= MAX_ROWS and c <= MAX_COLUMNS\n",
    ],
)
def test_what_only_speaks_to_people_or_says_where_is_left_alone(source):
    assert texts(source) == set()


def test_positions_count_letters_and_not_bytes():
    assert texts('a = f("ä") + b  # ö\n') == {'a = (f("ä"))  # ö\n', "a = (b)  # ö\n"}


@cache
def faults_of(module):
    """Return the source of a module, and its faults."""
    source = (ROOT / "src" / "reluscope" / f"{module}.py").read_text(encoding="utf-8")
    return source, mutants_of(module, source)


@cache
def faulty_lines_of(module):
    source, found = faults_of(module)
    return {mutant.faulty_line(source) for mutant in found}


def test_what_is_explained_is_still_a_fault():
    assert [(module, line) for module, line in EXPLAINED if line not in faulty_lines_of(module)] == []


def test_modules_and_their_tests_are_there():
    sources = {f"src/reluscope/{module}.py" for module in TESTS}
    tests = {test.split("::")[0] for several in TESTS.values() for test in several}
    assert [path for path in sorted(sources | tests) if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_every_kind_of_fault_is_python():
    for module in TESTS:
        source, found = faults_of(module)
        assert found, module
        for mutant in {mutant.kind: mutant for mutant in found}.values():  # one of each kind
            ast.parse(mutant.apply(source))
