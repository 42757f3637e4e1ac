"""What chance makes of means and medians over points: the points are drawn again, with repetition, from those asked.

All networks were asked about the same points, so that points are drawn for all of them at once, and a statement about
two networks holds or fails by its differences at points. Fewer than six points decide nothing: five coins fall alike
once in sixteen times.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reluscope_studies.zhang2020._networks import Variant
from reluscope_studies.zhang2020._questions import PLACES, Answers

DRAWS, LEAST = 400, 6


def redrawn(
    compared: Sequence[Variant], answers: Callable[[str, Variant], Sequence[Answers]], seed: int
) -> list[dict[str, float]]:
    """Return the numbers over points for points drawn again, each time by the names of their findings.

    Parameters
    ----------
    compared : sequence of Variant
    answers : callable
        Takes a question and a network, returns the answers of all its replicates, the points in one order.
    seed : int

    Returns
    -------
    list of dict
        A number is NaN where fewer than six points have an answer.
    """
    questions = dict.fromkeys(question for question, _ in MEASURES.values())
    known = {(question, one): answers(question, one) for question in questions for one in compared}
    most = max((_number(one) for every in known.values() for one in every), default=0)
    generator = np.random.default_rng(seed)
    return [_numbers(compared, known, generator.random(most)) for _ in range(DRAWS if most else 0)]


def _numbers(
    compared: Sequence[Variant], known: Mapping[tuple[str, Variant], Sequence[Answers]], drawn: np.ndarray
) -> dict[str, float]:
    found = {}
    for key, every in known.items():
        if every:
            # Networks that were asked about as many points have the same ones drawn.
            rows = [(drawn[: _number(one)] * _number(one)).astype(int) for one in every]
            parts = {
                part: np.concatenate([one[part][r] for one, r in zip(every, rows, strict=True)]) for part in every[0]
            }
            found[key] = parts, max(map(len, rows))
    return {
        f"{measure}: {one.label}": value(found[question, one][0]) if found[question, one][1] >= LEAST else float("nan")
        for measure, (question, value) in MEASURES.items()
        for one in compared
        if (question, one) in found
    }


def _number(answers: Answers) -> int:
    return len(next(iter(answers.values())))


def _over(statistic: Callable[[np.ndarray], float], part: str) -> Callable[[Answers], float]:
    def value(answers: Answers) -> float:
        known = answers[part][~np.isnan(answers[part])]
        return float(statistic(known)) if len(known) else float("nan")

    return value


def _cosine(answers: Answers) -> float:
    count = answers["cosine count"].sum()
    return float(answers["cosine sum"].sum() / count) if count else float("nan")


# The question that a number is from, and what it is of the answers at some points; by the name of its finding.
MEASURES: Mapping[str, tuple[str, Callable[[Answers], float]]] = {
    **{f"median inradius, {place} regions": ("inspheres", _over(np.median, f"radius {place}")) for place in PLACES},
    "classes, the paper's test": ("classes", _over(np.mean, "at likeliest")),
    "distortion": ("classes", _over(np.mean, "distortion")),
    "median number of regions along rays": ("surrounding_regions", _over(np.median, "number")),
    "mean cosine of decision directions": ("surrounding_regions", _cosine),
}
