"""``reluscope explore`` and ``reluscope snapshot``: the explorer on a page of this machine, and in a file."""

import sys
import threading
import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from reluscope.cli.devices import open_device
from reluscope.cli.interruption import keeping_results
from reluscope.cli.opening import ModelArguments, check_files, describe_model, open_model, open_model_and_data
from reluscope.cli.options import Common
from reluscope.cli.outputs import plan_outputs, write_all
from reluscope.cli.printing import open_console, print_json, print_numbers, say
from reluscope.cli.progress import Bar, show_progress
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.explorer.desk import Desk
from reluscope.explorer.server import Server
from reluscope.explorer.session import Session
from reluscope.explorer.snapshot import kept_answers, page_of

DEMO = "demo network"
FORMAT = "reluscope snapshot 1"


@dataclass(frozen=True)
class Looked:
    """What a command is to look at; without a model, the embedded network.

    Parameters
    ----------
    model : ModelArguments or None
    data : str or None
    labels, tracker : Path or None
    samples : int or None
    """

    model: ModelArguments | None
    data: str | None = None
    labels: Path | None = None
    tracker: Path | None = None
    samples: int | None = None


def explore(looked: Looked, *, port: int, browser: bool, common: Common, began: float) -> int:
    """Serve the explorer until Ctrl-C, and return the exit code."""
    with show_progress(hidden=common.quiet) as bar:
        server = Server(Desk(_open(looked, common, bar)), port)
        bar.say("Looking at the first plane")
        _warm(server.desk)
    server.start()
    console = open_console()
    say(console, server.url)
    say(console, f"Ready after {time.perf_counter() - began:.1f} s, for this machine only; Ctrl-C ends it.")
    sys.stdout.flush()  # whoever reads this through a pipe waits for it
    if browser:
        webbrowser.open(server.url)
    with keeping_results():
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            server.close()
    return 0


def snapshot(looked: Looked, *, output: Path, force: bool, common: Common, began: float) -> int:
    """Write one plane as a page, and return the exit code."""
    files = plan_outputs([output], {".html": "the page"}, force=force)
    with show_progress(hidden=common.quiet) as bar:
        session = _open(looked, common, bar)
        bar.say("Cutting the plane")
        answers = kept_answers(Desk(session))
        write_all(dict.fromkeys(files.paths, page_of(answers)))
    found = session.views[answers[1].header["version"]].part.finding()
    if common.as_json:
        print_json(
            {
                "format": FORMAT,
                "model": describe_model(session.network, session.name),
                "findings": [found.to_dict()],
                "files": [str(output)],
                "bytes": output.stat().st_size,
            }
        )
    elif not common.quiet:
        console = open_console()
        print_numbers(console, [found])
        say(console, f"{time.perf_counter() - began:.1f} s; the snapshot is in {output}")
    return 0


def _open(looked: Looked, common: Common, bar: Bar) -> Session:
    """Load what is to be looked at."""
    device = open_device(common.device)
    if looked.model is None:
        bar.say("Loading the embedded network")
        data = digits("test")
        network, name = loaded_demo_network(data.points).to(device), DEMO
    else:
        name = looked.model.name
        if looked.data is None:
            network, data = open_model(looked.model, device, bar), None
        else:
            check_files([looked.model], looked.data, looked.labels)
            network, data = open_model_and_data(
                looked.model, looked.data, labels=looked.labels, most=looked.samples, device=device, bar=bar
            )
    return Session.of(network, data, tracker=looked.tracker, seed=common.seed, name=name)


def _warm(desk: Desk) -> None:
    """Ask what every page asks first: what is loaded at first use is loaded then, and the answer is kept."""
    home = desk.answer({"ask": "hello"}).header.get("home")
    if home is not None:
        desk.answer({"ask": "partition", "anchors": home["anchors"], "window": home["window"]})
