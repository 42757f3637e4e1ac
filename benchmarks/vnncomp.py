"""Instances of the competition of verifiers: how many are decided in a minute each, and Marabou beside.

FOLDER is a clone of one of the competition's public repositories, its ``benchmarks``, or the folder of one family, with
an ``instances.csv``. Of families with more than a hundred instances thirty are drawn, unless their networks are small.
What was found is kept in ``build/vnncomp.jsonl``, and a run that was stopped goes on from there.
"""

import csv
import gzip
import importlib
import importlib.util
import json
import random
import statistics
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from reluscope.errors import ReluscopeError

TARGET = (
    "no wrong verdict; within a minute all of ACAS Xu, rl_benchmarks, reach_prob_density, collins_rul and linearizenn, "
    "22 of 32 of tllverify, 59 of 90 of mnist_fc"
)
SECONDS, SEED = 60.0, 0
# Of how many instances all are tried, or up to which size of the largest network, in bytes; of others so many.
ALL, SMALL, DRAWN = 100, 1_000_000, 30
# Beside Marabou.
BESIDE = 20
KEPT = Path(__file__).parents[1] / "build" / "vnncomp.jsonl"
# How far outputs in float32 may be from unsafe ones, relatively: what the competition grants.
GRANTED = 1e-4


class Instance(NamedTuple):
    """A network and a property, as files."""

    family: str
    model: Path
    safe: Path

    @property
    def key(self) -> str:
        """What an instance is called in the file of what was found."""
        return f"{self.family}/{self.model.name.removesuffix('.gz')}/{self.safe.name.removesuffix('.gz')}"


def run(quick: bool, folders: Sequence[Path] = ()) -> list[Measurement]:
    """Decide the instances of all families that some folders hold."""
    rows, kept = [], {} if quick else _kept()
    for family in _families(folders):
        instances = _drawn(family)[: 2 if quick else None]
        found = [_found(one, "decide", kept, quick) for one in instances]
        rows.append(_row(family.name, found))
        if importlib.util.find_spec("maraboupy") is not None:
            some = instances[:: max(1, len(instances) // BESIDE)][:BESIDE]
            ours = [_found(one, "decide", kept, quick) for one in some]
            theirs = [_found(one, "decide_by_marabou", kept, quick) for one in some]
            rows.append(_beside(family.name, ours, theirs))
        print(rows[-1], flush=True)
    return rows


def _families(folders: Sequence[Path]) -> list[Path]:
    tables = {table.parent for folder in folders for table in folder.rglob("*instances.csv")}
    return sorted((one for one in tables if one.name != "test"), key=lambda one: one.name)


def _drawn(family: Path) -> list[Instance]:
    """Return the instances of a family whose files are there: all of a small one, else some at random."""
    listed = []
    for table in sorted(family.glob("*instances.csv")):
        for model, safe, *_ in csv.reader(table.read_text(encoding="utf-8").splitlines()):
            paths = [_present(family / name.strip()) for name in (model, safe)]
            if all(paths):
                listed.append(Instance(family.name, *paths))  # pyright: ignore[reportArgumentType]
    largest = max((one.model.stat().st_size for one in listed), default=0)
    if len(listed) <= ALL or largest <= SMALL:
        return listed
    return random.Random(SEED).sample(listed, DRAWN)


def _present(path: Path) -> Path | None:
    return next((one for one in (path, path.with_name(path.name + ".gz")) if one.exists()), None)


def _kept() -> dict[str, dict[str, Any]]:
    if not KEPT.exists():
        return {}
    rows = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {row["key"]: row for row in rows}


def _found(one: Instance, decider: str, kept: dict[str, dict[str, Any]], quick: bool) -> dict[str, Any]:
    """Return what becomes of an instance, in a process of its own."""
    key = f"{decider} {one.key}"
    if key not in kept:
        try:
            row = in_fresh_process(
                "benchmarks.vnncomp", decider, str(one.model), str(one.safe), SECONDS, timeout=4 * SECONDS
            )
        except subprocess.TimeoutExpired:
            row = {"verdict": "LATE", "seconds": 4 * SECONDS}
        except subprocess.CalledProcessError as error:
            row = {"verdict": "ENDED", "seconds": 0.0, "why": error.stderr.strip().splitlines()[-1:]}
        kept[key] = {"key": key, **row}
        if not quick:
            KEPT.parent.mkdir(exist_ok=True)
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(kept[key]) + "\n")
    return kept[key]


def _row(name: str, found: Sequence[dict[str, Any]]) -> Measurement:
    verdicts = Counter(row["verdict"] for row in found)
    solved = [row["seconds"] for row in found if row["verdict"] in ("HOLDS", "VIOLATED")]
    replayed = [row["replayed"] for row in found if row.get("replayed") is not None]
    detail = f"{len(solved)} of {len(found)}: " + ", ".join(f"{number} {one}" for one, number in verdicts.most_common())
    detail += f"; {sum(replayed)} of {len(replayed)} counterexamples in float32, too" if replayed else ""
    memory = max((row.get("gigabytes", 0.0) for row in found), default=0.0)
    return Measurement(name, statistics.median(solved or [SECONDS]), memory=memory, detail=detail)


def _beside(name: str, ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]) -> Measurement:
    """Return both tools on the same instances, and how much longer Marabou takes where both decide."""
    sure, pairs, wrong = ("HOLDS", "VIOLATED"), [], 0
    for own, other in zip(ours, theirs, strict=True):
        if own["verdict"] in sure and other["verdict"] in sure:
            pairs.append((own["seconds"], other["seconds"]))
            wrong += own["verdict"] != other["verdict"]
    counts = [sum(row["verdict"] in sure for row in rows) for rows in (ours, theirs)]
    detail = f"{counts[0]} here, {counts[1]} by Marabou of {len(ours)}; {wrong} verdicts differ"
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)] if pairs else [SECONDS, SECONDS]
    ratio = statistics.median(own / max(other, 1e-3) for own, other in pairs) if pairs else None
    return Measurement(f"{name}, beside Marabou", medians[0], ratio, medians[1], detail=detail)


