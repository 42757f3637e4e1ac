"""Both wheels are complete and free of anything else; the studies ask for the version beside them."""

import email
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
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


@pytest.mark.few(1)
def test_wheels_are_of_the_version(packed):
    name, _, wheel = packed
    assert wheel.name.startswith(f"{name}-{rs.__version__}")
    assert name == "reluscope" or wheel.name.endswith("-py3-none-any.whl")


@pytest.fixture(scope="module")
def whole_wheel(tmp_path_factory):
    """The wheel with its kernels, compiled from the sources."""
    return wheel_of(ROOT, scikit_build.build_wheel, tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_a_wheel_holds_its_kernels(whole_wheel):
    with zipfile.ZipFile(whole_wheel) as archive:
        assert [name for name in archive.namelist() if name.startswith("reluscope/_kernels.")]
    # From 3.12 on, one for all versions.
    tag = "cp311-cp311" if sys.version_info < (3, 12) else "cp312-abi3"
    assert f"-{tag}-" in whole_wheel.name


@pytest.mark.slow
def test_an_installed_wheel_works(whole_wheel, tmp_path):
    """In an environment of its own, which sees the dependencies of this one after it."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    options = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(whole_wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *options], check=True)
    paths = {name: sysconfig.get_path(name, vars=_bases(environment)) for name in ("purelib", "platlib")}
    (Path(paths["platlib"]) / "dependencies.pth").write_text(f"{np.__path__[0]}/..\n", encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run(
        [python, ROOT / "scripts" / "check_installed.py"],
        cwd=tmp_path,
        env=clean,
        check=False,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert "works on Python" in found.stdout


def _bases(environment):
    return dict.fromkeys(("base", "platbase", "installed_base"), str(environment))


@pytest.mark.slow
@pytest.mark.parametrize("package", DISTRIBUTIONS)
def test_a_source_distribution_builds_the_same_wheel(package, tmp_path):
    """It holds what is needed for it, and the wheel from it is the wheel from here."""
    root, build = DISTRIBUTIONS[package]
    backend = scikit_build if package == "reluscope" else hatchling
    sources = wheel_of(root, lambda folder: backend.build_sdist(folder), tmp_path)
    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = tmp_path / sources.name.removesuffix(".tar.gz")
    for name in ("pyproject.toml", "README.md", "LICENSE", "PKG-INFO"):
        assert (unpacked / name).is_file(), name
    if package == "reluscope":
        paths = {path.relative_to(root) for path in (root / "native").rglob("*.[ch]pp")}
        # What CMake has left where the kernels were compiled in place.
        native = {path for path in paths if "CMakeFiles" not in path.parts}
        assert native
        assert all((unpacked / path).is_file() for path in native)
    here, there = (contents(wheel_of(at, build, tmp_path)) for at in (root, unpacked))
    assert here == there


def contents(wheel):
    """Return what a wheel holds, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_metadata_says_what_is_known(packed):
    package, _, wheel = packed
    files = contents(wheel)
    about = f"{package}-{rs.__version__}.dist-info"
    assert f"{about}/licenses/LICENSE" in files
    metadata = email.message_from_bytes(files[f"{about}/METADATA"])
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    for line in metadata.get_all("Project-URL") or ():
        assert line.partition(", ")[2].startswith("https://")


def test_the_citation_is_of_this_version():
    assert f"\nversion: {rs.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_actions_are_pinned_by_commit():
    """A tag of an action may be moved to other code, a commit may not."""
    used = [
        line.partition("uses:")[2].split("#")[0].strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(used) > 9
    assert not [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)]


def test_wheels_hold_every_module_and_nothing_foreign(packed):
    package, source, wheel = packed
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert modules <= names
    assert (f"{package}/py.typed" in names) == (package == "reluscope")  # no one types against studies
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {package}
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_holds_the_bundle_and_not_what_it_is_made_of(packed):
    package, source, wheel = packed
    if package != "reluscope":
        return
    files = contents(wheel)
    folder = Path("reluscope") / "explorer"
    for name in ("bundle/explorer.js", "bundle/live.js", "bundle/space.js", "web/page.html"):
        assert files[str(folder / name)] == (source / folder / name).read_bytes()
    assert not [name for name in files if name.endswith((".js", ".css")) and "/web/" in name]


def test_studies_ask_for_the_version_beside_them():
    project = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed, *others = project["dependencies"]
    assert (project["version"], needed) == (rs.__version__, f"reluscope=={rs.__version__}")
    assert [one.partition(">=")[0] for one in others] == ["sympy"]  # what studies alone import
    assert "studies" not in str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def test_the_image_for_committees_has_the_pinned_torch():
    """PyTorch comes first, from the index of builds for processors, and what follows must not replace it."""
    (pinned,) = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert f" torch=={pinned} " in (ROOT / "Containerfile").read_text(encoding="utf-8")
