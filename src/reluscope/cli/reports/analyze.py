"""``reluscope analyze`` and ``reluscope demo``: write a report on models and data, and print its main numbers."""

import json
import time
from collections.abc import Iterator, MutableMapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from reluscope.cli.reading.opened_models import check_file_of_labels, open_model_and_data
from reluscope.cli.reports.reporting import AnalyzeOptions, DemoOptions
from reluscope.cli.terminal import BEGAN
from reluscope.cli.terminal.common_options import Common
from reluscope.cli.terminal.ctrl_c import INTERRUPTED, keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.executors import ExecutorOptions, open_executor
from reluscope.cli.terminal.failures import FAILED, warn
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, print_json, say, several
from reluscope.cli.terminal.progress_bar import Bar, show_progress, taking
from reluscope.cli.terminal.threads import count_helpers
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.demo import loaded_demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError
from reluscope.report.building import build_report, expected_seconds
from reluscope.report.keeping import KeptSections
from reluscope.report.page import names_of
from reluscope.report.parts.document import Report, SectionResult
from reluscope.report.parts.subject import Settings, Subject, check_labels
from reluscope.report.sections import all_sections
from reluscope.report.sharing import Helpers, helped
from reluscope.report.story import story_of
from reluscope.report.written_report import (
    NUMBERS,
    check_folder,
    report_to_dict,
    reports_to_dict,
    write_report,
    write_reports,
)

DEMO = "demo network"
# A process that helps takes so many seconds to start, by its imports; little work is done alone.
START, WORTH_HELP = 2.0, 6.0


def analyze(given: AnalyzeOptions) -> int:
    """Write a report on one model or several and data, and return the exit code."""
    models, common = given.models, given.common
    if given.resume and len(models) > 1:
        raise InputError("--resume goes on with the report of one model: leave it out, and add --force")
    folder = check_folder(
        given.output or Path("reluscope-" + "-".join(dict.fromkeys(one.stem for one in models))),
        force=given.force,
        resume=given.resume,
    )
    device = open_device(common.device)
    check_file_of_labels(given.labels)
    settings = Settings(
        seed=common.seed,
        margin=given.margin,
        num_segments=given.segments,
        seconds=given.seconds,
        regions=given.regions,
        task=given.task,
    )
    reports, kept = [], None
    with show_progress(hidden=common.quiet) as bar:

        def check(dataset: Dataset, num_outputs: int) -> None:
            check_labels(dataset, num_outputs, settings.task)

        opened = [
            open_model_and_data(
                one, given.data, labels=given.labels, most=given.samples, device=device, bar=bar, check=check
            )
            for one in models
        ]
        subjects = [
            Subject(network, dataset, model.name, settings)
            for model, (network, dataset) in zip(models, opened, strict=True)
        ]
        # The same samples for all models, as many as the slowest can be asked about.
        most = min(subject.most_affordable for subject in subjects)
        subjects = [subject.limited(most) for subject in subjects]
        with keeping_results(), _helpers(subjects, common, bar) as helpers:
            if len(models) == 1:
                kept = KeptSections(folder, subjects[0], resume=given.resume)
            for subject, help_ in zip(subjects, helpers, strict=True):
                reports.append(_built(subject, bar, kept, help_))
                if reports[-1].was_interrupted:
                    break
            bar.say("Writing the page", 1.0)
            page = write_report(reports[0], folder) if len(reports) == 1 else write_reports(reports, folder)
            if kept is not None and not reports[0].was_interrupted:
                kept.close()
    advice = "; the same command with --resume goes on" if kept is not None else ""
    return _conclude(reports, page, common, advice=advice)


def demo(given: DemoOptions, executor: Executor | None) -> int:
    """Write the report of the embedded network, with the help of an executor's processes, and return the exit code."""
    common = given.common
    folder = check_folder(given.output, force=given.force or _holds_demo(given.output))
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        bar.say("Loading the embedded network")
        data = digits("test")
        subject = Subject(loaded_demo_network(data.points).to(device), data, DEMO, Settings(seed=common.seed))
        with keeping_results(), _helpers([subject], common, bar, executor) as helpers:
            report = _built(subject, bar, None, helpers[0])
            bar.say("Writing the page", 1.0)
            page = write_report(report, folder)
    return _conclude([report], page, common)


def _holds_demo(folder: Path) -> bool:
    """Whether the report in a folder is that of an earlier demo, which may be replaced without asking."""
    try:
        return json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["model"]["name"] == DEMO
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def _helpers(
    subjects: Sequence[Subject], common: Common, bar: Bar, executor: Executor | None = None
) -> Iterator[list[Helpers | None]]:
    """Say how long the work will take, and yield for each subject processes on the other cores, where they pay.

    They are those of an executor if there is one: then they have begun to start.
    """
    bar.say("Timing the model")
    seconds = sum(map(expected_seconds, subjects))
    number = count_helpers(common.threads)
    if (executor is None and seconds < WORTH_HELP) or common.device != "cpu":
        number = 0
    if not (common.quiet or common.as_json):
        what = several(len(subjects) * len(all_sections()), "section")
        where = f" in {number + 1} processes" if number else ""
        starting = START * bool(number and executor is None)
        say(open_console(), f"{what}{where}: {taking(seconds / (number + 1) + starting)}")
    if number < 1:
        yield [None] * len(subjects)
        return
    with ExitStack() as stack:
        if executor is None:
            executor = stack.enter_context(open_executor(ExecutorOptions(workers=number)))
        assert executor is not None
        yield [stack.enter_context(helped(executor, number, subject)) for subject in subjects]


def _built(
    subject: Subject, bar: Bar, kept: MutableMapping[str, SectionResult] | None, helpers: Helpers | None
) -> Report:
    return build_report(
        subject, notify=lambda at: bar.say(at.title, at.share, at.remaining), kept=kept, helpers=helpers
    )


def _conclude(reports: Sequence[Report], page: Path, common: Common, *, advice: str = "") -> int:
    """Print what was found, and return the exit code."""
    for section in (section for report in reports for section in report.sections):
        if section.status == "failed":
            warn(f"{section.title}: {section.sentence}")
    if common.as_json:
        print_json(report_to_dict(reports[0]) if len(reports) == 1 else reports_to_dict(reports))
    elif not common.quiet:
        _summarize(reports, page)
    if any(report.was_interrupted for report in reports):
        warn(f"interrupted; what was done until then is in {page}{advice}")
        return INTERRUPTED
    return 0 if all(report.is_complete for report in reports) else FAILED


def _summarize(reports: Sequence[Report], page: Path) -> None:
    console = open_console()
    for name, report in zip(names_of(reports), reports, strict=True):
        say(console, f"{name} on {report.subject.data.describe()}", style="bold")
        for sentence in story_of(report.sections).sentences:
            say(console, f"  {sentence.text}")
        table = make_table("", "value", "claim", right=("value",))
        for section in report.sections:
            if section.content is None:
                add_row(table, section.title, "", section.status)
            elif (headline := section.content.headline) is not None:
                add_row(table, headline.finding.name, headline.text, headline.finding.claim)
        console.print(table)
    say(console, f"{time.perf_counter() - BEGAN:.1f} s; the report is in {page}")
