"""The network as it was loaded: shapes, gates, notes, and what it was verified against."""

from reluscope.findings import Finding
from reluscope.findings.written_findings import number
from reluscope.networks.network import Network
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, ReportTable, Text, numbers, table
from reluscope.report.parts.sentences import Sentence, several
from reluscope.report.parts.subject import Subject

TITLE = "The network"
POSITION = 10


def why_not(subject: Subject) -> str | None:
    """Return None: every report has this section."""
    del subject
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: nothing is computed."""
    del subject
    return 0.05


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Say what was loaded and how it was checked."""
    del progress
    network, data = subject.network, subject.data
    units = Finding.of(
        network.num_units,
        name="units",
        definition="units of all gates: the places where the network can bend",
        domain="the network",
        method="counted in the graph",
    )
    blocks: list[Block] = [
        Text(
            f"{subject.model} is a piecewise-linear function from {_shape(network.input_shape)} inputs to "
            f"{_shape(network.output_shape)} outputs. {_gates_in_words(network)}"
        )
    ]
    checked = _verification(network)
    blocks.append(numbers(units, checked) if checked is not None else numbers(units))
    if network.gates:
        blocks.append(_gate_table(network))
    blocks.append(Text(f"Data: {data.describe()}; entries from {data.points.min():.4g} to {data.points.max():.4g}."))
    blocks.extend(Text(f"Note: {note}.") for note in (*network.notes, *data.notes))
    blocks.append(
        Text(
            f"Every claim below is about the network in real arithmetic with these weights as float64 numbers; its "
            f"fingerprint is {network.fingerprint[:16]}."
        )
    )
    gates = [
        {
            "name": gate.name,
            "kind": gate.kind,
            "shape": list(gate.shape),
            "units": gate.num_units,
            "pieces": gate.num_pieces,
        }
        for gate in network.gates
    ]
    shapes = {"input_shape": list(network.input_shape), "output_shape": list(network.output_shape)}
    return Content(tuple(blocks), Number(units), {**shapes, "gates": gates}, sentences=(_answer(network, checked),))


def _answer(network: Network, checked: Finding | None) -> Sentence:
    if not network.gates:
        return Sentence("The network has no gates: it is one affine map, the same everywhere.", surprise=3.0)
    text = (
        f"The network bends at {several(network.num_units, 'unit')} in {several(len(network.gates), 'gate')} and is "
        "affine between"
    )
    if checked is None:
        return Sentence(f"{text}.")
    agrees = "exactly" if checked.value == 0 else f"up to {number(float(checked.value), 2)}"
    return Sentence(f"{text}; it agrees {agrees} with the model it was loaded from.")


def _verification(network: Network) -> Finding | None:
    check = network.verification
    if check is None:
        return None
    return Finding.of(
        check.largest_deviation,
        name=f"largest difference from the model at {check.num_points:,} points",
        definition="largest absolute difference of an output, as computed in float64 by the network and by its source",
        domain=f"{check.num_points:,} points: random ones and samples",
        method=f"compared with {check.reference}",
    )


def _gates_in_words(network: Network) -> str:
    if not network.gates:
        return "It has no gates: it is one affine map, with one region."
    return "It bends only at its gates; between them it is affine."


def _gate_table(network: Network) -> ReportTable:
    gates = network.gates
    keys = {
        "gate": [gate.name for gate in gates],
        "kind": [gate.kind.replace("_", " ") for gate in gates],
        "shape": [_shape(gate.shape) for gate in gates],
        "units": [gate.num_units for gate in gates],
        "pieces": [gate.num_pieces for gate in gates],
    }
    caption = "Gates in order of evaluation. A unit's pieces are the affine functions that it chooses among."
    return table(keys, {}, caption)


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "1"
