"""Measurements of a model in training, record by record, in one file: codes and their changes, regions, Jacobians."""

from reluscope.analyses.tracking.records import Records, read_records
from reluscope.analyses.tracking.tracker import Tracker

__all__ = ["Records", "Tracker", "read_records"]
