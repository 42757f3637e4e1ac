"""Section 4.1: the decision regions that n + 1 units can form, exactly; Table 4.1, Figures 4.1 to 4.5."""

from collections.abc import Iterator

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import annulus, pictures, plots
from reluscope_studies.sizes import number_of

SENTENCE = "what n + 1 units can form around a ball: exact networks, facets, radii, volumes"
POSITION = 10
REPEATS = ("Table 4.1", "Figure 4.1", "Figure 4.2", "Figure 4.3", "Figure 4.4", "Figure 4.5")
DATA = None
IS_SHORT = True

# Table 4.1 as printed.
PRINTED = {2: 0.87, 3: 0.71, 4: 0.64, 5: 0.58, 6: 0.54, 7: 0.5, 8: 0.47, 9: 0.45, 10: 0.43}
MAX_DIMENSION = {"small": 6, "full": 8}
SENTENCES = (
    (
        "Both solutions are taken as networks with weights, and their decision regions are found from the weights "
        "alone: the numbers of facets and vertices, and the radii, are those of the closed forms."
    ),
    (
        "Where the dissertation is corrected: Table 4.1 prints 0.64 for dimension 4, and sqrt(5/12) is 0.6455; the "
        "hexagon of 4.2 has the inner radius sqrt(3)/2 times its side; equation 4.3 is about the octahedron; 4.13 "
        "holds the other way round, the inner radius of the expanded simplex tends to sqrt(2) times that of the "
        "cross-polytope; 4.16 leaves out the exponent n; the ratio of 4.17 tends to exp(-1/2) 2^(n/2), not to 2^(n/2); "
        "4.20 is the gap over the ball."
    ),
    (
        "The dissertation names two forms of closed, bounded regions in every dimension. In the plane there are no "
        "others. The hyperplanes of n + 1 units enclose a simplex, and any number of its corners from 1 to n + 1 can "
        "lie inside: in three dimensions there are two more forms, one of 10 vertices and 12 facets, and one with as "
        "many vertices and facets as the cuboctahedron that meet in another way. All survive small changes of the "
        "weights."
    ),
)


def protocol(setting: Setting) -> Outcome:
    """Compare closed forms with the geometry of the networks, and draw both."""
    rows, findings = [], []
    for dim, printed in PRINTED.items():
        simplex, cross, shells = (
            annulus.expanded_simplex(dim),
            annulus.cross_polytope(dim),
            annulus.shell_volume_ratio(dim),
        )
        findings += [simplex.inner_radius, simplex.ratio, cross.ratio, shells]
        measured = "not measured"
        if dim <= number_of(setting, MAX_DIMENSION):
            region = annulus.decision_region(annulus.expanded_simplex_layers(dim))
            radius = annulus.inner_radius(region)
            findings.append(radius)
            measured = f"{radius.value:.6f}, {region.num_facets} facets, {annulus.recognize(region)}"
        rows.append(
            (
                str(dim),
                f"{printed:g}",
                f"{simplex.inner_radius.definition} = {simplex.inner_radius.value:.6f}",
                measured,
                f"{simplex.num_facets}, {len(simplex.facet_kinds)}",
                f"{simplex.ratio.value:.6f}",
                f"{cross.ratio.value:.6f}",
                f"{shells.value:.6g}",
                f"{cross.shell_ratio.value:.6g}",
            )
        )
    columns = (
        "dimension",
        "inner radius, the dissertation",
        "closed form",
        "of the network",
        "facets, kinds",
        "R/rho expanded simplex",
        "R/rho cross-polytope",
        "shells, cross over simplex",
        "shell over ball, cross",
    )
    table = Table(
        columns, tuple(rows), "Table 4.1 and more: the expanded simplex of outer radius 1, beside the printed values."
    )
    forms, more = _forms()
    found = {dim: round(float(annulus.expanded_simplex(dim).inner_radius), 2) for dim in PRINTED}
    wrong = [f"{found[dim]:g} for n = {dim}" for dim in PRINTED if found[dim] != PRINTED[dim]]
    verdict = StatementVerdict(
        "the inner radii of expanded simplices, to two digits",
        "Table 4.1",
        ", ".join(f"{one:g}" for one in PRINTED.values()),
        f"{len(PRINTED) - len(wrong)} of {len(PRINTED)} the same; {', '.join(wrong)}" if wrong else "the same",
        not wrong,
    )
    return Outcome(SENTENCES, (*findings, *more), (table, forms), tuple(_pictures(setting)), verdicts=(verdict,))


