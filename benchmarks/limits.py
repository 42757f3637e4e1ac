"""Whether budgets of seconds, Ctrl-C and memory are kept: functions on networks of every kind, each in a process."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

import reluscope as rs
from benchmarks.large_networks import NETWORKS, large_network
from benchmarks.measure import Measurement

TARGET = "back within max(1 s, 10 %) of 5 s, whatever is asked of whichever network, in 6 GB"
SECONDS, GIGABYTES = 5.0, 6.0
# What has not come back after so many seconds is ended.
PATIENCE = 60.0
LOOP = "loop's controller 2-5x50-1"
STEPS = 25


def _plane(x: np.ndarray) -> rs.Slice:
    rng = np.random.default_rng(1)
    return rs.Plane(x, *(x + rng.normal(size=(2, len(x))) / np.sqrt(len(x))))


def _box(x: np.ndarray) -> rs.Box:
    return rs.Box(x - 0.02, x + 0.02)


def _wide(x: np.ndarray) -> rs.Box:
    return rs.Box(x - 1.0, x + 1.0)


def _robust(network: rs.Network, x: np.ndarray) -> Any:
    scores = network(x[None])[0].numpy().ravel()
    if len(scores) == 1:
        return rs.verification.Property(
            [rs.verification.Case(x - 0.02, x + 0.02, [rs.Polyhedron([[1.0]], [scores[0] - 1.0])])]
        )
    best, second = np.argsort(-scores)[:2]
    row = np.zeros((1, len(scores)))
    row[0, best], row[0, second] = 1, -1
    return rs.verification.Property([rs.verification.Case(x - 0.02, x + 0.02, [rs.Polyhedron(row, [0.0])])])


def _loop(network: rs.Network, budget: rs.Budget) -> Any:
    plant = rs.reachability.Plant(np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]]))
    return rs.reach(network, plant, rs.Box([-1, -1], [1, 1]), STEPS, budget=budget)


def _drawn(x: np.ndarray, number: int) -> np.ndarray:
    return x + 0.1 * np.random.default_rng(2).normal(size=(number, len(x)))


def _first_output(network: rs.Network) -> np.ndarray:
    row = np.zeros(network.num_outputs)
    row[0] = 1.0
    return row


Question = Callable[[rs.Network, np.ndarray, rs.Budget], Any]
QUESTIONS: dict[str, Question] = {
    "partition of a plane": lambda n, x, b: rs.partition(n, _plane(x), budget=b),
    "partition of a segment": lambda n, x, b: rs.partition(n, rs.Segment(x, _drawn(x, 1)[0]), budget=b),
    "partition of a box": lambda n, x, b: rs.partition(n, _box(x), budget=b),
    "count": lambda n, x, b: rs.count(n, _plane(x), budget=b),
    "decision_boundary": lambda n, x, b: rs.decision_boundary(n, _plane(x), budget=b),
    "level_set": lambda n, x, b: rs.level_set(n, _plane(x), budget=b),
    "image of a box": lambda n, x, b: rs.image(n, _box(x), budget=b),
    "verify": lambda n, x, b: rs.verify(n, _robust(n, x), budget=b),
    "violations": lambda n, x, b: rs.violations(n, _robust(n, x), budget=b),
    "boundary_distance": lambda n, x, b: rs.robustness.boundary_distance(n, _drawn(x, 20), norm="l2", budget=b),
    "certified_radius": lambda n, x, b: rs.robustness.certified_radius(n, _drawn(x, 20), norm="linf", budget=b),
    "decision_distance": lambda n, x, b: rs.robustness.decision_distance(n, x, norm="l2", budget=b),
    "inscribed_balls": lambda n, x, b: rs.inscribed_balls(n, _drawn(x, 20), budget=b),
    "local.region_classes": lambda n, x, b: rs.local.region_classes(n, _drawn(x, 20), domain=_wide(x), budget=b),
    "local.region_sizes": lambda n, x, b: rs.local.region_sizes(n, _drawn(x, 20), budget=b),
    "local.mean_distances": lambda n, x, b: rs.local.mean_distances(n, _drawn(x, 20), domain=_wide(x), budget=b),
    "local_complexity": lambda n, x, b: rs.sensitivity.local_complexity(n, _drawn(x, 20), 0.05, budget=b),
    "stability.spectra": lambda n, x, b: rs.stability.spectra(n, _drawn(x, 20), budget=b),
    "stability.extremes": lambda n, x, b: rs.stability.extremes(n, _drawn(x, 20), budget=b),
    "coefficients.local_norms": lambda n, x, b: rs.coefficients.local_norms(n, _drawn(x, 20), budget=b),
    "codespace.adjacency": lambda n, x, b: rs.codespace.adjacency(n, _drawn(x, 20), budget=b),
    "neighbors": lambda n, x, b: rs.neighbors(n, x, budget=b),
    "region": lambda n, x, b: rs.region(n, x, budget=b),
    "preimages.of": lambda n, x, b: rs.preimages.of(
        n, rs.Polyhedron(np.eye(len(n(x[None])[0].ravel()))[:1], [0.0]), domain=_box(x), budget=b
    ),
    "preimages.elsewhere_bounds": lambda n, x, b: rs.preimages.elsewhere_bounds(n, x, domain=_wide(x), budget=b),
    "maximize": lambda n, x, b: rs.maximize(n, _box(x), _first_output(n), budget=b),
    "lipschitz": lambda n, x, b: rs.lipschitz(n, _box(x), budget=b),
    "as_program": lambda n, x, b: rs.as_program(n, _box(x), budget=b),
    "transitions": lambda n, x, b: rs.sensitivity.transitions(n, _drawn(x, 5), budget=b),
    "reach": lambda n, x, b: _loop(n, b),
}


def fits(name: str, question: str) -> bool:
    """Whether a question is one for a network: a loop needs as many states as inputs."""
    return question != "reach" or name == LOOP


def asked(name: str, question: str, seconds: float | None, strike: float | None) -> dict[str, Any]:
    """Ask one question once, with a budget, or with Ctrl-C after some seconds; return what it took, and the answer."""
    network = large_network(name)
    x = np.random.default_rng(0).random(int(np.prod(NETWORKS[name][1])))
    began = time.perf_counter()
    if strike is not None:
        timer = threading.Timer(strike, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()
    try:
        found = QUESTIONS[question](network, x, rs.Budget(seconds=seconds))
        said = str(found).splitlines()[0]
    except (Exception, KeyboardInterrupt) as error:
        said = f"{type(error).__name__}: {error}"
    took, memory = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"seconds": took, "memory": memory, "said": said[:160]}


ASK = "from benchmarks.limits import asked; print(json.dumps(asked(*json.loads(%s))))"


def run_one(name: str, question: str, seconds: float | None, strike: float | None = None) -> dict[str, Any]:
    """Return what `asked` finds in a process of its own."""
    given = json.dumps(json.dumps((name, question, seconds, strike)))
    # Work in the background of a shell ignores Ctrl-C, and so would its processes.
    code = f"import json, signal; signal.signal(signal.SIGINT, signal.default_int_handler); {ASK % given}"
    command = [sys.executable, "-W", "ignore", "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return {"seconds": PATIENCE, "memory": float("nan"), "said": "not back"}
    if done.returncode:
        return {"seconds": float("nan"), "memory": float("nan"), "said": f"died: {done.stderr[-160:]}"}
    return json.loads(done.stdout.splitlines()[-1])


def is_kept(found: dict[str, Any], seconds: float) -> bool:
    """Whether a question was back in time."""
    return found["seconds"] <= seconds + max(1.0, seconds / 10)


def run(quick: bool) -> list[Measurement]:
    """Return a row for every network: the latest answer and the largest."""
    rows = []
    for name in list(NETWORKS)[:2] if quick else NETWORKS:
        asked_of = [question for question in QUESTIONS if fits(name, question)][: 2 if quick else None]
        found = {question: run_one(name, question, SECONDS) for question in asked_of}
        kept = [question for question, one in found.items() if is_kept(one, SECONDS)]
        latest = max(found, key=lambda question: np.nan_to_num(found[question]["seconds"], nan=np.inf))
        largest = max(found, key=lambda question: np.nan_to_num(found[question]["memory"]))
        late = ", ".join(question for question in found if question not in kept)
        detail = f"{len(kept)} of {len(found)} in time; largest: {largest}" + (f"; late: {late}" if late else "")
        memory = found[largest]["memory"]
        rows.append(
            Measurement(
                name,
                found[latest]["seconds"],
                reference=SECONDS,
                memory=None if isnan(memory) else memory,
                detail=detail,
            )
        )
    return rows
