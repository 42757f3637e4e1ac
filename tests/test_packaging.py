"""Both wheels are pure Python, complete, and free of anything else; the studies ask for the version beside them."""

import os
import tomllib
import zipfile
from pathlib import Path

import pytest

import reluscope as rs

build = pytest.importorskip("hatchling.build")
ROOT = Path(__file__).parents[1]
DISTRIBUTIONS = {"reluscope": ROOT, "reluscope_studies": ROOT / "studies"}


@pytest.fixture(scope="module", params=DISTRIBUTIONS)
def packed(tmp_path_factory, request):
    """The name of a package, its source and its wheel."""
    folder, root = tmp_path_factory.mktemp("wheel"), DISTRIBUTIONS[request.param]
    before = Path.cwd()
    os.chdir(root)  # where a build front end calls the back end
    try:
        return request.param, root / "src", folder / build.build_wheel(str(folder))
    finally:
        os.chdir(before)


def test_wheels_are_pure_python(packed):
    name, _, wheel = packed
    assert wheel.name.startswith(f"{name}-{rs.__version__}")
    assert wheel.name.endswith("-py3-none-any.whl")


def test_wheels_hold_every_module_and_nothing_foreign(packed):
    package, source, wheel = packed
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert modules <= names
    assert (f"{package}/py.typed" in names) == (package == "reluscope")  # no one types against studies
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {package}
    assert not [name for name in names if "__pycache__" in name]


def test_studies_ask_for_the_version_beside_them_alone():
    project = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text())["project"]
    assert (project["version"], project["dependencies"]) == (rs.__version__, [f"reluscope=={rs.__version__}"])
    assert "studies" not in str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])
