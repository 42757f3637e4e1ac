"""Every variation, declared once: what is set for it, and whether this machine can play it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SELF_CHECK = Path(__file__).with_name("self_check.py")
OTHER_SUMS = Path(__file__).with_name("other_sums.cpp")
COMPILED = Path(__file__).parents[2] / "build" / "other_sums.so"
# A user without rights beyond those that the files of this checkout give to their owner.
ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
READ_ONLY_HOME = "home"


@dataclass(frozen=True)
class Variation:
    """A machine to play.

    Parameters
    ----------
    name : str
    what : str
        What is different there.
    environment : dict of str to str
    options : tuple of str
        Options of pytest.
    workers : int, optional
        Processes; without it two.
    command : tuple of str
        What runs the interpreter.
    obstacle : callable
        Returns why this machine cannot play it; empty where it can.
    """

    name: str
    what: str
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    workers: int | None = None
    command: tuple[str, ...] = ()
    obstacle: Callable[["Variation"], str] = lambda one: self_check(one)


def self_check(variation: Variation) -> str:
    """Return why linear algebra cannot be trusted in a process of this variation; empty where it can."""
    command = [*variation.command, sys.executable, str(SELF_CHECK)]
    try:
        done = subprocess.run(
            command, env=os.environ | variation.environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return str(error)
    if done.returncode < 0:
        return f"the self-check died of signal {-done.returncode}"
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["the self-check failed"])[-1]


def _ordinary_user(variation: Variation) -> str:
    if variation.command and not shutil.which(variation.command[0]):
        return "there is no unshare, and the tests run as root: run them as another user"
    return self_check(variation)


def _browser(variation: Variation) -> str:
    from explorer.browsing import CHROMIUM

    return self_check(variation) if CHROMIUM else "there is no Chromium"


def _compiled(variation: Variation) -> str:
    if not sys.platform.startswith("linux"):
        return "libraries are loaded first on Linux alone"
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        return "there is no C++ compiler"
    COMPILED.parent.mkdir(exist_ok=True)
    options = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
    subprocess.run([compiler, *options, "-o", COMPILED, OTHER_SUMS], check=True)
    return self_check(variation)


def dispatched_features() -> tuple[str, ...]:
    """Return the features for which NumPy has loops of their own and which this processor has."""
    from numpy._core import _multiarray_umath as numpy_core

    return tuple(name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name))


def variations(seed: int) -> tuple[Variation, ...]:
    """Return all variations; the seed orders the tests."""
    features = dispatched_features()
    newest = tuple(name for name in features if name not in ("X86_V3", "AVX2", "FMA3"))
    user = ORDINARY if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    torch_plain = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "SSE41"}
    torch_avx2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    abroad = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "LINT-14"}
    # Kernels of OpenBLAS are chosen by hand and never by .ci/run: older ones compute wrongly on some processors.
    return (
        *(
            Variation(f"openblas-{core.lower()}", f"OpenBLAS with kernels for {core}", {"OPENBLAS_CORETYPE": core})
            for core in ("Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
        ),
        Variation(
            "other-sums",
            "products of BLAS with sums in other orders",
            {"LD_PRELOAD": str(COMPILED)},
            obstacle=_compiled,
        ),
        Variation("torch-default", "torch without vector instructions", torch_plain),
        Variation("torch-avx2", "torch with AVX2 alone", torch_avx2),
        Variation("numpy-baseline", "NumPy without its loops for newer processors", _without(features)),
        Variation("numpy-avx2", "NumPy without its loops for AVX-512", _without(newest)),
        Variation("one-worker", "one process", workers=1),
        Variation("four-workers", "four processes", workers=4),
        Variation("two-threads", "two threads", {"OMP_NUM_THREADS": "2"}, workers=1),
        Variation("four-threads", "four threads", {"OMP_NUM_THREADS": "4"}, workers=1),
        Variation("order", "tests in random order", options=("--shuffle", str(seed))),
        Variation("browser", "tests in Chromium", options=("-m", "not nightly", "-k", "browser"), obstacle=_browser),
        Variation("no-browser", "no Chromium", {"CHROMIUM": ""}),
        Variation("not-root", "an ordinary user", command=user, obstacle=_ordinary_user),
        Variation(
            "read-only-home",
            "an ordinary user whose home cannot be written to",
            {"HOME": READ_ONLY_HOME},
            command=user,
            obstacle=_ordinary_user,
        ),
        Variation("abroad", "a locale without UTF-8, and a time zone 14 hours ahead", abroad),
    )


def _without(features: tuple[str, ...]) -> dict[str, str]:
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if features else {}


# Machines each of which has what several have, so that few runs of all tests see every variation but the browser's,
# whose tests are others.
COMBINED = (
    ("openblas-nehalem", "torch-default", "numpy-baseline", "one-worker", "no-browser"),
    ("openblas-sandybridge", "torch-avx2", "numpy-avx2", "two-threads", "abroad"),
    ("openblas-haswell", "torch-default", "numpy-avx2", "four-workers", "order", "not-root"),
    ("openblas-zen", "torch-avx2", "numpy-baseline", "four-threads", "read-only-home"),
    ("openblas-skylakex", "order", "no-browser", "abroad"),
    ("other-sums", "numpy-avx2", "order"),
    ("browser",),
)


def together(chosen: Sequence[Variation]) -> Variation:
    """Return the machine that has all that is set for several, none of which may contradict another."""
    environment: dict[str, str] = {}
    for one in chosen:
        for name, value in one.environment.items():
            if environment.setdefault(name, value) != value:
                raise ValueError(
                    f"expected machines that can be one, got {name} set to {environment[name]} and {value}"
                )
    workers = {one.workers for one in chosen} - {None}
    if len(workers) > 1:
        raise ValueError(f"expected machines that can be one, got {' and '.join(map(str, sorted(workers)))} workers")
    return Variation(
        "+".join(one.name for one in chosen),
        ", ".join(one.what for one in chosen),
        environment,
        tuple(option for one in chosen for option in one.options),
        workers=next(iter(workers), None),
        command=next((one.command for one in chosen if one.command), ()),
    )
