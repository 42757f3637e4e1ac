"""``reluscope snapshot``: one plane of the explorer in a file."""

import time
from pathlib import Path

from reluscope.budget import Budget
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.reports.exploring import SnapshotOptions
from reluscope.cli.reports.looked_at import open_session
from reluscope.cli.terminal import BEGAN
from reluscope.cli.terminal.outputs import conclude, plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.snapshot import kept_answers, page_of
from reluscope.networks.evaluation.pass_time import region_seconds
from reluscope.networks.network import Network

FORMAT = "reluscope snapshot 1"
# Regions of the plane at most, and as many as take so many seconds, but some; and where it ends whatever it has found.
REGIONS, SECONDS, FEWEST_REGIONS, LIMIT = 200_000, 5.0, 1_000, 600.0


def snapshot(given: SnapshotOptions) -> int:
    """Write one plane as a page, and return the exit code."""
    model = given.loaded
    output = given.output or Path(f"reluscope-{'demo' if model is None else model.stem}.html")
    files = plan_outputs([output], {".html": "the page"}, force=given.force)
    with show_progress(hidden=given.common.quiet) as bar:
        session = open_session(given, bar)
        bar.say("Cutting the plane")
        session.budget = _budget(session.network)
        answers = kept_answers(Desk(session))
        write_all(dict.fromkeys(files.paths, page_of(answers)))
    found = session.views[answers[1].header["version"]].part.finding()
    plain = {
        "format": FORMAT,
        "model": describe_model(session.network, session.name),
        "findings": [found.to_dict()],
        "files": [str(output)],
        "bytes": output.stat().st_size,
    }

    def show() -> None:
        console = open_console()
        print_numbers(console, [found])
        say(console, f"{time.perf_counter() - BEGAN:.1f} s; the snapshot is in {output}")

    conclude(plain, files, given.common, show)
    return 0


def _budget(network: Network) -> Budget:
    """Return how much the plane may take: nobody waits for it as at a screen, and every machine is to give the same."""
    regions = int(SECONDS / region_seconds(network))
    return Budget(regions=max(FEWEST_REGIONS, min(REGIONS, regions)), seconds=LIMIT)
