"""``reluscope track-report``: a page about the records of a tracker."""

from pathlib import Path

from reluscope.analyses.tracking.records import Records, read_records
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.outputs import plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_json, print_numbers, say, several, to_json
from reluscope.errors import InputError
from reluscope.plots.models.training_curves import cost_in_words
from reluscope.report.training_page import records_as_plain, render_records

COMPLEXITY = ("crossing_units", "square_regions", "kink_density")
SHOWN = (
    "accuracy",
    "distinct_codes",
    "changed_samples",
    "median_segment_regions",
    "spectral_norm",
    "plane_regions",
    *COMPLEXITY,
)
KINDS = {".html": "the page", ".json": "what --json prints"}


def track_report(file: Path, *, output: list[Path], force: bool, common: Common) -> int:
    """Write the page, print the last record, and return the exit code."""
    records = read_records(file)
    files = plan_outputs(output or [file.with_suffix(".html")], KINDS, force=force)
    if file.resolve() in [path.resolve() for path in files.paths]:
        raise InputError(f"-o {file} is the file of the records: name another")
    plain = records_as_plain(records)
    contents = {path: to_json(plain) + "\n" for path in files.of(".json")}
    contents |= {path: render_records(records) for path in files.of(".html")}
    write_all(contents)
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        _print(records, [str(path) for path in files.paths])
    return 0


def _print(records: Records, paths: list[str]) -> None:
    console = open_console()
    say(
        console,
        f"{records.path.name}: {several(len(records), 'record')} of {records.num_samples:,} samples",
        style="bold",
    )
    if len(records):
        last = [found for name in SHOWN if (found := records.findings(name)[-1]) is not None]
        print_numbers(console, last, title="last record")
    if len(records):
        say(console, f"{cost_in_words(records).capitalize()}.")
    say(console, f"The report is in {' and '.join(paths)}")
