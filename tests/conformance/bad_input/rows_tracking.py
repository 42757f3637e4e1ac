"""reluscope.tracking."""

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.things import FOLDER, MODEL, X


def _recorded():
    tracker = rs.Tracker(MODEL, X, FOLDER / "records.jsonl", input_shape=(2,), overwrite=True, keep_weights=True)
    tracker.record(epoch=0)
    return FOLDER / "records.jsonl"


_FILE = Later(_recorded)
_RECORDS = Later(lambda: rs.tracking.read_records(_FILE.value))

ROWS = {
    "tracking.Records.__getitem__": row(on=_RECORDS, name="distinct_codes", kinds={"name": "option"}),
    "tracking.Records.findings": row(on=_RECORDS, name="distinct_codes", kinds={"name": "option"}),
    "tracking.Records.network": row(
        on=_RECORDS, record=0, kinds={"record": "index"}, network=Later(lambda: rs.load(MODEL, input_shape=(2,)))
    ),
    "tracking.read_records": row(path=_FILE),
}
