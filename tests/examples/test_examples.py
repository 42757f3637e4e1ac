"""Examples of what is not public: docstrings of it have no room for them, and each still runs in its own module."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from doctest_numbers import NUMBER, NumberChecker

ROOT = Path(__file__).parents[2]
FOLDERS = {"reluscope": ROOT / "tests" / "examples", "reluscope_studies": ROOT / "studies" / "tests" / "examples"}
FILES = [(package, path) for package, folder in FOLDERS.items() for path in sorted(folder.glob("*.txt"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | NUMBER


@pytest.mark.parametrize(("package", "path"), FILES, ids=[path.stem for _, path in FILES])
def test_examples_of_a_module(package, path):
    module = import_module(f"{package}.{path.stem}")
    runner = doctest.DocTestRunner(NumberChecker(), optionflags=FLAGS)
    said = []
    for name, text in re.findall(r"^(\S+)\n\n((?:(?: .*)?\n)+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.fullmatch(r"[\w.]+", name)
        example = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, str(path), 0)
        assert example.examples, name
        runner.run(example, out=said.append)
    assert not said, "".join(said)
