"""Both wheels are complete and free of anything else; the studies ask for the version beside them."""

import os
import tomllib
import zipfile
from pathlib import Path

import pytest

import reluscope as rs

hatchling = pytest.importorskip("hatchling.build")
scikit_build = pytest.importorskip("scikit_build_core.build")
ROOT = Path(__file__).parents[1]
# To compile kernels takes a while: here only what is around them.
WITHOUT_KERNELS = {"wheel.cmake": "false", "wheel.py-api": "py3"}
DISTRIBUTIONS = {
    "reluscope": (ROOT, lambda folder: scikit_build.build_wheel(folder, WITHOUT_KERNELS)),
    "reluscope_studies": (ROOT / "studies", hatchling.build_wheel),
}


def wheel_of(root, build, folder):
    """Return the path of a wheel, built as a build front end does, from the folder of the source."""
    before = Path.cwd()
    os.chdir(root)
    try:
        return folder / build(str(folder))
    finally:
        os.chdir(before)


@pytest.fixture(scope="module", params=DISTRIBUTIONS)
def packed(tmp_path_factory, request):
    """The name of a package, its source and its wheel."""
    root, build = DISTRIBUTIONS[request.param]
    return request.param, root / "src", wheel_of(root, build, tmp_path_factory.mktemp("wheel"))


def test_wheels_are_of_the_version(packed):
    name, _, wheel = packed
    assert wheel.name.startswith(f"{name}-{rs.__version__}")
    assert name == "reluscope" or wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.slow
def test_a_wheel_holds_its_kernels(tmp_path):
    wheel = wheel_of(ROOT, scikit_build.build_wheel, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if name.startswith("reluscope/_kernels.")]
    assert not wheel.name.endswith("-any.whl")


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
