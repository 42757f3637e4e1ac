"""``reluscope explore``: the explorer on a page of this machine.

Nothing is imported here that the first picture does not need: it is there about three seconds after the command.
"""

import contextlib
import threading
import time
import webbrowser

from reluscope.cli.reports.exploring import ExploreOptions
from reluscope.cli.reports.looked_at import open_session
from reluscope.cli.terminal import BEGAN
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.cli.terminal.standard_output import results
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server


def explore(given: ExploreOptions) -> int:
    """Serve the explorer until Ctrl-C, and return the exit code."""
    with show_progress(hidden=given.common.quiet) as bar:
        server = Server(Desk(open_session(given, bar)), given.port)
        bar.say("Looking at the first plane")
        _warm(server.desk)
    server.start()
    print(server.url, file=results())
    # Whoever reads this through a pipe waits for it.
    ready = f"Ready after {time.perf_counter() - BEGAN:.1f} s, for this machine only; Ctrl-C ends it."
    print(ready, file=results(), flush=True)
    if given.browser:
        webbrowser.open(server.url)
    _wait_for_interruption()
    server.close()
    return 0


def _wait_for_interruption() -> None:
    with keeping_results(), contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


def _warm(desk: Desk) -> None:
    """Ask what every page asks first: what is loaded at first use is loaded then, and the answer is kept."""
    home = desk.answer({"ask": "hello"}).header.get("home")
    if home is not None:
        desk.answer({"ask": "partition", "anchors": home["anchors"], "window": home["window"]})