def decide(model: str, safe: str, seconds: float) -> dict[str, Any]:
    """Return the verdict on an instance, and the processor time that it took."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with _unpacked(model) as own, _unpacked(safe) as asked:
        began = time.process_time()
        try:
            network = rs.load(own)
            read = rs.verification.read_property(asked)
            left = max(1.0, seconds - (time.process_time() - began))
            found = rs.verify(network, read, budget=rs.Budget(seconds=left))
        except ReluscopeError as error:
            return {"verdict": "REFUSED", "seconds": time.process_time() - began, "why": str(error)}
        spent, one = time.process_time() - began, found.counterexample
        replayed = None if one is None else _replays(own, read, one.point)
    return {
        "verdict": str(found),
        "seconds": spent,
        "gigabytes": peak_gigabytes(),
        "why": found.stopped,
        "replayed": replayed,
    }


def decide_by_marabou(model: str, safe: str, seconds: float) -> dict[str, Any]:
    """Return what Marabou makes of an instance: a query for each polyhedron of each case."""
    marabou: Any = importlib.import_module("maraboupy.Marabou")
    core: Any = importlib.import_module("maraboupy.MarabouUtils")
    with _unpacked(model) as own, _unpacked(safe) as asked:
        read = rs.verification.read_property(asked)
        began, verdict = time.process_time(), "HOLDS"
        for case in read.cases:
            for unsafe in case.unsafe:
                left = seconds - (time.process_time() - began)
                if left < 1:
                    return {"verdict": "OPEN", "seconds": seconds}
                network = marabou.read_onnx(str(own))
                inputs = np.concatenate([one.ravel() for one in network.inputVars])
                outputs = np.concatenate([one.ravel() for one in network.outputVars])
                for place, low, high in zip(inputs.tolist(), case.lower.tolist(), case.upper.tolist(), strict=True):
                    network.setLowerBound(place, low)
                    network.setUpperBound(place, high)
                for row, end in zip(unsafe.A, unsafe.b.tolist(), strict=True):
                    used = np.flatnonzero(row)
                    bound = core.Equation(marabou.MarabouCore.Equation.LE)
                    for place in used.tolist():
                        bound.addAddend(float(row[place]), int(outputs[place]))
                    bound.setScalar(end)
                    network.addEquation(bound)
                options = marabou.createOptions(timeoutInSeconds=int(left), verbosity=0, numWorkers=1)
                code, *_ = network.solve(verbose=False, options=options)
                if code == "sat":
                    return {"verdict": "VIOLATED", "seconds": time.process_time() - began}
                if code != "unsat":
                    verdict = "OPEN"
        return {"verdict": verdict, "seconds": time.process_time() - began}


@contextmanager
def _unpacked(name: str) -> Iterator[Path]:
    """Give a file, unpacked to a temporary one if it is packed."""
    path = Path(name)
    if path.suffix != ".gz":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        yield plain


def _replays(model: Path, safe: rs.verification.Property, point: np.ndarray) -> bool | None:
    """Return whether float32 shows a counterexample up to what the competition grants, None without a runtime."""
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    runtime: Any = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(str(model))
    (entry,) = session.get_inputs()
    shape = [size if isinstance(size, int) and size > 0 else 1 for size in entry.shape]
    outputs = session.run(None, {entry.name: point.astype(np.float32).reshape(shape)})[0].ravel().astype(float)
    values = np.concatenate([outputs, point]) if safe.relates_inputs else outputs
    return any(
        bool((one.A @ values <= one.b + GRANTED * (1 + np.abs(one.b))).all())
        for case in safe.cases
        for one in case.unsafe
    )
