"""``reluscope count``: the number of linear regions in a box, on a plane or a segment, or in all of input space."""

import warnings

from reluscope.analyses.counting.counting_methods import Options, counted
from reluscope.budget import Budget
from reluscope.cli.reading.opened_domains import open_domain
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.regions.counting import CountOptions
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.executors import open_executor
from reluscope.cli.terminal.failures import interrupted
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say, several
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.effort import Effort
from reluscope.findings import Finding
from reluscope.stopping import Stop, is_interrupted, words_of

FORMAT = "reluscope count 1"


def count(given: CountOptions) -> int:
    """Count, print the finding, and return the exit code."""
    files, common = plan_json(given.file), given.common
    network, where = open_domain(None if given.space else given.where, given.model, common)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Counting regions")
        with keeping_results(), open_executor(given.workers) as executor, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # interruption is said at the end
            effort = Effort(Budget(regions=given.regions, seconds=given.seconds), executor)
            options = Options(checkpoint=given.checkpoint)
            finding, stopped = counted(network, where.domain, effort, given.definition, given.method, options)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, given.model.name),
        "domain": {
            "kind": where.kind,
            "description": where.words,
            "dimensions": where.domain.dim,
            "samples": list(where.rows),
        },
        "findings": [finding.to_dict()],
        "stopped": words_of(stopped),
    }
    conclude(plain, files, common, lambda: _print(finding, stopped, given.model.name, where.words))
    if is_interrupted(stopped):
        return interrupted("the count is a lower bound")
    return 0


def _print(finding: Finding, stopped: Stop | None, model: str, words: str) -> None:
    console = open_console()
    say(console, f"{model} on {words}", style="bold")
    print_numbers(console, [finding])
    say(console, f"Counted: {finding.definition}, in {finding.domain}, by {finding.method}.")
    if stopped:
        say(
            console,
            f"The work stopped early ({stopped}), so this is a lower bound: raise --regions or --seconds to see more.",
        )
    low, high = finding.interval or (finding.value, finding.value)
    if not stopped and low < high < float("inf"):
        say(console, f"The number lies from {low:,} to {high:,}: no method here narrows it down further.")
    if finding.num_undecided:
        say(
            console,
            f"Too close to zero to decide in float64: {several(finding.num_undecided, 'sign')}; each may stand for a "
            "region more.",
        )
    work = ", ".join(f"{name.replace('_', ' ')} {amount:,.4g}" for name, amount in finding.work.items())
    say(console, f"Work: {work}." if work else "")
