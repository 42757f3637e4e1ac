"""Equations 5.10 to 5.14, 5.21 and 5.22, Figures 5.2 and 5.3: XOR by two units, as pieces and as a tropical function.

The printed biases, pieces and tropical form belong to three different functions; with the first bias 2 instead of 1 the
pieces are those that are printed, on other half-spaces, and XOR is solved.
"""

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies.plots import surfaces

SENTENCE = "the two units of XOR as pieces and as a tropical rational function, as printed and put right"
POSITION = 20
REPEATS = ("Figure 5.2", "Figure 5.3")
DATA = None
IS_SHORT = True

POINTS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
LABELS = np.array([0, 1, 1, 0])
WINDOW = rs.Box(-2.0, 2.0, 2)
BIASES = {"as printed": (1.0, 0.0), "put right": (2.0, 0.0)}
PRINTED_PIECES = "1 - x1 - x2 (0 <= x1 + x2); 1 + x1 + x2 (-1 <= x1 + x2 <= 0); -1 (x1 + x2 <= -1)"
PRINTED_FORM = "max(-1, -1 + x1 + x2) - max(0, 2 x1 + 2 x2)"


def protocol(setting: Setting) -> Outcome:
    """Print the pieces and tropical forms of both networks, and prove that they are the same functions."""
    del setting
    networks = {name: network(bias) for name, bias in BIASES.items()}
    findings: list[rs.Finding] = []
    rows, sentences = [], []
    for name, net in networks.items():
        values = net(POINTS)[:, 0].cpu().numpy()
        right = int(((values > 0) == LABELS).sum())
        proved = rs.tropical.round_trip(net)
        findings += [
            rs.Finding.of(
                right,
                name=f"points of XOR with the right sign, {name}",
                domain="the four points, where all arithmetic is in small integers",
                source="sattelberg2026",
            ),
            rs.partition(net, rs.Space(2)).finding(),
            proved,
        ]
        biases = ", ".join(f"{one:g}" for one in BIASES[name])
        rows.append((name, f"({biases})", ", ".join(f"{value:g}" for value in values), str(right), _pieces(net),
                     str(rs.tropical.rational_form(net))))  # fmt: skip
        code = rs.tropical.pieces(net).to_python("v")
        sentences.append(
            f"The network {name}, with biases ({biases}), has {rs.partition(net, rs.Space(2)).finding()} regions, and "
            f"network, pieces and tropical form differ on {proved} of them:\n\n```python\n{code}\n```"
        )
    said = (
        "The dissertation prints the pieces "
        f"{PRINTED_PIECES}, which are discontinuous at x1 + x2 = -1, and the tropical form {PRINTED_FORM}, which "
        "belongs to the biases (0, 0). With the printed biases (1, 0) no point of XOR has a positive output; with "
        "(2, 0) the printed pieces are right, on half-spaces that end at -2. The code 01 has no region: it would need "
        "x1 + x2 >= 0 and <= -2; its affine term would be -2 x1 - 2 x2 - 1 (printed: -4 x1 - 4 x2 + 3)."
    )
    columns = ("network", "biases", "values at (-1,-1), (-1,1), (1,-1), (1,1)", "right", "pieces", "tropical form")
    windows = {name: rs.partition(net, WINDOW) for name, net in networks.items()}
    figure = rs.plots.regions_and_coefficients(
        {f"{name}: {rs.plots.say_regions(part)}": part for name, part in windows.items()},
        samples=POINTS,
        labels=LABELS,
    )
    caption = (
        "Figure 5.3: regions, decision boundary and the four points; below, a dot per region at the coefficients of "
        "its map. As printed on the left, put right on the right."
    )
    table = Table(columns, tuple(rows), "The network of equation 5.11.")
    pictures = (
        Picture("xor", figure, caption),
        Picture(
            "xor-surfaces",
            surfaces(windows),
            "Figure 5.3: both networks as surfaces, flat over every region.",
        ),
    )
    solved = {name: int(found) for name, found in zip(BIASES, findings[::3], strict=True)}
    verdicts = (
        StatementVerdict(
            "the printed network solves XOR",
            "equations 5.10 and 5.11",
            "all four points",
            f"{solved['as printed']} of 4 points",
            solved["as printed"] == len(LABELS),
        ),
        StatementVerdict(
            "two ReLU units solve XOR",
            "section 5.2",
            "yes",
            f"with the biases (2, 0) {solved['put right']} of 4 points",
            solved["put right"] == len(LABELS),
        ),
    )
    return Outcome((said, *sentences), tuple(findings), (table,), pictures, verdicts=verdicts)


def network(bias: tuple[float, float]) -> rs.Network:
    """Return the network of equation 5.11 with other biases of the first layer.

    Examples
    --------
    >>> network((2.0, 0.0))([[1.0, -1.0]]).item()
    1.0
    """
    return rs.load([(np.ones((2, 2)), np.array(bias)), (np.array([[1.0, -2.0]]), np.array([-1.0]))])


def _pieces(net: rs.Network) -> str:
    lines = rs.tropical.pieces(net).to_python().splitlines()[1:-1]
    return "; ".join(
        f"{value.strip().removeprefix('return ')} ({condition.strip().removeprefix('if ').split(':')[0]})"
        for condition, value in zip(lines[::2], lines[1::2], strict=True)
    )
