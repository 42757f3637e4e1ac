"""The explorer in a notebook: an anywidget whose messages are questions and answers.

Questions are answered in a thread, so that the notebook goes on; how far one is, and its end, are answered at once.
"""

import queue
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from reluscope.errors import ReluscopeError
from reluscope.explorer.exchange.bundled import program
from reluscope.explorer.exchange.wire import carried
from reluscope.explorer.serving.desk import AT_ONCE, Desk

MISSING = 'notebooks need anywidget, which is not installed: run pip install "reluscope[notebook]"'


def make_widget(desk: Desk, initial: Mapping[str, Any]) -> Any:
    """Return a widget that asks a desk; ReluscopeError if anywidget is not installed.

    `initial` is the state to begin with, as the page's address has it.
    """
    return _widget_class(desk.has_solids, desk.has_lesson)(desk, initial=dict(initial))


@cache
def _widget_class(has_solids: bool, has_lesson: bool) -> type[Any]:
    """Return the class of widgets, with what its session needs, made when anywidget is first needed."""
    try:
        import anywidget  # pyright: ignore[reportMissingImports]
        import traitlets  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ReluscopeError(MISSING) from error

    class ExplorerWidget(anywidget.AnyWidget):
        """One explorer in a notebook, shown in any number of places."""

        _esm = program(live=True, space=has_solids, learn=has_lesson)
        initial = traitlets.Dict({}).tag(sync=True)

        def __init__(self, desk: Desk, **state: Any) -> None:
            super().__init__(**state)
            self._courier = Courier(desk, self.send)
            self.on_msg(lambda widget, question, buffers: self._courier.take(question))

        def close(self) -> None:
            """End what is running, and the widget."""
            self._courier.close()
            super().close()

    return ExplorerWidget


class Courier:
    """Passes questions to a desk, one after the other, and sends back its answers.

    `send` sends a header and buffers, from any thread.
    """

    def __init__(self, desk: Desk, send: Any) -> None:
        self._desk, self._send = desk, send
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def take(self, question: Any) -> None:
        """Take a question, and return at once."""
        if isinstance(question, Mapping) and question.get("ask") in AT_ONCE:
            self._answer(question)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="reluscope explorer", daemon=True)
            self._thread.start()
        self._waiting.put(question)

    def close(self) -> None:
        """End what is running; nothing is answered any more."""
        self._send = _nobody
        self._waiting.put(None)
        self._desk.close()

    def _work(self) -> None:
        while (question := self._waiting.get()) is not None:
            self._answer(question)

    def _answer(self, question: Any) -> None:
        answer = self._desk.answer(question)
        arrays = {name: carried(array) for name, array in answer.arrays.items()}
        listed = [{"name": name, "dtype": one.dtype.name, "shape": list(one.shape)} for name, one in arrays.items()]
        self._send({**answer.header, "arrays": listed}, [one.tobytes() for one in arrays.values()])


def _nobody(header: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
    """Send nothing."""
