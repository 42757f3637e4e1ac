"""Where questions are taken in, whatever carried them: computing ones one after the other, the others at once.

A question that takes long can be asked after (``progress``) and ended (``cancel``) by its number while it runs. These
two never wait: they look at a book of what is running, which the work itself writes.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.questions.known_questions import answer
from reluscope.explorer.scene.rooms import has_space
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import has_solids
from reluscope.progress import told
from reluscope.single_threaded import one_thread

# Questions that are answered while others are computed.
AT_ONCE = ("progress", "cancel")


@dataclass
class _Running:
    """A question that is being answered, and how far that is."""

    began: float = field(default_factory=time.perf_counter)
    share: float = 0.0
    regions: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def note(self, share: float, regions: int = 0) -> None:
        self.share, self.regions = share, regions


class Desk:
    """Answers the questions about one session, from any number of threads.

    One question at a time uses the session.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._computing = threading.Lock()
        self._running: dict[int, _Running] = {}

    @property
    def has_space(self) -> bool:
        """Whether the input space is one that can be seen."""
        return has_space(self.session)

    @property
    def has_solids(self) -> bool:
        """Whether that, or slices of it in three dimensions."""
        return self.has_space or has_solids(self.session)

    @property
    def has_lesson(self) -> bool:
        """Whether the network is trained while it is looked at."""
        return self.session.course is not None

    def answer(self, question: Any) -> Answer:
        """Answer a question, any value that JSON gives; one that makes no sense is answered by an error.

        The answer has the number of the question, where it had one.
        """
        asked = question if isinstance(question, Mapping) else {}
        name, number = asked.get("ask"), asked.get("seq")
        if name in AT_ONCE:
            return Answer({**self._look_up(name, asked.get("of")), "seq": plain_number(number)}, {})
        return self._compute(question, number)

    def close(self) -> None:
        """End whatever is running."""
        for running in list(self._running.values()):
            running.ended.set()

    def _look_up(self, name: str, number: Any) -> dict[str, Any]:
        running = self._running.get(number) if plain_number(number) is not None else None
        told: dict[str, Any] = {"answer": name, "of": plain_number(number), "running": running is not None}
        if running is not None:
            if name == "cancel":
                running.ended.set()
            told |= {
                "share": running.share,
                "regions": running.regions,
                "seconds": time.perf_counter() - running.began,
            }
        return told

    def _compute(self, question: Any, number: Any) -> Answer:
        running = _Running()
        key = plain_number(number)
        if key is not None:
            self._running[key] = running
        try:
            with self._computing, one_thread(), told():
                return answer(self.session, question, progress=running.note, cancelled=running.ended.is_set)
        finally:
            if key is not None and self._running.get(key) is running:
                del self._running[key]


def plain_number(number: Any) -> int | None:
    """Return the number of a question, if that is what it is."""
    return number if isinstance(number, int) and not isinstance(number, bool) else None
