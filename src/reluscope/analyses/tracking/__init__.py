"""Measurements of a model in training, record by record, in one file: codes and their changes, regions, Jacobians."""

from typing import NoReturn

from reluscope.analyses.tracking.callbacks import lightning_callback, transformers_callback
from reluscope.analyses.tracking.records import Records, read_records
from reluscope.analyses.tracking.sinks import tensorboard_sink, wandb_sink
from reluscope.moved_names import refuse

__all__ = [
    "Records",
    "lightning_callback",
    "read_records",
    "tensorboard_sink",
    "transformers_callback",
    "wandb_sink",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.tracking", name)
