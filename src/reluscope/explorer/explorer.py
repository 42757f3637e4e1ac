"""`reluscope.explore`: one network to look at, wherever that is shown: on a page, in a notebook, in a file."""

import os
import webbrowser
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Annotated, Any

from torch import nn

from reluscope.arguments import Range, Seed, describe, read_arguments
from reluscope.budget import BudgetForEach
from reluscope.errors import InputError, ReluscopeError
from reluscope.explorer.scene.looked_lesson import lesson_session
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server
from reluscope.explorer.serving.snapshot import snapshot_page
from reluscope.explorer.serving.widget import MISSING, make_widget
from reluscope.files.whole_files import check_writable, write_files
from reluscope.networks.network import Network

Port = Annotated[int, Range(least=0, most=65_535)]
HEIGHT = 640  # of a snapshot in a notebook, in pixels


class Explorer:
    """Interactive view of a network; made by `reluscope.explore`.

    Displayed at the end of a notebook cell. `serve` shows it on a page of this machine, `snapshot` saves a page.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.explore(net)
    <Explorer of a network of 2 inputs and 2 units, without data>
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._desk = Desk(session)
        self._server: Server | None = None
        self._widget: Any = None

    def __repr__(self) -> str:
        network, data = self._session.network, self._session.data
        units = f"{network.num_units:,} unit{'s' * (network.num_units != 1)}"
        on = "without data" if data is None else f"on {data.describe()}"
        return f"<Explorer of a network of {network.num_inputs:,} inputs and {units}, {on}>"

    @read_arguments
    def serve(self, port: Port = 0, *, open_browser: bool = True) -> str:
        """Show the explorer on a page of this machine, until `close` or the end of the program.

        Parameters
        ----------
        port : int
            0 for any free port.
        open_browser : bool
            Also open the page.

        Returns
        -------
        str
            Address, for this machine only; it gives access to the page.

        Raises
        ------
        InputError
            If the port is in use.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
        >>> explorer = rs.explore(net)
        >>> explorer.serve(open_browser=False)
        'http://127.0.0.1:.../#token=...'
        >>> explorer.close()
        """
        if self._server is None:
            self._server = Server(self._desk, port)
            self._server.start()
        if open_browser:
            webbrowser.open(self._server.url)
        return self._server.url

    def close(self) -> None:
        """Stop serving, and end what is being computed."""
        self._desk.close()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._widget is not None:
            self._widget.close()
            self._widget = None

    @read_arguments
    def snapshot(self, path: str | os.PathLike[str]) -> Path:
        """Write one plane as a self-contained page, to view and zoom without this program.

        Parameters
        ----------
        path : path
            Of the file, which ends in ``.html``; an existing file is replaced.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            If the file cannot be written, or there is no plane to show.

        Examples
        --------
        >>> import tempfile, numpy as np, reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
        >>> rs.explore(net).snapshot(f"{tempfile.mkdtemp()}/plane.html").name
        'plane.html'
        """
        path = Path(path)
        check_writable(path.parent, "name another place")
        write_files({path: snapshot_page(self._desk)})
        return path

    def widget(self) -> Any:
        """Return the explorer as an anywidget, to lay out beside others; it is one however often it is asked for.

        Raises
        ------
        ReluscopeError
            If anywidget is not installed (``pip install "reluscope[notebook]"``).
        """
        if self._widget is None:
            self._widget = make_widget(self._desk, {})
        return self._widget

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Show the widget; where there is no anywidget, a snapshot and what to install."""
        try:
            widget = self.widget()
        except ReluscopeError:
            return {"text/plain": repr(self), "text/html": self._as_page()}
        shown = widget._repr_mimebundle_(include=include, exclude=exclude)
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        return {**bundle, "text/plain": repr(self)}, metadata

    def _display_(self) -> Any:
        """Show the widget in marimo, which asks by this name."""
        return self.widget()

    def _as_page(self) -> str:
        """Return a snapshot in a frame that can reach nothing around it."""
        page = escape(snapshot_page(self._desk))
        return (
            f"<p>This is a snapshot: {escape(MISSING)}, to look anywhere.</p>"
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width: 100%; height: {HEIGHT}px; border: 0">'
            "</iframe>"
        )


@read_arguments
def explore(
    network: Network | nn.Module | None,
    data: Any = None,
    *,
    labels: Any = None,
    class_names: Sequence[str] | None = None,
    tracker: Any = None,
    train: bool | Mapping[str, Any] = False,
    budget: BudgetForEach | None = None,
    seed: Seed = 0,
) -> Explorer:
    """Show the exact regions of planes through a network's input space, with rotation and zoom.

    Parameters
    ----------
    network : Network
        Of at least two inputs. With ``train``: a PyTorch module, of which a copy is trained, or None for layers that
        ``train`` describes.
    data : Dataset or (s, *input_shape) or (s, n) array, optional
        Samples that planes pass through; without samples, planes pass through random points. With ``train`` also
        ``"spirals"``, ``"circles"``, ``"moons"``, ``"xor"`` or the path of a file with labels.
    labels : (s,) array, optional
        Labels of an array; a dataset has its own.
    class_names : sequence of str, optional
        Names of the classes; by default their numbers.
    tracker : path, Records or Tracker, optional
        A training whose records have weights: the explorer then also shows its epochs.
    train : bool or mapping
        Train while the regions are shown, step by step: the page plays, pauses, goes back to any step, and moves
        weights by hand. A mapping gives settings other than the default ones: ``rate`` (0.003), ``optimiser``
        (``"adam"``, ``"sgd"``), ``weight_decay``, ``batch_size``, ``seed``; without a module also ``hidden`` (3
        layers), ``width`` (16 units), ``activation`` (``"relu"``, ``"leaky_relu"``, ``"hardtanh"``, ``"relu6"``),
        ``batch_norm`` and ``dropout``.
    budget : Budget, optional
        Regions and seconds of one plane; by default 200,000 and 5.
    seed : int
        Determines which samples are shown first; with ``train`` also first weights, batches and dropout.

    Returns
    -------
    Explorer
        Displayed at the end of a notebook cell; `Explorer.serve` opens a page, `Explorer.snapshot` writes one.

    Raises
    ------
    InputError, ShapeError
        If data, labels or the training do not fit the network, or a setting of ``train`` is not known.
    NotPiecewiseLinearError, UnsupportedOperatorError
        If a module to train is not piecewise linear.

    Notes
    -----
    Nothing is computed before something is shown. A plane costs about one forward pass for every vertex of a
    region; [2, 64, 64, 64, 10] with some 7,000 regions in view takes less than 0.1 s on one core.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.explore(net, np.eye(2), labels=[1, 1])
    <Explorer of a network of 2 inputs and 2 units, on data: 2 samples of 2 numbers, with labels>
    >>> rs.explore(None, "spirals", train={"hidden": 2, "width": 8})
    <Explorer of a network of 2 inputs and 16 units, on two spirals: 400 samples of 2 numbers, with labels>
    """
    if train is not False:
        if tracker is not None:
            raise InputError("tracker= shows a training that was recorded, and train= begins one: give one of them")
        options = {"labels": labels, "class_names": class_names, "budget": budget, "seed": seed}
        return Explorer(lesson_session(network, data, train, **options))
    if not isinstance(network, Network):
        raise InputError(
            f"network must be a Network, got {describe(network)}: open the model with reluscope.load(model), or give "
            "train=True to train it"
        )
    return Explorer(
        Session.of(network, data, labels=labels, class_names=class_names, tracker=tracker, budget=budget, seed=seed)
    )
