"""The samples in the space of codes: nearby points of the picture have codes that differ in few units."""

import numpy as np

from reluscope.analyses.codespace.embedding import embed, embedding_trust
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.session import Session

MOST_SAMPLES = 1_000


def answer_code_space(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Place at most a thousand samples by their codes, in all gates or in one."""
    del listener
    gates = session.network.gates
    gate = asked.whole("gate", 0, len(gates) - 1) if asked.has("gate") else None
    asked.end()
    if not len(session.points):
        raise InputError("the code space shows samples, and the explorer was opened without data")
    if not gates:
        raise InputError("the network has no gates, so that all codes are the same")
    rows = session.drawn_rows(MOST_SAMPLES)
    codes = session.codes_of(session.network)[rows]
    if gate is not None:
        codes = codes.of_gates(gates[gate].name)
    placed = embed(codes, seed=session.seed)
    trust = embedding_trust(codes, placed, seed=session.seed)
    labels = session.labels
    header = {
        "gate": gate,
        "num_samples": len(rows),
        "of": len(session.points),
        "num_codes": len(codes.unique()),
        "share": placed.share,
        "trust": finding(trust),
        "method": "classical scaling of the root of the Hamming distance",
    }
    arrays = {
        "rows": rows.astype(np.int32),
        "places": placed.points.astype(np.float32),
        "labels": (np.full(len(rows), -1) if labels is None else labels[rows]).astype(np.int32),
        "predicted": session.classes[rows].astype(np.int32),
        "codes": codes.groups().astype(np.int32),
    }
    return Answer(header, arrays)
