"""``reluscope track-report``: a page about the records of a tracker."""

from reluscope.analyses.tracking.records import Records, read_records
from reluscope.cli.reports.tracking_commands import TrackReportOptions
from reluscope.cli.terminal.outputs import conclude, plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say, several
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


def track_report(given: TrackReportOptions) -> int:
    """Write the page, print the last record, and return the exit code."""
    file, records = given.file, read_records(given.file)
    files = plan_outputs(given.output or [file.with_suffix(".html")], KINDS, force=given.force)
    if file.resolve() in [path.resolve() for path in files.paths]:
        raise InputError(f"-o {file} is the file of the records: name another")
    plain = records_as_plain(records)
    write_all({path: render_records(records) for path in files.of(".html")})
    conclude(plain, files, given.common, lambda: _print(records, [str(path) for path in files.paths]))
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
