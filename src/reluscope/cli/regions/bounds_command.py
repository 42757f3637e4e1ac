"""``reluscope bounds``: bounds on the number of regions of an architecture, and of a network in a box."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reluscope.analyses.bounds.architecture import Architecture
from reluscope.analyses.bounds.bounds_table import BoundRow, table
from reluscope.citations import bibliography
from reluscope.cli.regions.counting import BoundsOptions
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, say, short
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.findings import Claim
from reluscope.findings.written_findings import SIGNS

if TYPE_CHECKING:
    from reluscope.geometry.polyhedra.domains import Box

FORMAT = "reluscope bounds 1"


def bounds(given: BoundsOptions) -> int:
    """Print the bounds of an architecture or of a model, and return the exit code."""
    files, model = plan_json(given.file), given.loaded
    named = where = None
    with show_progress(hidden=given.common.quiet) as bar:
        if model is not None:
            from reluscope.cli.reading.box_options import box_of
            from reluscope.cli.reading.models import open_network
            from reluscope.cli.reading.opened_models import describe_model

            bar.say("Loading the model")
            # The bound from the weights reads the network; all others read its architecture.
            subject = open_network(model)
            named = describe_model(subject, model.name)
            where = box_of(given.box or [(0.0, 1.0)], subject.num_inputs)
            architecture = Architecture.of(subject)
        else:
            subject = architecture = Architecture.of(given.arch or (), rank=given.rank)
        bar.say("Working out the bounds")
        rows = table(subject, domain=where)
    plain = {
        "format": FORMAT,
        "model": named,
        **describe(architecture, rows),
        "box": None if where is None else where.describe(),
    }
    name = "" if model is None else model.name
    conclude(plain, files, given.common, lambda: _print(architecture, rows, name, where))
    return 0


def describe(architecture: Architecture, rows: Sequence[BoundRow]) -> dict[str, Any]:
    """Return the bounds of an architecture as plain types."""
    return {
        "architecture": {
            "num_inputs": architecture.num_inputs,
            "widths": list(architecture.widths),
            "pieces": [[rank for rank, _ in layer.ranks] for layer in architecture.layers],
            "is_chain": architecture.is_chain,
        },
        "bounds": [
            {
                "name": row.name,
                "finding": None if row.finding is None else row.finding.to_dict(),
                "reason": row.reason,
            }
            for row in rows
        ],
        "sources": [{"key": source.key, "citation": str(source)} for source in _sources(rows)],
    }


def _sources(rows: Sequence[BoundRow]):
    return bibliography(row.finding.source for row in rows if row.finding is not None and row.finding.source)


def _print(architecture: Architecture, rows: Sequence[BoundRow], name: str, box: "Box | None") -> None:
    console = open_console()
    say(console, f"{name}{': ' * bool(name)}{architecture.describe()}", style="bold")
    shown = make_table("bound", "regions", "how", "source", right=("regions",))
    for row in rows:
        if row.finding is None:
            add_row(shown, row.name, "none", row.reason, "")
        else:
            value = SIGNS[row.finding.claim] + short(int(row.finding))
            add_row(shown, row.name, value, row.finding.method, row.finding.source)
    console.print(shown)
    best = {claim: [row.finding for row in rows if row.finding and row.finding.claim is claim] for claim in Claim}
    say(
        console,
        "≥ means that some network of this architecture has at least so many regions, ≤ that none has more. Regions "
        "are those of activation patterns, full-dimensional or not; there are no more of the other kinds.",
    )
    if box is not None and best[Claim.UPPER] and best[Claim.UPPER][-1].domain == box.describe():
        say(console, f"The last row is about this network's weights in the {box.describe()}, and does not hold beyond.")
    elif box is None:
        say(console, "A model's weights give a bound of its own: reluscope bounds MODEL.")
    say(console, "")
    for source in _sources(rows):
        say(console, f"{source.key}: {source}")
