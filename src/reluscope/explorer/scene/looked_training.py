"""A training that is looked at epoch by epoch: the network as it was at each record, and what was counted there."""

from typing import Any

import numpy as np

from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding, plain
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.session import Session
from reluscope.networks.network import Network

# What is shown beside the slider of epochs, where it was recorded: names of tracked quantities.
SHOWN = (
    "plane_regions",
    "median_segment_regions",
    "accuracy",
    "cross_entropy",
    "dead_units",
    "changed_units",
    "crossing_units",
    "kink_density",
)


def answer_epochs(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Say what records the training has, which of them can be looked at, and what was counted at each."""
    del listener
    asked.end()
    if session.records is None:
        raise _no_training()
    return Answer(training_header(session), {})


def training_header(session: Session) -> dict[str, Any]:
    """Return epochs and findings of the records; ``has_weights`` says which can be looked at."""
    records = session.records
    assert records is not None
    quantities = []
    for name in SHOWN:
        found = records.findings(name)
        if any(one is not None for one in found):
            title = next(one.name for one in found if one is not None)
            entries = [None if one is None else finding(one) for one in found]
            quantities.append({"name": name, "title": title, "findings": entries})
    return {
        "epochs": [plain(epoch) for epoch in records.epochs],
        "has_weights": list(records.has_weights),
        "quantities": quantities,
        "logged": {name: values for name, values in records.logged.items() if _are_numbers(values)},
    }


def network_of_epoch(session: Session, record: int) -> Network:
    """Return the network as it was at a record of the training.

    InputError if there is no such record, or it holds no weights of this network. Of a lesson records are its steps.
    """
    if session.course is not None:
        return session.course.training.network_at(record)
    records = session.records
    if records is None:
        raise _no_training()
    if not record < len(records):
        raise InputError(f"epoch must be the place of one of {len(records):,} records, from 0, got {record}")
    if record not in session.epochs:
        session.keep_epoch(record, records.network(record, session.network))
    return session.epochs[record]


def _are_numbers(values: list[Any]) -> bool:
    return all(one is None or (isinstance(one, int | float) and np.isfinite(one)) for one in values)


def _no_training() -> InputError:
    return InputError("there is no training to look at: open the explorer with a tracker file that holds weights")
