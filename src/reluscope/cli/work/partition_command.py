"""``reluscope partition``: count the regions of a plane, a segment or a box exactly, draw them and save them."""

import io
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet
from matplotlib.figure import Figure
from rich.console import Console

from reluscope import plots
from reluscope.budget import Budget
from reluscope.checking.certificate_checks import check_certificate
from reluscope.cli.reading.domain_arguments import DomainArguments, OpenedDomain, open_domain
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.ctrl_c import INTERRUPTED, keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.executors import ExecutorArguments, open_executor
from reluscope.cli.terminal.failures import warn
from reluscope.cli.terminal.outputs import PICTURES, Outputs, listed, plan_outputs, said_of, write_all, write_each
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, print_json, say, several, to_json
from reluscope.cli.terminal.progress_bar import show_progress, taking
from reluscope.errors import InputError
from reluscope.findings import Findings
from reluscope.findings.written_findings import signed, with_ends
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition as cut
from reluscope.partitions.ask.finishing_windows import Affordable, affordable
from reluscope.partitions.ask.forecasting import forecast
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.streamed_partition import StreamedPartition

FORMAT = "reluscope partition 1"
KINDS = {
    ".arrow": "the partition, for rs.Partition.load",
    ".parquet": "a table of regions",
    ".svg": "a picture",
    ".png": "a picture",
    ".pdf": "a picture",
    ".json": "what --json prints",
    ".certificate": "with --certify, what proves the regions",
}
IN_FOLDER = ("partition.arrow", "regions.parquet", "partition.svg", "partition.png", "partition.json")

# For a forecast to whoever watches, and how long a partition takes that is worth one.
SECONDS_OF_FORECAST, WORTH_TELLING = 1.0, 5.0
# For a region and thirty units, to make a certificate and to check it.
SECONDS_OF_PROOF = 1.5e-3

Color = Literal["activation_rate", "class", "area", "random", "gate"]


def partition(
    model: ModelArguments,
    place: DomainArguments,
    *,
    output: Sequence[Path],
    method: str | None,
    budget: Budget,
    certify: bool,
    workers: ExecutorArguments,
    color: Color | None,
    force: bool,
    common: Common,
) -> int:
    """Partition, print the count, write what is asked for, and return the exit code.

    Without a method, of a segment or a plane; with one, of a domain of any dimension.
    """
    files = plan_outputs(output, KINDS, in_folder=IN_FOLDER, force=force)
    if files.of(".certificate") and not certify:
        raise InputError(f"{files.of('.certificate')[0]} is to hold a certificate: add --certify, which makes one")
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        most = 2 if method is None else None
        network, where = open_domain(place, model, seed=common.seed, device=device, bar=bar, most_dimensions=most)
    if where.domain.dim > 2 or method in ("cellwise", "tree"):
        files = _without_pictures(files, output, where, method)
    with keeping_results():
        with open_executor(workers) as executor:
            found = _partition(network, where, method or "auto", budget, certify, executor, hidden=common.quiet)
        part = found.part
        interrupted = part.note == "interrupted"
        proved = None
        try:
            with show_progress(hidden=common.quiet) as bar:
                needed = SECONDS_OF_PROOF * len(part) * network.num_units / 30
                if part.certified and needed > budget.seconds_allowed - part.work.get("seconds", 0.0):
                    warn(f"there is no time left for a certificate, {taking(needed)}: raise --seconds")
                elif part.certified and not part.num_open:
                    bar.say("Making and checking the certificate", None, needed)
                    proved = _prove(part)
        except KeyboardInterrupt:
            interrupted = True
        plain = {
            **describe(part, where, model.name, files),
            "expected": None if found.expected is None else found.expected.to_dict(),
            "coarse": None if found.coarse is None else _describe_coarse(found.coarse),
            "regions_proved": proved,
        }
        if proved is None:
            for path in files.of(".certificate"):
                warn(f"{path} was not written: work that ended early, or has no time left, has no certificate")
            files = files.without(".certificate")
        written = write_each(
            files, lambda path: _write(path, part, where, color, plain, found.coarse), hidden=common.quiet
        )
    if common.as_json:
        print_json({**plain, "files": [str(path) for path in written]})
    elif not common.quiet:
        print_partition(part, where, model.name, written, proved, found.expected, found.coarse)
    if interrupted or len(written) < len(files.paths):
        open_cells = f" with {several(part.num_open, 'cell')} unfinished" if part.num_open else ""
        warn(f"interrupted{open_cells}; {said_of(written)}")
        return INTERRUPTED
    return 0


