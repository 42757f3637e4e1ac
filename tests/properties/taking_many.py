"""Every public function that takes many things: what it says of each, or why it says nothing of each.

A function of `EACH` takes a network and points (s, 2) and returns one dict of arrays for each point: what the library
says of that point, or of what is made from it, such as a segment or a property.
"""

import dataclasses
import inspect
import tempfile
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import torch
from numpy.typing import ArrayLike

import reluscope as rs
from public_names import returned_types
from reluscope.testing import default_network

BOX = rs.Box(-4, 4, 2)
STEP = np.array([1.0, 0.375])
# Does not say what a thing is: how long it took, by how many steps, and what it is called.
BESIDE = ("seconds", "what", "asked", "instance", "num_branches")
PARTS = ("value", "lower", "upper", "claims")
TABLES = ("counts", "sums", "image")


def columns(found, name="row"):
    """Yield (name, array) of all that a result consists of."""
    if isinstance(found, torch.Tensor):
        found = found.detach().cpu().numpy()
    if isinstance(found, rs.Codes):
        yield name, found.words
    elif isinstance(found, rs.Findings):
        for one, column in found.columns.items():
            yield from ((f"{one}.{part}", np.asarray(getattr(column, part))) for part in PARTS)
        yield "status", np.array([str(one) for one in found.status])
        yield from ((f"details.{one}", np.asarray(table)) for one, table in found.details.items())
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            yield from columns(getattr(found, field.name), f"{name}.{field.name}")
    elif isinstance(found, np.ndarray):
        yield name, found


def each(function):
    """What a function returns of each: the rows of its arrays, several where a table has several for one sample."""

    def of(net, x):
        found = function(net, x)
        tables = {
            name: table
            for name, table in columns(found)
            if table.ndim and len(table) and name.rsplit(".", 1)[-1] not in BESIDE
        }
        number = len(x)
        if isinstance(found, rs.Findings):
            owner = np.asarray(next(iter(found.keys.values())))
            length = len(owner)
        else:
            owner, length = np.arange(number), number
        kept = {name: table for name, table in tables.items() if len(table) == length}
        assert kept
        return [{name: table[owner == row] for name, table in kept.items()} for row in range(number)]

    return of


def of_region(region):
    """What a region is, beside its witness: that may be any point inside."""
    polyhedron = region.polyhedron
    return {
        "code": region.code.words,
        "A": polyhedron.A,
        "b": polyhedron.b,
        "weight": region.map.weight,
        "bias": region.map.bias,
        "sources": region.sources,
    }


def found_regions(net, x):
    return [
        of_region(one) if isinstance(one, rs.Region) else {"missing": str(one).split(" lies", 1)[-1]}
        for one in rs.regions(net, x, missing="return")
    ]


def evaluation(net, x):
    at = net.at(x)
    parts = {"words": at.codes.words, "outputs": at.outputs, "status": np.array([str(s) for s in at.status])}
    parts |= {f"pieces {gate}": table for gate, table in enumerate(at.pieces)}
    parts |= {"weight": at.maps.weight, "bias": at.maps.bias}
    return [{name: table[row : row + 1] for name, table in parts.items()} for row in range(len(x))]


def pieces_along(net, x):
    found = rs.local.pieces_along(net, x, x + STEP)
    spans = [slice(*found.offsets[row : row + 2]) for row in range(len(x))]
    return [
        {
            "starts": found.starts[of],
            "stops": found.stops[of],
            "words": found.codes.words[of],
            "exact": found.is_exact[row],
        }
        for row, of in enumerate(spans)
    ]


def directions(net, x):
    found = rs.local.directions(net, x, bins=6, pixels=4)
    return [{"sources": one.hyperplanes.sources, **{name: getattr(one, name) for name in TABLES}} for one in found]


def likeliest(net, x):
    found = rs.local.likeliest_in_regions(net, x, domain=BOX)
    return [
        {"points": found.points[found.rows == row], "classes": found.classes[found.rows == row]}
        for row in range(len(x))
    ]


