"""Questions about the regions of a network, asked point by point; answers are kept in records as they come.

An answer is a table of arrays with one row per point, NaN where a point has no answer. Points are asked about in a
fixed random order, so that those asked so far are a random sample of all.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

import reluscope as rs
from reluscope.stopping import is_interrupted
from reluscope.studies import Record, Setting
from reluscope_studies.labelled import Labelled

PLACES = ("manifold", "decision", "adversarial")
BLOCK = 5
# Cosines are kept as counts in bins, which are narrow against those of the pictures.
COSINE_EDGES = np.linspace(-1.0, 1.0, 401)
Answers = dict[str, np.ndarray]


@dataclass(frozen=True)
class Inquiry:
    """Choices that all questions share.

    Parameters
    ----------
    points : int
        Test points that are asked about.
    target : {"mean", "point"}
        Where the way to a decision region goes: the mean of another class, or one of its points.
    radius : float
        Of the ball around a point, in linf, in which an adversary is looked for.
    rays : int
        Directions around a point.
    reach : float
        Length of a ray.
    """

    points: int
    target: Literal["mean", "point"]
    radius: float
    rays: int = 100
    reach: float = 0.2


@dataclass(frozen=True, eq=False)
class Asked:
    """A network under question.

    Parameters
    ----------
    setting : Setting
    inquiry : Inquiry
    training, testing : Labelled
    """

    setting: Setting
    inquiry: Inquiry
    training: Labelled
    testing: Labelled

    @property
    def box(self) -> rs.Box:
        """Where inputs are."""
        return rs.Box(-1, 1, self.testing.points.shape[1])

    @property
    def rows(self) -> np.ndarray:
        """The test points that are asked about, in order."""
        order = np.random.default_rng(self.setting.seed).permutation(len(self.testing))
        return order[: self.inquiry.points]

    def answers(self, question: str, network_name: str) -> Answers:
        """Return what is known so far; nothing if nothing was asked."""
        record = self.setting.records.get(f"{network_name}-{question}")
        return {} if record is None else dict(record.arrays)

    def ask(self, question: str, network_name: str, network: rs.Network) -> None:
        """Ask about points that have no answer yet, as long as the setting allows."""
        records, name = self.setting.records, f"{network_name}-{question}"
        rows, seconds = self.rows, self.setting.seconds
        spent = records[name].plain["seconds"] if name in records else 0.0
        known = self.answers(question, network_name)
        done = _number(known)
        while done < len(rows) and (not done or seconds is None or spent < seconds):
            began = time.perf_counter()
            self.setting.progress(f"{question.capitalize()} of {network_name}, point {done + 1}", done / len(rows))
            block = rows[done : done + BLOCK]
            new = QUESTIONS[question](self, network, block)
            known = {part: np.concatenate([known[part], value]) if known else value for part, value in new.items()}
            done, spent = done + len(block), spent + time.perf_counter() - began
            records[name] = Record({"seconds": spent}, known)

    def targets(self, network: rs.Network, rows: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return where the ways to other classes go."""
        draw = rs.local.other_means if self.inquiry.target == "mean" else rs.local.other_points
        return draw(network, self.training.points, self.training.labels, classes, seed=self.seed(rows))

    def seed(self, rows: np.ndarray) -> int:
        """Return a seed of a block's own."""
        return self.setting.seed + int(rows[0])


def _number(answers: Answers) -> int:
    return len(next(iter(answers.values()))) if answers else 0


def _inspheres(asked: Asked, network: rs.Network, rows: np.ndarray) -> Answers:
    """Inradii of manifold, decision and adversarial regions."""
    points = asked.testing.points[rows]
    classes = rs.classification.predicted_classes(network, points)
    adversaries = rs.local.pgd(network, points, classes, radius=asked.inquiry.radius, box=asked.box)
    ends = {
        "decision": rs.local.last_of_class(network, points, asked.targets(network, rows, classes)).last,
        "adversarial": rs.local.last_of_class(network, points, adversaries).last,
    }
    found: Answers = {}
    for place in PLACES:
        if place == "manifold":
            there, chosen = points, np.arange(len(rows))
        else:
            there, chosen = ends[place].within, np.flatnonzero(ends[place].is_boundary)
            found[f"alpha {place}"] = np.where(ends[place].is_boundary, ends[place].alphas, np.nan)
        radii, gaps = (np.full(len(rows), np.nan) for _ in range(2))
        if len(chosen):
            balls = rs.inscribed_balls(network, there[chosen], domain=asked.box)
            if is_interrupted(balls.stop):  # part of a block is worth nothing to a run that goes on later
                raise KeyboardInterrupt
            inradius = balls["inradius"]
            radii[chosen], gaps[chosen] = inradius.value, inradius.upper - inradius.value
        found[f"radius {place}"], found[f"gap {place}"] = radii, gaps
    return found


def _classes(asked: Asked, network: rs.Network, rows: np.ndarray) -> Answers:
    """Classes that live in manifold regions, and distortions."""
    found = rs.local.region_classes(network, asked.testing.points[rows], domain=asked.box)
    if is_interrupted(found.stop):
        raise KeyboardInterrupt
    answers: Answers = {}
    for part, column in (("number", found["num_classes"]), ("at likeliest", found["num_classes_at_likeliest"])):
        answers[part] = column.value
        answers[f"unknown {part}"] = column.upper - column.lower
    answers["distortion"] = found["distortion"].value
    return answers


def _surrounding_regions(asked: Asked, network: rs.Network, rows: np.ndarray) -> Answers:
    """Distinct regions along random rays on which no logit changes, and cosines of their decision directions."""
    inquiry = asked.inquiry
    points = asked.testing.points[rows]
    found = rs.local.null_space_rays(network, points, count=inquiry.rays, reach=inquiry.reach, seed=asked.seed(rows))
    cosines = found.details["cosines"]
    has_rays = found.details["nullity"] > 0
    return {
        "number": np.where(has_rays, found["regions_along_rays"].value, np.nan).astype(np.float64),
        "is exact": np.where(has_rays, found["regions_along_rays"].is_exact, np.nan).astype(np.float64),
        "cosines": np.stack([np.histogram(one[np.isfinite(one)], COSINE_EDGES)[0] for one in cosines]),
        "cosine sum": np.array([np.nansum(one) for one in cosines]),
        "cosine count": np.array([np.isfinite(one).sum() for one in cosines]),
    }


def cosines_of(answers: Answers) -> np.ndarray:
    """Return the cosines of all surrounding regions, each as the middle of its bin."""
    return np.repeat((COSINE_EDGES[1:] + COSINE_EDGES[:-1]) / 2, answers["cosines"].sum(axis=0))


QUESTIONS: dict[str, Callable[[Asked, rs.Network, np.ndarray], Answers]] = {
    "inspheres": _inspheres,
    "classes": _classes,
    "surrounding_regions": _surrounding_regions,
}
