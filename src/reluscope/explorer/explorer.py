"""`reluscope.explore`: one network to look at, wherever that is shown: on a page, in a notebook, in a file."""

import webbrowser
from collections.abc import Sequence
from os import PathLike
from typing import Any

from reluscope.arguments import Seed, read_arguments
from reluscope.budget import Budget
from reluscope.explorer.desk import Desk
from reluscope.explorer.server import Server
from reluscope.explorer.session import Session
from reluscope.networks.network import Network


class Explorer:
    """A network to look at; made by `reluscope.explore`.

    In a notebook it shows itself. `serve` opens a page on this machine, `snapshot` writes one to keep.
    """

    def __init__(self, session: Session) -> None:
        self._desk = Desk(session)
        self._server: Server | None = None

    def serve(self, port: int = 0, *, open_browser: bool = True) -> str:
        """Serve the explorer on a page of this machine until `close`, or the end of the program.

        Parameters
        ----------
        port : int
            0 for any that is free.
        open_browser : bool
            Show the page.

        Returns
        -------
        str
            Its address. Whoever knows it may ask; it is good on this machine only.
        """
        if self._server is None:
            self._server = Server(self._desk, port)
            self._server.start()
        if open_browser:
            webbrowser.open(self._server.url)
        return self._server.url

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.close()
            self._server = None


@read_arguments
def explore(
    network: Network,
    data: Any = None,
    *,
    labels: Any = None,
    class_names: Sequence[str] | None = None,
    tracker: Any = None,
    budget: Budget | None = None,
    seed: Seed = 0,
) -> Explorer:
    """Look at a network."""
    return Explorer(
        Session.of(network, data, labels=labels, class_names=class_names, tracker=tracker, budget=budget, seed=seed)
    )
