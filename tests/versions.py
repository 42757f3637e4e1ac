"""Run a short selection of tests with the newest or the oldest versions that ``pyproject.toml`` allows.

``python tests/versions.py oldest [tests ...]`` puts each dependency by itself into a folder that this interpreter sees
before its own packages. PyTorch stays as it is, because another one is a download of gigabytes, and so does what
dependencies depend on. A version that has no wheel for this interpreter is left out, and told.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What is of use to an array of regions without any of these: engines, programs, commands, files, and reports.
TESTS = (
    "tests/cli/test_completion.py",
    "tests/cli/test_count_command.py",
    "tests/cli/test_options.py",
    "tests/cli/test_schemas.py",
    "tests/files",
    "tests/findings",
    "tests/geometry",
    "tests/networks/test_from_onnx.py",
    "tests/networks/test_network.py",
    "tests/partitions/test_invariants.py",
    "tests/partitions/test_known_counts.py",
    "tests/partitions/test_level_files.py",
    "tests/partitions/test_streaming.py",
    "tests/plots/test_pictures.py",
    "tests/regions",
)
KEPT = ("torch",)
VERSIONS = """
import sys
from importlib.metadata import version
print(*(f"{name} {version(name)}" for name in sys.argv[1:]), sep=", ")
"""


def wanted(which: str) -> dict[str, str]:
    """Return, for each dependency, what pip is asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ranges = [*project["dependencies"], *project["optional-dependencies"]["onnx"]]
    found = {}
    for one in ranges:
        name, least = re.match(r"([\w-]+)>=([\d.]+)", one).groups()
        if name not in KEPT:
            found[name] = one if which == "newest" else f"{name}=={least}"
    return found


def install(asked: dict[str, str], folder: Path) -> list[str]:
    """Install packages without what they depend on; return those that cannot be had."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--target", str(folder)]
    command += ["--no-deps", "--no-compile", "--only-binary", ":all:", "--upgrade"]

    def fails(packages: Iterable[str]) -> bool:
        return subprocess.run([*command, *packages], capture_output=True, check=False).returncode != 0

    return [name for name, one in asked.items() if fails([one])] if fails(asked.values()) else []


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, say what there is now, and run the tests on it."""
    parser = argparse.ArgumentParser(prog="python tests/versions.py", description=__doc__)
    parser.add_argument("which", choices=("newest", "oldest"))
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("-n", "--workers", default="2")
    options = parser.parse_args(arguments)
    asked = wanted(options.which)
    with tempfile.TemporaryDirectory(prefix=f"{options.which}-") as folder:
        missing = install(asked, Path(folder))
        paths = [folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        subprocess.run([sys.executable, "-c", VERSIONS, *asked, *KEPT], env=environment, check=True)
        if missing:
            print(f"left as they are, without a wheel for this interpreter: {', '.join(missing)}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "ci"]
        # Old packages meet newer ones of their own dependencies here, which say what will change.
        command += ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"]
        command += ["-n", options.workers, "--dist", "worksteal", *options.tests]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
