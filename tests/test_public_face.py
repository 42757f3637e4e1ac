"""What `import reluscope` promises: every public name, no cost, a docstring everywhere."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import reluscope as rs

PACKAGE = Path(__file__).parents[1] / "src" / "reluscope"


def test_public_names_resolve():
    assert [name for name in rs.__all__ if not getattr(rs, name).__doc__ or name not in dir(rs)] == []


def test_all_lists_the_lazy_names():
    assert rs.__all__ == sorted(rs._HOMES)
    checked = {
        alias.name
        for statement in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
        for imported in statement.body
        if isinstance(imported, ast.ImportFrom)
        for alias in imported.names
    }
    assert checked == set(rs.__all__)  # what editors see is what there is


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'polytope'"):
        rs.polytope  # noqa: B018


def test_importing_a_package_does_not_hide_a_public_name():
    names = [name for name in rs.__all__ if name not in rs._MODULES]
    for name in names:
        import_module(rs._HOMES[name])
    assert [name for name in names if isinstance(getattr(rs, name), ModuleType)] == []


def test_import_is_lazy():
    heavy = ("torch", "scipy", "numpy", "matplotlib", "pyarrow")
    script = f"import sys, reluscope; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_module_says_what_it_is():
    silent = [
        path for path in PACKAGE.rglob("*.py") if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_version_is_stated_once_more_and_agrees():
    from importlib.metadata import version

    assert rs.__version__ == version("reluscope")


def _public_objects():
    """Every public function and class of the library, by its name: where it is found, and in which module it is."""
    found: dict[str, dict[str, str]] = {}
    spaces = {"": rs} | {name: getattr(rs, name) for name in rs._MODULES if name != "studies"}
    for space, module in spaces.items():
        listed = getattr(module, "__all__", None)
        for name in [one for one in vars(module) if not one.startswith("_")] if listed is None else listed:
            thing = getattr(module, name)
            if callable(thing) and getattr(thing, "__module__", "").startswith("reluscope"):
                found.setdefault(name, {})[space] = f"{thing.__module__}.{thing.__qualname__}"
    return found


def test_no_two_public_things_share_a_name():
    """Pictures alone are called as what they show: `plots.partition` draws what `partition` returns."""
    apart = {
        name: places
        for name, homes in _public_objects().items()
        if len(set((places := {space: home for space, home in homes.items() if space != "plots"}).values())) > 1
    }
    assert apart == {}


def test_one_can_learn_all_names():
    """Names of the package and of its namespaces; types that one function returns are documented with it."""
    spaces = [rs, *(getattr(rs, name) for name in rs._MODULES)]
    assert sum(len(space.__all__) for space in spaces) <= 400


def test_namespaces_list_what_they_offer_and_no_modules():
    assert [name for name in dir(rs) if not name.startswith("__") and name not in rs.__all__] == []
    namespaces = [getattr(rs, name) for name in rs.__all__ if isinstance(getattr(rs, name), ModuleType)]
    assert len(namespaces) > 20
    for one in namespaces:
        assert sorted(dir(one)) == sorted(one.__all__), one
