"""``reluscope analyze`` and ``reluscope demo``: write a report on a model and data, and print its main numbers."""

import json
from collections.abc import MutableMapping
from pathlib import Path

from reluscope.cli.devices import open_device
from reluscope.cli.failures import FAILED, warn
from reluscope.cli.interruption import INTERRUPTED, keeping_results
from reluscope.cli.opening import ModelArguments, open_model_and_data
from reluscope.cli.options import Common
from reluscope.cli.printing import add_row, make_table, open_console, print_json, say
from reluscope.cli.progress import Bar, show_progress
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.report.building import build_report
from reluscope.report.document import Report, SectionResult
from reluscope.report.keeping import KeptSections
from reluscope.report.subject import Settings, Subject
from reluscope.report.writing import NUMBERS, check_folder, write_report

DEMO = "demo network"


def analyze(
    model: ModelArguments,
    data: str,
    *,
    labels: Path | None,
    output: Path | None,
    samples: int | None,
    settings: Settings,
    force: bool,
    resume: bool,
    common: Common,
) -> int:
    """Write a report on a model and data, and return the exit code."""
    folder = check_folder(output or Path(f"reluscope-{model.stem}"), force=force, resume=resume)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network, dataset = open_model_and_data(model, data, labels=labels, most=samples, device=device, bar=bar)
        subject = Subject(network, dataset, model.name, settings)
        with keeping_results():
            kept = KeptSections(folder, subject, resume=resume)
            report, page = _make(subject, folder, bar, kept)
            if not report.was_interrupted:
                kept.close()
    return _conclude(report, page, common, advice="; the same command with --resume goes on")


def demo(output: Path, *, settings: Settings, force: bool, common: Common) -> int:
    """Write the report of the embedded network, and return the exit code."""
    folder = check_folder(output, force=force or _holds_demo(output))
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Loading the embedded network")
        data = digits("test")
        network = loaded_demo_network(data.points).to(device)
        with keeping_results():
            report, page = _make(Subject(network, data, DEMO, settings), folder, bar)
    return _conclude(report, page, common)


def _holds_demo(folder: Path) -> bool:
    """Whether the report in a folder is that of an earlier demo, which may be replaced without asking."""
    try:
        return json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["model"]["name"] == DEMO
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _make(
    subject: Subject, folder: Path, bar: Bar, kept: MutableMapping[str, SectionResult] | None = None
) -> tuple[Report, Path]:
    report = build_report(subject, notify=lambda at: bar.say(at.title, at.share, at.remaining), kept=kept)
    bar.say("Writing the page", 1.0)
    return report, write_report(report, folder)


def _conclude(report: Report, page: Path, common: Common, *, advice: str = "") -> int:
    """Print what was found, and return the exit code."""
    for section in report.sections:
        if section.status == "failed":
            warn(f"{section.title}: {section.sentence}")
    if common.as_json:
        print_json(report.to_dict())
    elif not common.quiet:
        _summarize(report, page)
    if report.was_interrupted:
        warn(f"interrupted; what was done until then is in {page}{advice}")
        return INTERRUPTED
    return 0 if report.is_complete else FAILED


def _summarize(report: Report, page: Path) -> None:
    console = open_console()
    say(console, f"{report.subject.model} on {report.subject.data.describe()}", style="bold")
    table = make_table("", "value", "claim", right=("value",))
    for section in report.sections:
        if section.content is None:
            add_row(table, section.title, "", section.status)
        elif (headline := section.content.headline) is not None:
            add_row(table, headline.finding.name, headline.text, headline.finding.claim)
    console.print(table)
    say(console, f"{report.seconds:.1f} s; the report is in {page}")
