"""The wheel is pure Python, complete, and free of anything else."""

import os
import zipfile
from pathlib import Path

import pytest

build = pytest.importorskip("hatchling.build")
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    before = Path.cwd()
    os.chdir(ROOT)  # where a build front end calls the back end
    try:
        return folder / build.build_wheel(str(folder))
    finally:
        os.chdir(before)


def test_wheel_is_pure_python(wheel):
    assert wheel.name.startswith("reluscope-")
    assert wheel.name.endswith("-py3-none-any.whl")


def test_wheel_holds_every_module_and_nothing_foreign(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert modules | {"reluscope/py.typed"} <= names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"reluscope"}
    assert not [name for name in names if "__pycache__" in name]
