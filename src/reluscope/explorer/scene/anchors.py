"""The three points that a plane goes through: samples, or made from them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.analyses.samples.choosing import choose_triple
from reluscope.errors import InputError
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.scene.adversary import adversary_of
from reluscope.explorer.scene.rooms import has_space, home_room, plane_across
from reluscope.explorer.scene.session import Session

LETTERS = "ABCD"
KINDS = ("sample", "mean", "adversary", "random", "between", "point")
MOST_PLACE = 1e9
# Points between points between points: as deep as anybody could mean.
MOST_NESTED = 4
MOST_SEED = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point of the input space, and how it was asked for."""

    point: Float[np.ndarray, " n"]
    key: tuple[object, ...]  # plain values; equal for equal anchors
    said: str  # what a reader calls it
    program: str  # Python that makes it, of ``x``, ``labels`` and ``net``


def read_anchors(
    session: Session, value: object, *, number: int = 3, inside: Callable[[tuple[float, ...]], Anchor] | None = None
) -> tuple[Anchor, ...]:
    """Return the anchors of a plane, or of a solid, from the mappings of a question.

    `inside` gives the anchor at a place of the solid that the plane is seen in. Values that are no anchors, or name
    missing points, raise InputError.
    """
    if not isinstance(value, list | tuple) or len(value) != number:
        name, words = ("anchors", "three") if number == 3 else ("solid", "four")
        raise InputError(
            f'{name} must be a list of {words} points, such as {{"kind": "sample", "row": 0}}: give '
            f"{', '.join(LETTERS[: number - 1])} and {LETTERS[number - 1]}"
        )
    kinds = (*KINDS, "inside") if inside is not None else KINDS
    made: dict[int, Anchor] = {}
    waiting: dict[int, int] = {}
    for place, one in enumerate(value):
        name = f"anchor {LETTERS[place]}"
        asked = Asked({name: one}, "the plane").inner(name)
        kind = asked.choice("kind", kinds)
        if kind == "adversary":
            waiting[place] = asked.whole("of", 0, number - 1)
            asked.end()
        elif kind == "inside" and inside is not None:
            made[place] = inside(asked.numbers("at", 3, MOST_PLACE))
            asked.end()
        else:
            made[place] = _read(session, asked)
    for of in waiting.values():
        if of not in made:
            raise InputError(f"the adversary of {LETTERS[of]} needs a point, and {LETTERS[of]} is an adversary itself")
    for place, of in waiting.items():
        origin = made[of]
        found, program = adversary_of(
            session, origin.point, LETTERS[of], LETTERS[of].lower() if number == 3 else f"({origin.program})"
        )
        made[place] = Anchor(found, ("adversary", origin.key), f"adversary of {LETTERS[of]}", program)
    return tuple(made[place] for place in range(number))


def home_anchors(session: Session) -> list[dict[str, object]] | None:
    """Return the anchors to begin with: three samples of three classes, classified as labelled where possible.

    Without such samples they are random points; networks of two inputs need none, and in space it is a plane across the
    last input, through the middle.
    """
    if session.is_plane:
        return None
    if has_space(session):
        return plane_across(home_room(session))
    points, classes, labels = session.points, session.classes, session.labels
    rows = None
    if labels is not None:
        right = np.flatnonzero(classes == labels)
        found = choose_triple(points[right], classes[right], seed=session.seed)
        rows = None if found is None else [int(right[row]) for row in found]
    if rows is None and len(points):
        found = choose_triple(points, classes, seed=session.seed)
        rows = None if found is None else list(found)
    if rows is None:
        return [{"kind": "random", "seed": session.seed + place} for place in range(3)]
    return [{"kind": "sample", "row": row} for row in rows]


def _read(session: Session, asked: Asked, nested: int = 0) -> Anchor:
    kind = asked.choice("kind", KINDS)
    if kind == "adversary" or nested > MOST_NESTED:
        raise InputError("a point between two others must be between samples, means and random points")
    made = {"sample": _sample, "mean": _mean, "random": _random, "point": _point}.get(kind)
    anchor = _between(session, asked, nested) if made is None else made(session, asked)
    asked.end()
    return anchor


def _sample(session: Session, asked: Asked) -> Anchor:
    if not len(session.points):
        raise InputError("there are no samples, as the explorer was opened without data: use random points")
    row = asked.whole("row", 0, len(session.points) - 1)
    return Anchor(session.points[row], ("sample", row), f"sample {row:,}", f"x[{row}]")


def _mean(session: Session, asked: Asked) -> Anchor:
    if not session.is_classifier or not len(session.points):
        raise InputError("the mean of a class needs a classifier and samples: use a sample or a random point")
    one = asked.whole("class", 0, session.num_classes - 1)
    classes = session.classes if session.labels is None else session.labels
    rows = np.flatnonzero(classes == one)
    if not len(rows):
        raise InputError(f"no sample is of {session.class_name(one)}: take the mean of another class")
    known = "labels" if session.labels is not None else "rs.classification.predicted_classes(net, x)"
    program = f"x[{known} == {one}].mean(axis=0)"
    return Anchor(session.points[rows].mean(axis=0), ("mean", one), f"mean of {session.class_name(one)}", program)


def _random(session: Session, asked: Asked) -> Anchor:
    seed = asked.whole("seed", 0, MOST_SEED)
    low, high = session.low_and_high
    point = np.random.default_rng(seed).uniform(low, high)
    box = "x.min(axis=0), x.max(axis=0)" if len(session.points) else f"-np.ones({len(low)}), np.ones({len(low)})"
    program = f"np.random.default_rng({seed}).uniform({box})"
    return Anchor(point, ("random", seed), f"random point {seed}", program)


def _point(session: Session, asked: Asked) -> Anchor:
    place = asked.numbers("at", session.network.num_inputs, MOST_PLACE)
    said = "point" if len(place) > 3 else f"point ({', '.join(f'{one:.3g}' for one in place)})"
    return Anchor(np.array(place), ("point", *place), said, f"np.array({list(place)!r})")


def _between(session: Session, asked: Asked, nested: int) -> Anchor:
    start = _read(session, asked.inner("from"), nested + 1)
    end = _read(session, asked.inner("to"), nested + 1)
    share = asked.number("share", 0.0, 1.0)
    point = (1.0 - share) * start.point + share * end.point
    said = f"{share:.0%} of the way from {start.said} to {end.said}"
    program = f"(1.0 - {share!r}) * ({start.program}) + {share!r} * ({end.program})"
    return Anchor(point, ("between", start.key, end.key, share), said, program)