def describe(part: Partition | StreamedPartition, where: OpenedDomain, model: str, files: Outputs) -> dict[str, Any]:
    """Return what `partition` found, as plain types."""
    network, window = part.network, part.window
    assert network is not None
    assert isinstance(window, Box)
    return {
        "format": FORMAT,
        "model": describe_model(network, model),
        "domain": {
            "kind": where.kind,
            "description": where.words,
            "dimensions": part.dim,
            "low": window.lo.tolist(),
            "high": window.hi.tolist(),
            "samples": list(where.rows),
        },
        "findings": [
            part.finding().to_dict(),
            *([part.adjacency_finding().to_dict()] if isinstance(part, Partition) and _keeps_facets(part) else []),
        ],
        "num_facets": len(part.facets) if isinstance(part, Partition) and _keeps_facets(part) else None,
        "facets_by_gate": _facets_by_gate(part),
        "stopped": part.note,
        "num_open": part.num_open,
        "files": [str(path) for path in files.paths],
    }


def draw(part: Partition, where: OpenedDomain, color: Color | None, coarse: Partition | None = None) -> Figure:
    """Return the picture of a partition.

    `color` is as `reluscope.plots.partition` takes it, or ``"gate"``; `coarse` is the partition by the first gates,
    shown where regions were not reached.
    """
    marks: dict[str, Any] = {}
    if where.points is not None:
        what = "sample" if where.rows else "point"
        marks = {"samples": where.points, "sample_labels": [f"{what} {label}" for label in where.labels]}
    if part.dim == 2:
        marks["coarse"] = coarse
    figure = plots.boundaries(part, **marks) if color == "gate" else plots.partition(part, color=color, **marks)
    for axes in figure.axes if where.axes else ():
        for name, get, put in zip(
            where.axes, (axes.get_xlabel, axes.get_ylabel), (axes.set_xlabel, axes.set_ylabel), strict=False
        ):
            if get().startswith("distance"):
                put(name)
    return figure


def _without_pictures(files: Outputs, asked: Sequence[Path], where: OpenedDomain, method: str | None) -> Outputs:
    """Return what can be written where there is nothing to draw; a picture asked for by name is an error."""
    for path in asked:
        if path.suffix.lower() in PICTURES:
            raise InputError(
                f"{path} would be a picture, which needs a segment or a plane by --method auto or incidence, got "
                f"{where.words} by {method}: leave --method out, or save .arrow or .parquet"
            )
    return files.without(*PICTURES)


def _partition(
    network: Network,
    where: OpenedDomain,
    method: str,
    budget: Budget,
    certify: bool,
    executor: Executor | None,
    *,
    hidden: bool,
) -> Affordable:
    is_watched = Console(stderr=True).is_terminal and not hidden
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the partition's note, and said at the end
        if method == "auto" and not certify and where.domain.is_bounded() and not network.jumps:
            if is_watched and budget.seconds is None and network.gates:
                _say_expected(network, where)
            return affordable(network, where.domain, budget, executor=executor, progress=is_watched)
        part = cut(
            network,
            where.domain,
            method=method,
            budget=budget,
            certify=certify,
            executor=executor,
            progress=is_watched,
        )
    return Affordable(part)


def _say_expected(network: Network, where: OpenedDomain) -> None:
    """Tell whoever watches how long it will take, if it is worth telling."""
    expected = forecast(network, where.domain, seconds=SECONDS_OF_FORECAST)
    if expected["forecast_seconds"].value[0] > WORTH_TELLING:
        say(Console(stderr=True), _expectation(expected))


def _num_proved(part: Partition | StreamedPartition) -> int:
    return len(part) - int(part.work.get("cells_unconfirmed", 0))


def _expectation(expected: Findings) -> str:
    regions, seconds = (with_ends(expected.finding(name)) for name in ("forecast_regions", "forecast_seconds"))
    return f"Expected: {regions} regions, in {seconds} s."


def _describe_coarse(coarse: Partition) -> dict[str, Any]:
    """Return what is known of all of the domain, as plain types."""
    return {"num_gates": len(coarse.codes.layout), "findings": [coarse.finding().to_dict()]}


def _keeps_facets(part: Partition) -> bool:
    """Tell whether facets are there without linear programs that may take longer than the partition."""
    return part.has_vertices and not part.jumps


