"""A model in training, looked at record by record: codes and their changes, regions, Jacobians; kept in one file."""

from reluscope.analyses.tracking.records import Records, read_records
from reluscope.analyses.tracking.tracker import Tracker

__all__ = ["Records", "Tracker", "read_records"]
