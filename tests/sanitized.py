"""Run the tests of the kernels on kernels that check every access to memory and stop at undefined behaviour.

``python tests/sanitized.py [tests ...]`` compiles a copy of the package with g++'s or clang's sanitizers, on Linux.
After the tests come hostile calls of a seed that changes with the date, those whose arrays another thread writes to,
and rooms that several threads ask. Another copy, with ThreadSanitizer, is asked by several threads again: two of them
must not come to the same memory without a lock between them. Each part says how long it took.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
MEMORY = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1"
THREADS = "-fsanitize=thread -fno-omit-frame-pointer -g1 -O1"
SEED = int(date.today().strftime("%Y%m%d"))
TESTS = (
    "test_kernels.py",
    "test_hostile_kernels.py",
    "geometry/test_active_set.py",
    "geometry/test_complexes.py",
    "geometry/test_crossing.py",
    "geometry/test_double_description.py",
    "geometry/test_sampling.py",
    "geometry/test_splitting.py",
    "networks/test_corner_bounds.py",
    "networks/test_maps_behind.py",
    "networks/test_stages.py",
    "codes",
    "partitions/test_boundedness.py",
    "partitions/test_candidates.py",
    "partitions/test_carried_ahead.py",
    "partitions/test_cellwise.py",
    "partitions/test_decision.py",
    "partitions/test_level_sets.py",
    "partitions/test_spanning_vertices.py",
    "partitions/test_decision_surfaces.py",
    "partitions/test_tree_count.py",
    "plots/test_depth_buffer.py",
    "analyses/test_dense_boxes.py",
    "analyses/test_near_boxes.py",
    "analyses/codespace/test_common_hyperplanes.py",
    "analyses/topology/test_chains.py",
)


NO_EDITABLE = """\
import sys

sys.meta_path[:] = [one for one in sys.meta_path if not type(one).__module__.startswith("_editable_")]
"""


def main(tests: list[str]) -> int:
    """Compile the kernels twice, and run tests on them."""
    if sys.platform != "linux":
        print(f"expected Linux, got {sys.platform}: run this there")
        return 1
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "ci", "-m", "not nightly", *tests]
    hostile = ["-m", "hostile_kernels.running", "--seed", str(SEED), "--cases"]
    threads = ["-m", "hostile_kernels.threads", "--seconds", "20", "--seed", str(SEED)]
    of_memory = {
        "tests": pytest,
        "fresh calls": [*hostile, "100"],
        "calls in company": [*hostile, "20", "--company"],
        "threads": threads,
    }
    options = {
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter leaves things behind on purpose
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    failed = _run(MEMORY, ("libasan.so", "libubsan.so"), options, of_memory)
    # The interpreter, NumPy and OpenBLAS are compiled without: what they do beside each other is no news of ours.
    options = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1"}
    return failed or _run(THREADS, ("libtsan.so",), options, {"threads of ThreadSanitizer": threads})


def _run(flags: str, names: tuple[str, ...], options: dict[str, str], parts: dict[str, list[str]]) -> int:
    """Compile a copy with these flags, and run Python on it with the libraries of the compiler's sanitizers."""
    with tempfile.TemporaryDirectory(prefix="sanitized-") as folder:
        package = Path(folder) / "src" / "reluscope"
        shutil.copytree(ROOT / "src" / "reluscope", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        # An editable installation finds its own sources first, whatever the path says.
        (package.parent / "sitecustomize.py").write_text(NO_EDITABLE, encoding="utf-8")
        _timed("compiling", lambda: _compile(Path(folder) / "build", package, flags))
        compiler = os.environ.get("CXX", "c++")
        libraries = [
            subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout
            for name in names
        ]
        environment = os.environ | {
            **options,
            "LD_PRELOAD": ":".join(library.strip() for library in libraries),
            "PYTHONPATH": os.pathsep.join([str(package.parent), str(ROOT / "studies" / "src"), str(ROOT / "tests")]),
            "OMP_NUM_THREADS": "1",
        }
        found = subprocess.run(
            [sys.executable, "-c", "import reluscope._kernels as k; print(k.__file__)"],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert folder in found.stdout, f"the tests would see {found.stdout}"
        for name, arguments in parts.items():
            command = [sys.executable, *arguments]
            done = _timed(name, lambda command=command: subprocess.run(command, cwd=ROOT, env=environment, check=False))
            if done.returncode:
                return done.returncode
        return 0


def _timed(name: str, work: Callable[[], T]) -> T:
    began = time.monotonic()
    found = work()
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return found


def _compile(build: Path, package: Path, flags: str) -> None:
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    cmake = shutil.which("cmake") or str(Path(sys.executable).with_name("cmake"))
    arguments = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}", "-DCMAKE_BUILD_TYPE=Debug"]
    environment = os.environ | {"CXXFLAGS": flags}
    subprocess.run([cmake, "-S", str(ROOT / "native"), "-B", str(build), *arguments], check=True, env=environment)
    subprocess.run([cmake, "--build", str(build), "--parallel", "2"], check=True, env=environment)
    for library in build.glob("_kernels*.so"):
        shutil.copy(library, package)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(Path("tests") / name) for name in TESTS]))
