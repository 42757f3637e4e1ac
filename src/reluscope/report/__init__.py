"""The report: one self-contained page about a network on data, and its numbers as JSON.

It asks analyses for findings and lays them out; it computes nothing itself.
"""

from reluscope.report.building import ReportProgress, build_report
from reluscope.report.keeping import KeptSections
from reluscope.report.parts.document import Report, SectionResult
from reluscope.report.parts.subject import Settings, Subject
from reluscope.report.written_report import check_folder, write_report, write_reports

__all__ = [
    "KeptSections",
    "Report",
    "ReportProgress",
    "SectionResult",
    "Settings",
    "Subject",
    "build_report",
    "check_folder",
    "write_report",
    "write_reports",
]
