"""What the explorer's questions take on the server: processor time on one thread, for two networks.

The first answer to a question is left out: imports and compiled kernels are warm when a page is shown.
"""

import statistics
import time
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Measurement
from benchmarks.models import mlp
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.questions.known_questions import answer
from reluscope.explorer.scene.session import Session

TARGET = "planes in at most 60 ms, zoomed windows in at most 15 ms (one thread)"
ZOOMS = (0.1, 1e-3, 1e-6, 1e-12)


def run(quick: bool) -> list[Measurement]:
    """Ask every question about two sessions; times are medians of processor time."""
    torch.set_num_threads(1)
    data = digits("test")
    points = np.random.default_rng(0).uniform(-0.8, 0.8, (300, 2))
    sessions = {
        "demo": Session.of(loaded_demo_network(data.points), data),
        "[2, 64, 64, 64, 10]": Session.of(mlp(2, 64, 64, 64, 10), points),
    }
    repeats = 3 if quick else 15
    return [row for name, session in sessions.items() for row in _rows(name, session, repeats)]


def _rows(name: str, session: Session, repeats: int) -> list[Measurement]:
    home = answer(session, {"ask": "hello"}).header["home"]
    first = answer(session, {"ask": "partition", **home})
    view = session.views[first.header["version"]]
    number, claim = (first.header["num_regions"][entry] for entry in ("value", "claim"))
    rows = [_timed(f"{name}, plane", session, {"ask": "partition", **home}, repeats, f"{number:,} regions ({claim})")]
    corners = view.part.vertices[(np.abs(view.part.vertices) < 0.5 * view.reach).all(axis=1)]
    for zoom in ZOOMS:
        window = {
            "center": (view.center + corners[len(corners) // 2]).tolist(),
            "reach": (zoom * view.reach).tolist(),
        }
        question = {"ask": "partition", "anchors": home["anchors"], "window": window}
        found = answer(session, question).header["num_regions"]
        detail = f"{found['value']:,} regions ({found['claim']})"
        rows.append(_timed(f"{name}, window of {zoom:g}", session, question, repeats, detail))
    version = {"version": answer(session, {"ask": "partition", **home}).header["version"]}
    place = answer(session, {"ask": "locate", **version, "points": [[0.1, 0.2]]}).arrays["rows"]
    questions: dict[str, dict[str, Any]] = {
        "hello": {"ask": "hello"},
        "card of a region": {"ask": "region", **version, "row": int(place[0])},
        "radius in input space": {"ask": "radius", **version, "row": int(place[0])},
        "norms": {"ask": "values", **version, "of": "norm"},
        "pieces of a unit": {"ask": "values", **version, "of": "unit", "gate": 0, "unit": 5},
        "groups by two gates": {"ask": "values", **version, "of": "prefix", "gates": 2},
        "discs": {"ask": "values", **version, "of": "inradius"},
        "location of a point": {"ask": "locate", **version, "points": [[0.1, 0.2]]},
        "segment": {"ask": "segment", **version, "ends": [[-0.9, -0.9], [0.9, 0.8]]},
        "60 samples": {"ask": "samples"},
        "nearest to the boundary": {"ask": "samples", "search": "nearest_to_boundary"},
        "farthest codes": {"ask": "samples", "search": "farthest_codes"},
        "code space": {"ask": "code_space"},
        "regions as Parquet": {"ask": "export", **version, "as": "parquet"},
    }
    return rows + [_timed(f"{name}, {what}", session, one, repeats, "") for what, one in questions.items()]


def _timed(case: str, session: Session, question: dict[str, Any], repeats: int, detail: str) -> Measurement:
    _asked(session, question)
    times = []
    for _ in range(repeats):
        if question["ask"] == "partition":
            session.views.clear()  # a picture that is kept would be the answer
        began = time.process_time()
        found = _asked(session, question)
        times.append(time.process_time() - began)
    size = sum(array.nbytes for array in found.arrays.values()) / 1e3
    sizes = f"{size:.1f} kB" if size else ""
    return Measurement(case, statistics.median(times), detail=", ".join(filter(None, (detail, sizes))))


def _asked(session: Session, question: dict[str, Any]) -> Answer:
    found = answer(session, question)
    if found.header["answer"] == "error":
        raise RuntimeError(found.header["message"])
    return found
