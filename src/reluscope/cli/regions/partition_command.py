"""``reluscope partition``: count the regions of a plane, a segment or a box exactly, draw them and save them."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer
from rich.console import Console

from reluscope.analyses.bodies.measured_regions import measure_regions
from reluscope.budget import Budget
from reluscope.checking.certificate_checks import check_certificate
from reluscope.cli.reading.opened_domains import OpenedDomain, open_domain
from reluscope.cli.regions.partition_commands import PartitionOptions
from reluscope.cli.regions.partition_results import PartitionResult, expectation
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.executors import open_executor
from reluscope.cli.terminal.failures import interrupted, warn
from reluscope.cli.terminal.outputs import PICTURES, Outputs, plan_outputs, print_results, said_of, write_each
from reluscope.cli.terminal.printed_results import say
from reluscope.cli.terminal.progress_bar import Bar, is_watched, show_progress, taking
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.networks.network import Network
from reluscope.partitions.ask.certify import certify as proved
from reluscope.partitions.ask.certify import check_certifiable
from reluscope.partitions.ask.finishing_windows import Affordable, affordable
from reluscope.partitions.ask.forecasting import forecast
from reluscope.partitions.ask.region_search import RegionSearch, partitioned
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_quantities import region_quantities
from reluscope.stopping import is_interrupted

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

# Colours that are no quantities of regions.
COLORS = ("class", "area", "random", "gate")


def partition(given: PartitionOptions) -> int:
    """Partition, print the count, write what is asked for, and return the exit code.

    Without a method, of a segment or a plane; with one, of a domain of any dimension.
    """
    method, common, budget = given.method, given.common, Budget(regions=given.regions, seconds=given.seconds)
    files = plan_outputs(given.output, KINDS, in_folder=IN_FOLDER, force=given.force)
    if files.of(".certificate") and not given.certify:
        raise InputError(f"{files.of('.certificate')[0]} is to hold a certificate: add --certify, which makes one")
    most = 2 if method is None else None
    network, where = open_domain(given.where, given.model, common, most_dimensions=most)
    _check_names(given.color, given.measure)
    if where.domain.dim > 2 or method in ("cellwise", "tree"):
        files = _without_pictures(files, given.output, where, method)
    with keeping_results():
        with open_executor(given.workers) as executor:
            found = _partition(network, where, given, Effort(budget, executor, is_watched(common)))
        part = found.part
        is_cut_off = is_interrupted(part.stop)
        result = PartitionResult.of(given.model.name, where, found)
        left = budget.seconds_allowed - part.work.get("seconds", 0.0)
        try:
            with show_progress(hidden=common.quiet) as bar:
                result = replace(result, proved=_prove(part, left, bar))
                if given.measure:
                    asked = "all" if "all" in given.measure else given.measure
                    measured = measure_regions(part, asked, budget=Budget(seconds=max(0.0, left)))
                    result = replace(result, measured=measured)
        except KeyboardInterrupt:
            is_cut_off = True
        plain = result.to_dict(files)
        if result.proved is None:
            for path in files.of(".certificate"):
                warn(f"{path} was not written: work that ended early, or has no time left, has no certificate")
            files = files.without(".certificate")
        written = write_each(files, lambda path: result.write(path, given.color, plain), hidden=common.quiet)
    print_results({**plain, "files": [str(path) for path in written]}, common, lambda: result.print(written))
    if is_cut_off or len(written) < len(files.paths):
        return interrupted(said_of(written), part.num_open)
    return 0


def _without_pictures(files: Outputs, asked: Sequence[Path], where: OpenedDomain, method: str | None) -> Outputs:
    """Return what can be written where there is nothing to draw; a picture asked for by name is an error."""
    for path in asked:
        if path.suffix.lower() in PICTURES:
            raise InputError(
                f"{path} would be a picture, which needs a segment or a plane by --method auto or incidence, got "
                f"{where.words} by {method}: leave --method out, or save .arrow or .parquet"
            )
    return files.without(*PICTURES)


def _partition(network: Network, where: OpenedDomain, given: PartitionOptions, effort: Effort) -> Affordable:
    method, certify, budget = given.method or "auto", given.certify, effort.budget
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # interruption is told by the partition's note, and said at the end
        if method == "auto" and not certify and where.domain.is_bounded() and not network.jumps:
            if effort.progress and budget.seconds is None and network.gates:
                _say_expected(network, where)
            return affordable(network, where.domain, effort)
        if certify:
            check_certifiable(network, where.domain)
        part = partitioned(network, where.domain, effort, RegionSearch(method))
        if certify and not part.num_open:
            left = replace(budget, seconds=budget.seconds and max(0.0, budget.seconds - part.work["seconds"]))
            part = proved(part, budget=left, progress=effort.progress)
    return Affordable(part)


def _say_expected(network: Network, where: OpenedDomain) -> None:
    """Tell whoever watches how long it will take, if it is worth telling."""
    expected = forecast(network, where.domain, seconds=SECONDS_OF_FORECAST)
    if expected["forecast_seconds"].value[0] > WORTH_TELLING:
        say(Console(stderr=True), expectation(expected))


def _prove(part: Partition, seconds: float, bar: Bar) -> int | None:
    """Check the certificate of a partition by code that shares nothing with what made it; return what is proved."""
    if not part.certified:
        return None
    assert part.network is not None
    needed = SECONDS_OF_PROOF * len(part) * part.network.num_units / 30
    if needed > seconds:
        warn(f"there is no time left for a certificate, {taking(needed)}: raise --seconds")
        return None
    if part.num_open:
        return None
    bar.say("Making and checking the certificate", None, needed)
    assert part.certificate is not None
    return check_certificate(part.certificate, part.network, part.domain)


def _check_names(color: str | None, quantities: Sequence[str]) -> None:
    """Refuse names that are no colours or quantities; those declared beside the model count."""
    known = [entry.name for entry in region_quantities()]
    for option, names, allowed in (("--color", [color], [*COLORS, *known]), ("--measure", quantities, ["all", *known])):
        for name in names:
            if name is not None and name not in allowed:
                raise typer.BadParameter(f"expected one of {', '.join(allowed)}, got {name}", param_hint=option)
