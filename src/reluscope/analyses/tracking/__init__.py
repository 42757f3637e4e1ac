"""Measurements of a model in training, record by record, in one file: codes and their changes, regions, Jacobians."""

from reluscope.analyses.tracking.callbacks import lightning_callback, transformers_callback
from reluscope.analyses.tracking.records import Records, read_records
from reluscope.analyses.tracking.sinks import tensorboard_sink, wandb_sink
from reluscope.analyses.tracking.tracker import Tracker

__all__ = [
    "Records",
    "Tracker",
    "lightning_callback",
    "read_records",
    "tensorboard_sink",
    "transformers_callback",
    "wandb_sink",
]