def _forms() -> tuple[Table, list[rs.Finding]]:
    rows, findings = [], []
    for inside in range(1, 5):
        region = annulus.decision_region(annulus.simplex_corner_layers(3, inside))
        sizes = region.incidence.sum(axis=1)
        findings.append(annulus.outer_radius(region))
        rows.append(
            (
                str(inside),
                str(annulus.recognize(region)),
                str(len(region.vertices)),
                str(region.num_facets),
                ", ".join(f"{(sizes == size).sum()} of {size} corners" for size in np.unique(sizes)),
                str(region.claim),
            )
        )
    columns = ("corners inside", "form", "vertices", "facets", "kinds of facets", "claim")
    return Table(
        columns, tuple(rows), "Four units of three inputs: corners of their tetrahedron in the region."
    ), findings


def _pictures(setting: Setting) -> Iterator[Picture]:
    points = np.linspace(-2.4, 2.4, 33)
    points = points[(np.abs(points) < 0.9) | (np.abs(points) > 1.2)]
    line = annulus.read_shallow([([[1.0], [-1.0]], [0.6, 0.6]), ([[1.0, 1.0]], [-1.65])])
    yield Picture(
        "folding",
        pictures.folding(line, points, (np.abs(points) > 1).astype(int)),
        "Figure 4.1: two units fold the line, so that one threshold tells the middle from both ends.",
    )
    data = rs.datasets.ball_shell(1000, 2, seed=setting.seed)
    assert data.labels is not None
    square = annulus.decision_region(annulus.cross_polytope_layers(2, radius=0.5 * 2**0.5))
    radii = (0.5, 0.5 * 2**0.5, 1.0)
    yield Picture(
        "task",
        pictures.decision_polygon(square, samples=data.points, labels=data.labels, radii=radii),
        "Figures 4.2 and 4.3: disc and annulus, and the one square that fits between them where r2 is sqrt(2) r1.",
    )
    hexagon = annulus.decision_region(annulus.expanded_simplex_layers(2, radius=0.5 * 2**0.5))
    yield Picture(
        "hexagon",
        pictures.decision_polygon(hexagon, samples=data.points, labels=data.labels, radii=radii),
        "Figure 4.3: the hexagon has room to spare.",
    )
    yield Picture(
        "expansion",
        pictures.decision_polygon(annulus.decision_region(annulus.simplex_corner_layers(2, 3))),
        "Figure 4.4: the triangle that three lines enclose, expanded to a hexagon whose corners lie on the lines.",
    )
    solids = (
        annulus.decision_region(annulus.cross_polytope_layers(3)),
        annulus.decision_region(annulus.expanded_simplex_layers(3)),
    )
    yield Picture(
        "solids",
        pictures.decision_polytope(*solids, titles=("octahedron", "cuboctahedron")),
        "Figure 4.5: the two solutions of four units in space, both of outer radius 1.",
    )
    radii_of = np.array([float(annulus.expanded_simplex(dim).inner_radius) for dim in PRINTED])
    yield Picture(
        "inner-radii",
        plots.counts_beside(
            np.array([*PRINTED.values()]),
            {"closed form": radii_of},
            rows=[f"{dim} dimensions" for dim in PRINTED],
            label="inner radius of the expanded simplex of outer radius 1",
        ),
        "Table 4.1 as a picture.",
    )
    kinds = [annulus.decision_region(annulus.simplex_corner_layers(3, inside)) for inside in range(1, 5)]
    yield Picture(
        "four-forms",
        pictures.decision_polytope(*kinds, titles=tuple(f"{inside} of 4 corners inside" for inside in range(1, 5))),
        "Not in the dissertation: the four kinds of closed, bounded regions of four units in space.",
    )
