"""``reluscope violations``: all inputs that violate a property, with their volume."""

from reluscope import plots
from reluscope.analyses.verification import Violations, read_property
from reluscope.analyses.verification.verdict import asked_network
from reluscope.analyses.verification.violation_pieces import violations as find
from reluscope.arguments import read_axes
from reluscope.cli.properties.kept_sets import kinds_of, write_kept
from reluscope.cli.properties.verifying import ViolationsOptions
from reluscope.cli.reading.opened_models import describe_model, open_model
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import about, interrupted
from reluscope.cli.terminal.outputs import PICTURES, plan_outputs, print_results, said_of
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say, several
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.stopping import is_interrupted

FORMAT = "reluscope violations 1"
KINDS = kinds_of("piece", "rs.verification.Violations.load")
# Exit codes: none, some, none found and some inputs not decided.
NONE, SOME, OPEN = 0, 3, 4


def violations(given: ViolationsOptions) -> int:
    """Find all violations, print their volume, write what is asked for, and return the exit code."""
    model, path, common = given.model, given.safe, given.common
    planned = plan_outputs(given.output, KINDS, force=given.force)
    safe = read_property(path)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network = open_model(model, device, bar)
        with about(path):
            asked_network(network, safe)
        if planned.of(*PICTURES):
            read_axes(given.axes, "inputs", network.num_inputs)
        tell = bar.telling("Looking for all violations")
        with keeping_results():
            found = find(network, safe, budget=given.effort.budget, progress=tell)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "property": {"name": path.name, "cases": len(safe.cases)},
        "pieces": len(found),
        "open_boxes": len(found.open_boxes),
        "findings": [found.volume().to_dict(), found.share().to_dict()],
        "stopped": found.stopped,
    }
    written = write_kept(
        planned,
        found,
        plain,
        lambda: plots.violations(found, inputs=given.axes),
        "violations",
        hidden=common.quiet,
    )
    print_results(plain, common, lambda: _print(found, f"{model.name} and {path.name}"))
    if is_interrupted(found.stop) or len(written) < len(planned.paths):
        return interrupted(said_of(written))
    return SOME if len(found) else NONE if found.undecided == 0 else OPEN


def _print(found: Violations, what: str) -> None:
    console = open_console()
    say(console, what, style="bold")
    print_numbers(console, [found.volume(), found.share()])
    say(console, _sentence(found))


def _sentence(found: Violations) -> str:
    pieces = several(len(found), "polyhedron").replace("polyhedrons", "polyhedra")
    known = f"Violated on {pieces}" if len(found) else "No violations were found"
    if not len(found.open_boxes):
        return f"{known}; all inputs are decided." if found.undecided == 0 else f"{known}; rounding leaves some open."
    advice = "" if is_interrupted(found.stop) else ": raise --regions or --seconds to see more"
    return f"{known}; {several(len(found.open_boxes), 'box')} not decided ({found.stopped}){advice}."
