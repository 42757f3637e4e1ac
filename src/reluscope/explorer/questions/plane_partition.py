"""The question of a plane: its exact regions within a window, as arrays to draw."""

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener, ListeningBudget
from reluscope.explorer.questions.drawn import drawn_arrays
from reluscope.explorer.questions.fitting import Wanted, coarse_of, fitted, partition_of
from reluscope.explorer.scene.asked_view import view_of
from reluscope.explorer.scene.looked_lesson import check_lesson
from reluscope.explorer.scene.looked_training import network_of_epoch
from reluscope.explorer.scene.planes import AnsweredView, PlaneFrame, frame_of, read_window
from reluscope.explorer.scene.rooms import has_space
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import read_solid
from reluscope.networks.fractions.rational import multiplications
from reluscope.networks.network import Network
from reluscope.partitions.ask.certify import certify
from reluscope.partitions.partition_in_memory import Partition

MOST_ASKED_REGIONS, MOST_ASKED_SECONDS = 2_000_000, 600.0
# Width over height of a home window.
ASPECTS = 0.05, 20.0
# Rational arithmetic is for pictures of few regions: in all so many multiplications are done in some twenty seconds.
MOST_CERTIFIED, MOST_MULTIPLICATIONS = 2_000, 16_000_000


def answer_partition(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Partition the window that is asked for, and return it as arrays relative to its centre."""
    if asked.has("lesson"):
        check_lesson(session, asked)
    epoch = asked.whole("epoch", 0, 10**9) if asked.has("epoch") else None
    certify = asked.truth("certify", False)
    fits = asked.truth("fit", not asked.has("window"))
    budget = _budget(session, asked)
    anchors, solid = asked.given("anchors"), read_solid(session, asked)
    aspect = asked.number("aspect", *ASPECTS) if asked.has("aspect") else None
    asked.end()
    network = session.network if epoch is None else network_of_epoch(session, epoch)
    frame = frame_of(session, anchors, solid)
    center, reach = read_window(asked, frame) if aspect is None or asked.has("window") else frame.home_of(aspect)
    return _shown(session, Wanted(network, frame, center, reach, epoch, budget, certify, fits), listener)


def answer_certify(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Partition the window of a picture once more, with every doubtful sign decided in rational arithmetic."""
    view = view_of(session, asked)
    budget = _budget(session, asked)
    asked.end()
    wanted = Wanted(view.network, view.frame, view.center, view.reach, view.epoch, budget, True, False)
    return _shown(session, wanted, listener)


def _shown(session: Session, wanted: Wanted, listener: Listener) -> Answer:
    """Return the picture that is wanted, from those that are kept if it is there."""
    frame = wanted.frame
    plane_id = _number_of((frame.key, wanted.epoch, wanted.network.fingerprint))
    key = (plane_id, *wanted.center.tolist(), *wanted.reach.tolist(), wanted.certify)
    # A whole picture is the same whatever it was allowed to take.
    view = next((one for one in session.views.values() if one.key == key and not one.part.num_open), None)
    note = ""
    if view is None:
        reach = wanted.reach
        if wanted.certify:
            part = _certified(wanted, partition_of(wanted, listener), listener)
        elif wanted.fits:
            part, reach, note = fitted(wanted, listener)
        else:
            part = partition_of(wanted, listener)
        kept = key if reach is wanted.reach else ()
        coarse = coarse_of(wanted, part, listener)
        view = AnsweredView(0, plane_id, wanted.network, frame, wanted.center, reach, part, kept, wanted.epoch, coarse)
    view = replace(view, version=next(session.versions), frame=frame)
    header, arrays = drawn_arrays(session, view)
    session.remember(view)
    return Answer({**_header(session, view, note or view.part.note), **header}, arrays)


def _number_of(key: tuple[object, ...]) -> int:
    """Return a number for a plane: the same for the same anchors and network, whoever asks and when."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=6).digest())


def _budget(session: Session, asked: Asked) -> Budget:
    """Return how much a picture may take; the time is always limited."""
    most = {"most_regions": MOST_ASKED_REGIONS, "most_seconds": MOST_ASKED_SECONDS}
    regions, seconds = asked.limits(session.budget.regions, session.budget.seconds, **most)
    return Budget(regions=regions, seconds=seconds)


def _most_certified(network: Network) -> int:
    """Return of how many regions a picture can be certified while somebody waits."""
    return min(MOST_CERTIFIED, MOST_MULTIPLICATIONS // max(1, multiplications(network)))


def _certified(wanted: Wanted, part: Partition, listener: Listener) -> Partition:
    """Return a partition with every doubtful sign decided in rational arithmetic.

    It cannot be ended between gates; one that would take too long raises InputError.
    """
    most = _most_certified(wanted.network)
    if not most:
        raise InputError(
            f"a network of {multiplications(wanted.network):,} multiplications is too large for rational arithmetic: "
            "it is not certified"
        )
    if len(part) > most or part.num_open:
        raise InputError(
            f"a picture of {len(part):,} regions{' or more' * bool(part.num_open)} would take too long in rational "
            f"arithmetic, and at most {most:,} of this network are certified: zoom in first"
        )
    limit = ListeningBudget(regions=wanted.budget.regions, seconds=wanted.budget.seconds, listener=listener)
    return certify(part, budget=limit, progress=listener.share)


def _in_space(session: Session, frame: PlaneFrame) -> dict[str, Any] | None:
    """Return where the plane lies in what is seen beside it; None where nothing is."""
    if has_space(session):
        return {"origin": frame.origin.tolist(), "basis": frame.basis.tolist()}
    return None if frame.solid is None else frame.solid.frame_within(frame.origin, frame.basis)


def _header(session: Session, view: AnsweredView, note: str) -> dict[str, Any]:
    part, frame = view.part, view.frame
    return {
        "version": view.version,
        "plane_id": view.plane_id,
        "epoch": view.epoch,
        "fingerprint": view.network.fingerprint,
        "num_regions": finding(part.finding()),
        "num_open": part.num_open,
        "num_undecided": part.num_undecided,
        "certified": part.certified,
        "certifiable": not part.num_open and len(part) <= _most_certified(view.network),
        "coarse_gates": None if view.coarse is None else len(view.coarse.codes.layout),
        "note": note,
        "seconds": part.work.get("seconds"),
        "window": {"center": view.center.tolist(), "reach": view.reach.tolist()},
        "home": {"center": frame.center.tolist(), "reach": frame.reach.tolist()},
        "frame": _in_space(session, frame),
        "anchors_at": None if frame.places is None else frame.places.tolist(),
        "anchors_said": [anchor.said for anchor in frame.anchors],
        "axes": ["input 0", "input 1"] if session.is_plane else ["from A towards B", "towards C"],
    }
