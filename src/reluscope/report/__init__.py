"""The report: one self-contained page about a network on data, and its numbers as JSON; composed, nothing computed."""

from reluscope.report.building import build_report
from reluscope.report.document import Report, SectionResult
from reluscope.report.subject import Settings, Subject
from reluscope.report.writing import write_report

__all__ = ["Report", "SectionResult", "Settings", "Subject", "build_report", "write_report"]
