"""One plane of an explorer as a file that needs nothing else: answers to what can be asked without a network.

They are kept as the server would send them, condensed and compressed, as text in the page; the program beside it takes
them for a server's. Nothing of the subject stands in the page's markup.
"""

import base64
import gzip
import struct
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.bundled import fingerprint, program
from reluscope.explorer.exchange.condensing import condensed
from reluscope.explorer.exchange.wire import pack
from reluscope.explorer.serving.desk import Desk

# Partitions by the first gates are kept, too, while there are few of them.
MOST_PREFIXES, MOST_PREFIX_ENTRIES = 8, 100_000
# What is kept of space, while it is of so many bytes before compression.
SPACES, MOST_SPACE_BYTES = ("regions", "decision"), 3_000_000
FEATURES = ("hello", "partition", "values", "region", "locate")
ALIGNMENT = 8
ASPECT = 1.6


def kept_answers(desk: Desk, plane: Mapping[str, Any] | None = None, *, space: bool = True) -> list[Answer]:
    """Return the answers that a snapshot holds: subject, one plane, values of its regions, and space.

    `plane` has fields of the question ``partition``; by default the home window, as wide as screens are. `space` holds
    solid and decision boundary of networks of three inputs, too, if small enough.
    """
    hello = _asked(desk, {"ask": "hello"})
    home = hello.header["home"]
    question = {"ask": "partition", **(plane or {"anchors": home["anchors"], "window": widened(home["window"])})}
    drawn = _asked(desk, question)
    version, regions = drawn.header["version"], len(drawn.arrays["region_area"])
    # Without the time it took, so that equal planes are equal files.
    solids = _spaces(desk, question) if space and desk.has_space else []
    kept = [_still(hello, question, solids), Answer({**drawn.header, "seconds": None}, drawn.arrays), *solids]
    gates = hello.header["model"]["gates"]
    questions = [{"of": "norm"}]
    if regions * len(gates) <= MOST_PREFIX_ENTRIES:
        questions += [{"of": "prefix", "gates": number} for number in range(min(len(gates), MOST_PREFIXES) + 1)]
    for fields in questions:
        found = desk.answer({"ask": "values", "version": version, **fields})
        if found.header["answer"] != "error":
            kept.append(Answer({**found.header, "question": fields}, found.arrays))
    anchors = question.get("anchors") or ()
    for row in sorted({anchor["row"] for anchor in anchors if anchor.get("kind") == "sample"}):
        fields = {"of": "all", "offset": row, "count": 1}
        found = desk.answer({"ask": "samples", **fields})
        if found.header["answer"] != "error":
            kept.append(Answer({**found.header, "question": fields}, found.arrays))
    return kept


def still_text(answers: Sequence[Answer]) -> str:
    """Return answers as text: base64 of gzip of each after its length."""
    packed = []
    for answer in answers:
        one = pack(condensed(answer))
        packed.append(struct.pack("<II", len(one), 0) + one + bytes(-len(one) % ALIGNMENT))
    return base64.b64encode(gzip.compress(b"".join(packed), 9, mtime=0)).decode()


def still_element(text: str) -> str:
    """Return the element of a page in which the program shows a snapshot."""
    return f'<div data-reluscope="still"><script type="text/plain">{text}</script></div>'


def snapshot_page(desk: Desk) -> str:
    """Return a whole page that shows the home plane, from whatever place it is opened."""
    return page_of(kept_answers(desk))


def page_of(answers: Sequence[Answer]) -> str:
    """Return the page that shows the answers which were kept, the first of them about the subject."""
    source = program(space=answers[0].header["space"] is not None)
    policy = f"default-src 'none'; script-src {fingerprint(source)}; img-src data: blob:; base-uri 'none'"
    name = escape(str(answers[0].header["model"]["name"]))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f"<title>{name}: a reluscope snapshot</title>\n</head>\n<body>\n"
        f"{still_element(still_text(answers))}\n"
        f'<script type="module">{source}</script>\n</body>\n</html>\n'
    )


def widened(window: Mapping[str, Any]) -> dict[str, Any]:
    """Return a window that is wide enough to fill a screen."""
    wide, high = window["reach"]
    return {"center": window["center"], "reach": [max(wide, ASPECT * high), high]}


def _spaces(desk: Desk, plane: Mapping[str, Any]) -> list[Answer]:
    """Return what is kept of space."""
    kept = []
    for of in SPACES:
        fields = {"of": of} | ({"epoch": plane["epoch"]} if plane.get("epoch") is not None else {})
        found = desk.answer({"ask": "space", **fields})
        size = sum(array.nbytes for array in found.arrays.values())
        if found.header["answer"] != "error" and size <= MOST_SPACE_BYTES:
            kept.append(Answer({**found.header, "question": {"of": of}}, found.arrays))
    return kept


def _still(hello: Answer, plane: Mapping[str, Any], solids: Sequence[Answer]) -> Answer:
    """Return the first answer as a snapshot gives it: what it can be asked, and the plane it holds."""
    home = {"anchors": plane.get("anchors"), "window": plane.get("window")}
    room = {**solids[0].header["room"], "held": [one.header["of"] for one in solids]} if solids else None
    held = {"still": True, "lesson": None, "features": list(FEATURES), "home": home, "space": room}
    return Answer({**hello.header, **held}, hello.arrays)


def _asked(desk: Desk, question: Mapping[str, Any]) -> Answer:
    answer = desk.answer(question)
    if answer.header["answer"] == "error":
        raise InputError(answer.header["message"])
    return answer
