"""``reluscope snapshot``: one plane of the explorer in a file."""

import time
from pathlib import Path

from reluscope.budget import Budget
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.reports.looked_at import Looked, open_session
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.outputs import plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_json, print_numbers, say
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.snapshot import kept_answers, page_of
from reluscope.networks.evaluation.pass_time import region_seconds
from reluscope.networks.network import Network

FORMAT = "reluscope snapshot 1"
# Regions of the plane at most, and as many as take so many seconds, but some; and where it ends whatever it has found.
REGIONS, SECONDS, FEWEST_REGIONS, LIMIT = 200_000, 5.0, 1_000, 600.0


def snapshot(looked: Looked, *, output: Path, force: bool, common: Common, began: float) -> int:
    """Write one plane as a page, and return the exit code."""
    files = plan_outputs([output], {".html": "the page"}, force=force)
    with show_progress(hidden=common.quiet) as bar:
        session = open_session(looked, common, bar)
        bar.say("Cutting the plane")
        session.budget = _budget(session.network)
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


def _budget(network: Network) -> Budget:
    """Return how much the plane may take: nobody waits for it as at a screen, and every machine is to give the same."""
    regions = int(SECONDS / region_seconds(network))
    return Budget(regions=max(FEWEST_REGIONS, min(REGIONS, regions)), seconds=LIMIT)
