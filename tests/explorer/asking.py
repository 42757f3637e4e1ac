"""Sessions to ask, and what their answers have to be: carried by JSON, of the kinds of numbers that browsers have."""

import json
from itertools import pairwise

import numpy as np

import reluscope as rs
from reluscope.explorer.questions.known_questions import answer
from reluscope.explorer.scene.session import Session

KINDS = {"float64", "float32", "int32", "uint32", "int16", "uint8"}
# Magnifications that are looked at.
ZOOMS = (1.0, 1e-6, 1e-12)


def network(sizes, seed=0, gain=1.4):
    """A network with random weights, large enough to bend often."""
    generator = np.random.default_rng(seed)
    layers = []
    for fan_in, fan_out in pairwise(sizes):
        weight = generator.normal(size=(fan_out, fan_in)) * gain / np.sqrt(fan_in)
        layers.append((weight, generator.normal(size=fan_out) * 0.3))
    return rs.load(layers)


def session(sizes=(5, 12, 12, 4), seed=0, samples=40, **options):
    """A session about random samples and a random network."""
    points = np.random.default_rng(seed + 1).normal(size=(samples, sizes[0]))
    made = network(sizes, seed)
    labels = None
    if options.pop("labels", True):
        labels = rs.classification.predicted_classes(made, points).copy()
        labels[::7] = 0
    return Session.of(made, points, labels=labels, **options)


def ask(asked, question, **options):
    """Ask a question that has an answer."""
    found = answer(asked, question, **options)
    check_form(found)
    assert found.header["answer"] == question["ask"], found.header
    return found


def refused(asked, question):
    """Return what is said about a question that has no answer."""
    found = answer(asked, question)
    check_form(found)
    assert found.header["answer"] == "error", found.header
    return found.header["kind"], found.header["message"]


def check_form(found):
    """Check that an answer can be carried."""
    json.dumps(found.header, allow_nan=False)
    assert all(array.dtype.name in KINDS for array in found.arrays.values())


def home(asked):
    """Return anchors and window of the first picture."""
    said = ask(asked, {"ask": "hello"}).header["home"]
    return said["anchors"], said["window"]


def picture(asked, zoom=1.0, at=None, **fields):
    """Ask for the plane, magnified about a place."""
    anchors, window = home(asked)
    center = window["center"] if at is None else list(at)
    reach = [side * zoom for side in window["reach"]]
    question = {"ask": "partition", "anchors": anchors, "window": {"center": center, "reach": reach}, **fields}
    found = ask(asked, question)
    return found, asked.views[found.header["version"]]


def crossing(asked, seed=0):
    """Return a place where two boundaries cross: there is something to see at every magnification."""
    _, view = picture(asked)
    part = view.part
    counts = np.bincount(np.asarray(part.region_vertices[1]), minlength=len(part.vertices))
    inside = (np.abs(part.vertices) < 0.9 * view.reach).all(axis=1)
    chosen = np.flatnonzero((counts >= 4) & inside)
    return view.center + part.vertices[np.random.default_rng(seed).choice(chosen)]


def polygon_areas(corners, offsets):
    """The shoelace formula, polygon by polygon."""
    found = []
    for start, stop in pairwise(offsets):
        x, y = corners[start:stop].astype(np.float64).T
        found.append((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)
    return np.array(found)


def pieces_at(found, places):
    """Return the piece that contains each relative place, by the sides of all drawn polygons; -1 where none does."""
    corners, offsets = found.arrays["corners"].astype(np.float64), found.arrays["piece_offsets"]
    rows = np.full(len(places), -1)
    for piece, (start, stop) in enumerate(pairwise(offsets)):
        polygon = corners[start:stop]
        sides = np.roll(polygon, -1, axis=0) - polygon
        away = places[:, None] - polygon[None]
        inside = (sides[:, 0] * away[..., 1] - sides[:, 1] * away[..., 0] >= 0).all(axis=1)
        rows[inside] = piece
    return rows
