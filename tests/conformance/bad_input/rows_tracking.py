"""reluscope.tracking; Lightning and transformers need not be installed."""

import sys
from types import ModuleType, SimpleNamespace

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FOLDER, MODEL, X


def _recorded():
    tracker = rs.Tracker(MODEL, X, FOLDER / "records.jsonl", input_shape=(2,), overwrite=True, keep_weights=True)
    tracker.record(epoch=0)
    return FOLDER / "records.jsonl"


def _tracker():
    return rs.Tracker(MODEL, X, FOLDER / "called.parquet", input_shape=(2,), overwrite=True)


def _stand_in(module, name):
    """Put a bare module in the place of one that is not installed."""
    stand = ModuleType(module)
    setattr(stand, name, type(name, (), {}))
    sys.modules.setdefault(module, stand)


_stand_in("lightning.pytorch", "Callback")
_stand_in("transformers", "TrainerCallback")
_TRACKER = Later(_tracker)
_BOARD = SimpleNamespace(add_scalar=print, flush=print)
_RUN = SimpleNamespace(define_metric=lambda *_, **__: None, log=print)
_FILE = Later(_recorded)
_RECORDS = Later(lambda: rs.tracking.read_records(_FILE.value))

ROWS = {
    "tracking.Records.__getitem__": row(on=_RECORDS, name="distinct_codes", kinds={"name": "option"}),
    "tracking.Records.findings": row(on=_RECORDS, name="distinct_codes", kinds={"name": "option"}),
    "tracking.Records.network": row(
        on=_RECORDS, record=0, kinds={"record": "index"}, network=Later(lambda: rs.load(MODEL, input_shape=(2,)))
    ),
    "tracking.Records.partitions": row(
        on=_RECORDS,
        plane=rs.Box(-1, 1, 2),
        kinds={"plane": "domain"},
        network=Later(lambda: rs.load(MODEL, input_shape=(2,))),
    ),
    "tracking.lightning_callback": row(tracker=_TRACKER, kinds={"tracker": "ours", "every": "count"}),
    "tracking.transformers_callback": row(tracker=_TRACKER, kinds={"tracker": "ours"}),
    "tracking.tensorboard_sink": row(board=_BOARD, kinds={"board": "texts"}),
    "tracking.wandb_sink": row(run=_RUN, kinds={"run": "ours"}),
    "tracking.read_records": row(path=_FILE),
}