def _prove(part: Partition) -> int:
    """Check the certificate of a partition by code that shares nothing with what made it; return what is proved."""
    assert part.network is not None
    assert part.certificate is not None
    return check_certificate(part.certificate, part.network, part.domain)


def _facets_by_gate(part: Partition | StreamedPartition) -> dict[str, int]:
    if not (isinstance(part, Partition) and _keeps_facets(part)):
        return {}
    gates = part.facets.gates if len(part.facets) else np.zeros(0, dtype=np.int64)
    return {gate.name: int((gates == index).sum()) for index, gate in enumerate(part.codes.layout)}


def _write(
    path: Path,
    part: Partition,
    where: OpenedDomain,
    color: Color | None,
    plain: dict[str, Any],
    coarse: Partition | None,
) -> None:
    suffix = path.suffix.lower()
    if suffix == ".arrow":
        path.parent.mkdir(parents=True, exist_ok=True)
        part.save(path)
    elif suffix == ".parquet":
        table = io.BytesIO()
        pyarrow.parquet.write_table(part.to_table(), table)
        write_all({path: table.getvalue()})
    elif suffix == ".certificate":
        assert part.certificate is not None
        write_all({path: part.certificate.to_json()})
    elif suffix == ".json":
        write_all({path: to_json(plain) + "\n"})
    else:
        write_all({path: _picture(draw(part, where, color, coarse), suffix)})


def _picture(figure: Figure, suffix: str) -> bytes | str:
    if suffix == ".svg":
        return plots.to_svg(figure, name="partition")
    if suffix == ".png":
        return plots.to_png(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf")
    return buffer.getvalue()


def print_partition(
    part: Partition | StreamedPartition,
    where: OpenedDomain,
    model: str,
    written: Sequence[Path],
    proved: int | None = None,
    expected: Findings | None = None,
    coarse: Partition | None = None,
) -> None:
    """Print the number of regions, and what the reader has to know of it."""
    console = open_console()
    say(console, f"{model} on {where.words}", style="bold")
    finding = part.finding()
    table = make_table("", "value", "claim", right=("value",))
    add_row(table, finding.name, signed(finding), finding.claim)
    for name, number in _facets_by_gate(part).items():
        assert isinstance(part, Partition)
        add_row(table, f"  pieces of boundary made by {name}", number, part.adjacency_finding().claim)
    console.print(table)
    say(console, f"Counted: {finding.definition}, of the {finding.domain}, by {finding.method}.")
    if proved is not None:
        say(console, f"A certificate of {several(proved, 'region')} was checked: they are all, in exact arithmetic.")
    if expected is not None:
        share = part.domain.volume() / where.domain.volume()
        say(
            console,
            f"{_expectation(expected)[:-1]}: more than the limits allow. So the largest window about the middle was "
            f"partitioned that they suffice for, {share:.2g} of the {'length' if part.dim == 1 else 'area'}.",
        )
    if coarse is not None:
        gates = len(coarse.codes.layout)
        by = f"the first {gates} gates" if gates > 1 else "the first gate"
        say(console, f"All of it, by {by} alone: {signed(coarse.finding())} regions.")
    if part.num_open:
        say(
            console,
            f"The work stopped early ({part.note}) with {several(part.num_open, 'cell')} unfinished, so this is a "
            "lower bound: raise --regions or --seconds to see more.",
        )
    if "gates_proved" in part.work:
        say(
            console,
            f"No proved bound on rounding decides {several(part.num_undecided, 'sign')}: measured rounding does, and "
            f"{several(_num_proved(part), 'region')} of these {'is' if _num_proved(part) == 1 else 'are'} proved; "
            "reluscope.confirm proves more. Fewer gates, all proved: "
            'reluscope.coarse_partition(..., rounding="proved").',
        )
    elif part.note and isinstance(part, Partition) and not part.certified:
        say(
            console,
            f"Exact arithmetic did not come to its end ({part.note}): these are the regions that float64 finds, "
            "without certificate. Raise --seconds.",
        )
    elif part.num_undecided:
        how = " With --certify rational arithmetic decides them." if part.dim <= 2 else ""
        say(console, f"Too close to zero to decide in float64: {several(part.num_undecided, 'sign')}.{how}")
    seconds = f"{part.work.get('seconds', 0.0):.2f} s{' for this window alone' if expected is not None else ''}"
    say(
        console,
        f"{seconds}; {listed(written)} it." if written else f"{seconds}; to draw and save it, add -o FOLDER.",
    )