def verdicts(net, x):
    """One property for each point: the first output stays below its value there, in a box around it."""
    levels = np.asarray(net(x))[:, 0] + 0.25
    properties = [
        rs.verification.Property(
            [rs.verification.Case(point - 0.5, point + 0.5, [rs.Polyhedron([[-1.0, 0.0]], [-level])])]
        )
        for point, level in zip(x, levels, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = rs.verification.verify_each(net, properties, folder).to_pylist()
    return [{name: str(one) for name, one in row.items() if name not in BESIDE} for row in rows]


@cache
def ball_surface():
    net = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    return rs.level_set(net, rs.Box(-2, 2, 3))


def in_space(x):
    return np.c_[x, x[:, 0] - x[:, 1]]


@cache
def plain_partition():
    return rs.partition(rs.load(default_network([2, 6, 2], seed=0)), BOX)


def sampled(net, x=None):
    rows = np.random.default_rng(0).normal(size=(6, 2)) if x is None else x
    return rs.codespace.sample_codes(net, rows)


def compressed(net, x):
    clusters = rs.compression.cluster_maps(rs.coefficients.matrix(net, np.linspace(-2, 2, 8).reshape(4, 2)), 2)
    return rs.compression.compressed_outputs(clusters, rs.coefficients.matrix(net, x), "own_map")


def chosen(x, number):
    """Return for each point one of so many things, the same one in any company."""
    return (np.abs(x[:, 0]) * 8).astype(int) % number


@cache
def merged():
    return rs.compression.merge_regions(plain_partition(), 0.1)


@cache
def tropical():
    net = rs.load(default_network([2, 3, 1], seed=0))
    return rs.tropical.pieces(net, BOX), rs.tropical.rational_form(net)


@cache
def layer():
    return rs.preimages.read_layer((np.array([[1.0, 0.5], [-0.25, 2.0], [1.0, 1.0]]), np.array([0.0, 0.5, -1.0])))


@cache
def image():
    return rs.image(rs.load(default_network([2, 5, 2], seed=0)), BOX)


@cache
def coefficient_maps():
    one, other = (rs.load(default_network([2, 4, 2], seed=seed)) for seed in range(2))
    return rs.similarity.coefficient_maps(one, other, np.random.default_rng(0).normal(size=(12, 2)), ridge=0.1)


@cache
def hyperplanes():
    return rs.local.hyperplanes(rs.load(default_network([2, 6, 4, 2], seed=0)), [[0.3, 0.2]])


def half_open(x):
    return rs.codespace.half_open(rs.region(rs.load(default_network([2, 4, 2], seed=0)), [0.3, 0.2])).contains(x)


@cache
def streamed():
    folder = tempfile.mkdtemp()
    return rs.stream(rs.load(default_network([2, 6, 2], seed=0)), BOX, f"{folder}/streamed.parquet")


def labels_of(x):
    return np.zeros(len(x), dtype=int)


def in_box(function, **options):
    return each(lambda net, x: function(net, x, domain=BOX, **options))


EACH = {
    "Network.__call__": each(lambda net, x: net(x)),
    "Network.at": evaluation,
    "Network.codes": each(lambda net, x: net.codes(x)),
    "Network.jvp": each(lambda net, x: net.jvp(x, x[:, ::-1].copy())),
    "Network.linearize": each(lambda net, x: net.linearize(x)),
    "Network.preactivations": each(lambda net, x: net.preactivations(x)[0]),
    "Network.unit_maps": each(lambda net, x: net.unit_maps(x)[0][0]),
    "Network.vjp": each(lambda net, x: net.vjp(x, x)),
    "Box.contains": each(lambda net, x: BOX.contains(x)),
    "Polyhedron.contains": each(lambda net, x: rs.Polyhedron([[1.0, 0.5]], [0.25]).contains(x)),
    "Slice.contains": each(lambda net, x: rs.Plane([0, 0], [1, 0], [0, 1]).contains(x)),
    "Slice.lift": each(lambda net, x: rs.Plane([0, 0], [1, 2], [0, 1]).lift(x)),
    "Slice.project": each(lambda net, x: rs.Plane([0, 0], [1, 2], [0, 1]).project(x)),
    "Space.contains": each(lambda net, x: rs.Space(2).contains(x)),
    "Norm.size": each(lambda net, x: rs.Norm.of("l2").size(x)),
    "Partition.locate": each(lambda net, x: plain_partition().locate(x)),
    "StreamedPartition.locate": each(lambda net, x: streamed().locate(x)),
    "Norm.room": each(lambda net, x: rs.Norm.of("l2").room(np.abs(x) / 8, 4.0, 0.0)),
    "Norm.steepest": each(lambda net, x: rs.Norm.of("l1").steepest(x)),
    "regions": found_regions,
    "inscribed_balls": each(lambda net, x: rs.inscribed_balls(net, x)),
    "inscribed_balls in a box": in_box(rs.inscribed_balls),
    "classification.classes_of_outputs": each(lambda net, x: rs.classification.classes_of_outputs(x)),
    "classification.predicted_classes": each(rs.classification.predicted_classes),
    "codespace.HalfOpenCell.contains": each(lambda net, x: half_open(x)),
    "codespace.activation_rate": each(lambda net, x: rs.codespace.activation_rate(net.codes(x))),
    "codespace.nearest_codes": each(
        lambda net, x: np.stack(rs.codespace.nearest_codes(sampled(net).codes, net.codes(x), k=2), axis=1)
    ),
    "codespace.novelty": each(lambda net, x: rs.codespace.novelty(sampled(net), sampled(net, x))),
    "codespace.sample_codes": each(sampled),
    "coefficients.CoefficientMatrices.maps": each(
        lambda net, x: rs.coefficients.matrix(net, x).maps(np.arange(len(x)))
    ),
    "coefficients.matrix": each(lambda net, x: rs.coefficients.matrix(net, x).output(0)),
    "coefficients.linear_margins": each(rs.coefficients.linear_margins),
    "coefficients.local_norms": each(rs.coefficients.local_norms),
    "coefficients.local_norms of probabilities": each(
        lambda net, x: rs.coefficients.local_norms(net, x, of="probabilities")
    ),
    "compression.MergedRegions.__call__": each(lambda net, x: merged()(x)),
    "compression.compressed_outputs": each(compressed),
    "counting.count_along_segments": each(lambda net, x: rs.counting.count_along_segments(net, x, x + STEP)),
    "local.Directions.angles": each(
        lambda net, x: rs.local.directions(hyperplanes().network, [[0.3, 0.2]])[0].angles(chosen(x, 10))
    ),
    "local.Hyperplanes.normals": each(lambda net, x: hyperplanes().normals(chosen(x, 10))),
    "local.class_shares": in_box(rs.local.class_shares, draws=4, chains=2),
    "local.directions": directions,
    "local.last_of_class": each(lambda net, x: rs.local.last_of_class(net, x, x + STEP)),
    "local.likeliest_in_regions": likeliest,
    "local.mean_distances": in_box(rs.local.mean_distances, draws=4, chains=2),
    "local.null_space_rays": each(lambda net, x: rs.local.null_space_rays(net, x, count=4)),
    "local.pgd": each(lambda net, x: rs.local.pgd(net, x, labels_of(x), radius=0.5, steps=5)),
    "local.pieces_along": pieces_along,
    "local.region_classes": in_box(rs.local.region_classes),
    "local.region_sizes": in_box(rs.local.region_sizes),
    "preimages.GateLayer.__call__": each(lambda net, x: layer()(x)),
    "preimages.GateLayer.apply": each(lambda net, x: layer().apply(layer().preactivations(x))),
    "preimages.GateLayer.intervals": each(lambda net, x: np.stack(layer().intervals(layer()(x)), axis=1)),
    "preimages.GateLayer.inversion_errors": each(lambda net, x: layer().inversion_errors(layer()(x))),
    "preimages.GateLayer.preactivations": each(lambda net, x: layer().preactivations(x)),
    "preimages.LocalInverse.__call__": each(lambda net, x: rs.preimages.local_inverse(net, [0.3, 0.2])(x)),
    "preimages.classify": each(
        lambda net, x: rs.preimages.classify(net, np.asarray(rs.similarity.features(net, x, gate=0)), gate=0)
    ),
    "preimages.classify_at": each(lambda net, x: rs.preimages.classify_at(net, x, gate=0)),
    "preimages.layer_inputs": each(lambda net, x: rs.preimages.layer_inputs(net, x, gate=0)),
    "reachability.Image.count": each(lambda net, x: image().count(x / 8)),
    "robustness.unit_distances": each(lambda net, x: rs.robustness.unit_distances(net, x, norm="linf")),
    "robustness.boundary_distance": each(lambda net, x: rs.robustness.boundary_distance(net, x, norm="l2")),
    "robustness.certified_radius": each(lambda net, x: rs.robustness.certified_radius(net, x, norm="l2")),
    "robustness.decision_distance": in_box(rs.robustness.decision_distance, norm="l2"),
    "robustness.decision_distance_within": in_box(rs.robustness.decision_distance_within, norm="l2"),
    "sensitivity.local_complexity": each(lambda net, x: rs.sensitivity.local_complexity(net, x, 0.5)),
    "sensitivity.local_complexity by vertices": each(
        lambda net, x: rs.sensitivity.local_complexity(net, x, 0.5, definition="cross_polytope", num_directions=2)
    ),
    "sensitivity.local_complexity by gradients": each(
        lambda net, x: rs.sensitivity.local_complexity(net, x, definition="kink_density", deviation=0.5)
    ),
    "sensitivity.integrated_gradients": each(rs.sensitivity.integrated_gradients),
    "sensitivity.local_complexity by noise": each(
        lambda net, x: rs.sensitivity.local_complexity(
            net, x, definition="kink_density", deviation=0.5, num_directions=2, num_noises=2
        )
    ),
    "sensitivity.local_complexity by samples": each(
        lambda net, x: rs.sensitivity.local_complexity(net, x, 0.5, num_samples=8, budget=rs.Budget(regions=1))
    ),
    "sensitivity.saliency": each(rs.sensitivity.saliency),
    "similarity.CoefficientMaps.outputs": each(lambda net, x: coefficient_maps().outputs(x)),
    "similarity.features": each(lambda net, x: rs.similarity.features(net, x, gate=0)),
    "stability.extremes": each(lambda net, x: rs.stability.extremes(net, x, steps=3)),
    "stability.spectra": each(rs.stability.spectra),
    "surfaces.cast_rays": each(
        lambda net, x: rs.surfaces.cast_rays(ball_surface(), in_space(x) / 8, in_space(x) + 0.5)
    ),
    "surfaces.distance": each(lambda net, x: rs.surfaces.distance(ball_surface(), in_space(x))),
    "tropical.MaxDifference.forward": each(
        lambda net, x: rs.tropical.to_module(tropical()[1], rounded=True)(torch.as_tensor(x))
    ),
    "tropical.Pieces.__call__": each(lambda net, x: tropical()[0](x)),
    "tropical.TropicalPolynomial.__call__": each(lambda net, x: tropical()[1].numerators[0](x)),
    "tropical.TropicalRational.__call__": each(lambda net, x: tropical()[1](x)),
    "verification.verify_each": verdicts,
}
# Random draws are those of a seed and a position among the points: alone is a point among copies of itself.
BY_POSITION = ("local.null_space_rays", "sensitivity.local_complexity by samples")
# Relative to the number, 1e-9 elsewhere: distances to where a probability is that of a point have half the digits.
DIGITS = {"local.region_classes": 1e-6}

# Laws with tests of their own.
OF_THEIR_OWN = """
    partitions measure_regions Partition.to_table Partition.to_pandas similarity.compare
"""
# Takes one thing, whose entries are an array: a point, a direction, a target, the ends of one segment.
ONE = """
    Network.local_operator Plane Segment Polyhedron.maximize Region.is_whole_within Region.row_errors
    maximize neighbors region
    codespace.auroc local.hyperplanes local.null_directions local.region_facets
    preimages.InvariantSet.maximize preimages.InvariantSet.reach preimages.InvariantSet.width
    preimages.MixedSystem.violation preimages.distance_to_image preimages.distance_to_range preimages.elsewhere_bounds
    preimages.invariant preimages.invariant_set preimages.local_inverse
    preimages.reached_from_elsewhere preimages.read_layer preimages.system preimages.within_region
    reachability.ReachableSets.maximum sensitivity.ellipse sensitivity.translations stability.prefix_map
    topology.shortest_path tropical.Pieces.at tropical.TropicalPolynomial.at tropical.TropicalRational.at
"""
# Gives one answer about all together: a share, a mean, a number of different codes, distances of all pairs, one curve.
TOGETHER = """
    classification.accuracy classification.accuracy_by_class classification.cross_entropy
    codespace.CodeClusters.agreement codespace.adjacency codespace.class_distances codespace.cluster
    codespace.distinct_codes codespace.duplicate_units
    codespace.embed codespace.embed_series codespace.embedding_trust codespace.mean_code_distances codespace.occupancy
    codespace.pair_distances codespace.piece_counts codespace.unit_usage
    compression.accuracy_curve compression.cluster_maps compression.region_samples
    local.class_means local.other_means local.other_points planes.choose_triple regression.fits
    sensitivity.active_subspaces sensitivity.output_along sensitivity.trajectory sensitivity.transitions
    similarity.agreement_of_predictions similarity.coefficient_maps similarity.debiased_cka similarity.linear_cka
    similarity.output_cross_entropy similarity.overlay similarity.procrustes_distance similarity.scaled_distance
    tropical.TropicalPolynomial.of verification.replay
"""
# Reads, packs, selects or joins what it is given, and computes nothing of it.
HANDED_ON = """
    CodeLayout.locate_units CodeLayout.positions Codes.concatenate Codes.from_pieces Codes.from_planes Faces.among
    compose stack
    Faces.of_regions Finding.estimate Finding.from_dict Findings.from_dict Network.with_parameters load polyline
    codespace.SampleCodes.select codespace.correctly_classified local.Hyperplanes.only preimages.Preimages.take
"""
NOT_OF_EACH = frozenset(f"{OF_THEIR_OWN} {ONE} {TOGETHER} {HANDED_ON}".split())
# Pictures, data, records, bounds from sizes and test networks say nothing of points.
OTHER_NAMESPACES = ("bounds", "datasets", "errors", "plots", "studies", "testing", "tracking")

_ARRAY_LIKE = set(typing.get_args(ArrayLike))
_SEVERAL = (Sequence, Mapping, Iterable, list, tuple)
_OF_SAMPLES = (rs.Codes, rs.Evaluation, rs.codespace.SampleCodes, rs.coefficients.CoefficientMatrices)


def is_many(annotation):
    """Whether an argument may be several things: an array, a sequence, codes."""
    if typing.get_origin(annotation) is typing.Annotated:
        return is_many(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = typing.get_args(annotation)
        return set(parts) >= _ARRAY_LIKE or any(is_many(part) for part in parts)
    if typing.get_origin(annotation) in _SEVERAL or getattr(annotation, "dim_str", ""):
        return True
    return annotation in (np.ndarray, torch.Tensor, *_SEVERAL, *_OF_SAMPLES)


def public_callables():
    """Yield (name, function) of all public functions and methods, by their addresses below ``rs``."""
    spaces = [("", rs)]
    for name in rs.__all__:
        if inspect.ismodule(getattr(rs, name)) and name not in OTHER_NAMESPACES:
            spaces.append((f"{name}.", getattr(rs, name)))
    for prefix, space in spaces:
        for name, one in ({name: getattr(space, name) for name in space.__all__} | returned_types(prefix[:-1])).items():
            if inspect.isfunction(one):
                yield prefix + name, one
            elif inspect.isclass(one):
                public = (part for part in vars(one) if part == "__call__" or not part.startswith("_"))
                yield from ((f"{prefix}{name}.{part}", getattr(one, part)) for part in public)


def taking_many():
    """Return the names of public functions with a positional argument that may be several things."""
    found = set()
    for name, one in public_callables():
        if inspect.isfunction(one) or inspect.ismethod(one):
            given = inspect.signature(one).parameters.values()
            positional = [part for part in given if part.kind is part.POSITIONAL_OR_KEYWORD]
            if any(is_many(part.annotation) for part in positional):
                found.add(name)
    return found
