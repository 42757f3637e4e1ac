"""Distinct codes over the data, gate by gate: which samples the network treats by the same affine map."""

from reluscope import plots
from reluscope.analyses.codespace.distinct import distinct_codes
from reluscope.report.content import Content, Number, Picture, Table, Text, numbers
from reluscope.report.drawing import drawing
from reluscope.report.subject import Subject, Tell

TITLE = "Codes of the data"
POSITION = 30
MOST_GATES = 60
MEANING = (
    "The code of a sample says which piece every unit uses. Samples with one code lie in one region, and the network "
    "is one affine map on them. The number of distinct codes is the number of regions that hold a sample, so the "
    "network has at least that many regions. Where a gate has few codes, it tells few samples apart."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no codes: without gates."""
    if not subject.network.gates:
        return "The network has no gates, so every input has the same, empty code."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: two forward passes over the samples."""
    return 0.3 + 2 * len(subject.data) * subject.seconds_per_sample


def content(subject: Subject, tell: Tell) -> Content:
    """Count the distinct codes of every gate and of all together."""
    del tell
    found = distinct_codes(subject.network, subject.data.points, tolerance=subject.settings.tolerance)
    gates = subject.network.gates
    picture = Picture(
        (drawing(plots.distinct_codes(found), "codes", _describe(found)),),
        f"Distinct codes among {found.num_points:,} samples, by gate and over all gates. Grey: the number of samples.",
    )
    rows = tuple((gate.name, gate.num_units, Number(one)) for gate, one in zip(gates, found.by_gate, strict=True))
    table = Table(("gate", "units", "distinct codes"), rows[:MOST_GATES])
    return Content((numbers(found.total, found.most_shared), Text(MEANING), picture, table), Number(found.total))


def _describe(found) -> str:
    parts = [f"{one.name.removeprefix('distinct codes of ')} {int(one):,}" for one in (*found.by_gate, found.total)]
    return "Bars of distinct codes: " + ", ".join(parts[:12])
