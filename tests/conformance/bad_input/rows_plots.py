"""reluscope.plots: pictures of what analyses found; arrays may have gaps, of what is not known."""

import numpy as np

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.rows_reachability import IMAGE, REACHED
from conformance.bad_input.rows_verification import FOUND
from conformance.bad_input.things import (
    CODES,
    FIGURE,
    FLAT,
    FOLDER,
    MODEL,
    NET,
    SAMPLED,
    SCALAR,
    SCALAR_PART,
    STREAMED,
    X,
    Y,
)

_WIDE = rs.Box(-20, 20, dim=2)
_MATRICES = Later(lambda: rs.coefficients.matrix(NET, X))
_CURVE = Later(lambda: rs.compression.accuracy_curve(_MATRICES.value, _MATRICES.value, Y, (1, 2)))
_FILM = Later(lambda: rs.plots.animation([FLAT.value]))
_SPECTRA = Later(lambda: rs.stability.spectra(NET, X))
_SUBSPACES = Later(lambda: rs.sensitivity.active_subspaces(NET, X))
_CROSSED = Later(lambda: rs.sensitivity.transitions(NET, X))
_ALONG = Later(lambda: rs.sensitivity.output_along(NET, X, np.array([1.0, 0.0])))
_KINDS_OF = Later(lambda: rs.preimages.classify_at(NET, FLAT.value.witnesses))
_WIDER = rs.load([(np.eye(4)[:2], np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
_INVARIANCE = Later(
    lambda: rs.preimages.invariant(_WIDER, [0.5, 0, 0.2, 0], target=[1.0, 1, 1, 0], domain=rs.Box(0, 1, 4))
)
_SALIENT = Later(lambda: rs.sensitivity.saliency(_WIDER, np.eye(4)))
_BALL = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
_SURFACE = Later(lambda: rs.level_set(_BALL, rs.Box(-2, 2, 3)))
_CELLS = Later(lambda: rs.partition(_BALL, rs.Box(-2, 2, 3)))
_SPACE = {"view": "ours", "label": "text", "lines": "flag", "pixels": "count"}


def _segments():
    from reluscope.analyses.counting.segment_counts import count_along_segments

    return count_along_segments(NET, X[:2], X[2:4])


def _radii():
    return rs.robustness.boundary_distance(NET, X, norm="l2")


def _robust(function):
    return Later(lambda: getattr(rs.robustness, function)(NET, X, norm="l2", domain=_WIDE))


def _recorded():
    tracker = rs.Tracker(MODEL, X, FOLDER / "drawn.jsonl", input_shape=(2,), overwrite=True)
    tracker.record(epoch=0)
    return rs.tracking.read_records(FOLDER / "drawn.jsonl")


def _kept():
    tracker = rs.Tracker(MODEL, X, FOLDER / "kept.parquet", input_shape=(2,), overwrite=True, keep_weights=True)
    tracker.record(epoch=0)
    return rs.tracking.read_records(FOLDER / "kept.parquet")


_ROWS = {"rows": "texts", "columns": "texts", "inputs": "texts", "titles": "texts", "sample_labels": "texts"}
_PART = {**_ROWS, "samples": "grid", "output": "output_of", "label": "text", "class_names": "texts", "colors": "ours"}
_COLOR = {**_PART, "coarse": "ours", "color": "color", "by": "color", "most": "count", "labels": "classes"}

ROWS = {
    "plots.View": row(kinds={"azimuth": "number", "elevation": "number", "zoom": "positive", "is_steady": "flag"}),
    "plots.View.turned": row(on=rs.plots.View(), degrees=30.0, kinds={"degrees": "number"}),
    "plots.RegionColors.of": row(on=rs.plots.RegionColors(), part=FLAT),
    "plots.accuracy_curve": row(curve=_CURVE),
    "plots.animation": row(
        partitions=Later(lambda: [FLAT.value]),
        samples=X,
        kinds={**_PART, "partitions": "each ours", "labels": "classes"},
    ),
    "plots.boundaries": row(part=FLAT, kinds=_COLOR),
    "plots.boundaries_3d": row(part=_CELLS, pixels=20, kinds={**_SPACE, "part": "ours", "fade": "share"}),
    "plots.class_distances": row(found=Later(lambda: rs.codespace.class_distances(SAMPLED.value, Y)), names=["a", "b"]),
    "plots.class_numbers": row(found=Later(lambda: rs.local.region_classes(NET, X, domain=_WIDE))),
    "plots.codes": row(
        codes=CODES, labels=Y, class_names=["a", "b"], kinds={"labels": "classes", "class_names": "texts"}
    ),
    "plots.coefficient_scatter": row(part=FLAT, output=0, kinds=_PART),
    "plots.coefficients": row(
        maps=Later(lambda: NET.linearize(X)), shape=(1, 2), limit=1.0, kinds={**_ROWS, "maps": "maps", "shape": "shape"}
    ),
    "plots.curves_of_networks": row(curves={"a": _CURVE}, columns=2, kinds={"curves": "mapping", "columns": "count"}),
    "plots.directions": row(found=Later(lambda: rs.local.directions(NET, X[:1])[0])),
    "plots.distance_histogram": row(found=Later(lambda: rs.codespace.pair_distances(SAMPLED.value, Y))),
    "plots.distinct_codes": row(found=Later(lambda: rs.codespace.distinct_codes(SAMPLED.value)), num_samples=5),
    "plots.embeddings": row(
        grid=[[X, None]],
        labels=Y,
        rows=["a"],
        columns=["b", "c"],
        names=["n", "m"],
        kinds={"grid": "texts", "labels": "numbers", "rows": "names", "columns": "names", "names": "texts"},
    ),
    "plots.gradient_eigenvalues": row(found={"a": _SUBSPACES}, kinds={"found": "mapping"}),
    "plots.image": row(found=IMAGE, kinds={"view": "ours"}),
    "plots.interactive": row(part=FLAT, kinds=_COLOR),
    "plots.invariances": row(found=[_INVARIANCE], shape=(2, 2), kinds={"found": "each ours", "names": "texts"}),
    "plots.level_set": row(surface=_SURFACE, pixels=20, kinds={**_SPACE, "surface": "ours", "color": "color"}),
    "plots.likeliest": row(
        points=np.zeros((1, 2, 4)),
        classes=np.array([[0, 1]]),
        own=np.array([0]),
        x=np.zeros((1, 4)),
        shape=(2, 2),
        rows=["a"],
        kinds={
            "points": "gaps",
            "classes": "numbers",
            "own": "numbers",
            "x": "gaps",
            "rows": "names",
            "columns": "texts",
        },
    ),
    "plots.merged_regions": row(merged=Later(lambda: rs.compression.merge_regions(FLAT.value))),
    "plots.newton_polygons": row(found=Later(lambda: rs.tropical.newton_polygons(rs.tropical.rational_form(SCALAR)))),
    "plots.persistence": row(
        found=Later(lambda: rs.topology.persistence(SCALAR_PART.value)), kind="bars", kinds={"kind": "option"}
    ),
    "plots.norms": row(found=Later(lambda: rs.coefficients.local_norms(NET, X))),
    "plots.output_surface": row(
        part=SCALAR_PART,
        output=0,
        maps=Later(lambda: np.ones((len(SCALAR_PART.value), 3))),
        pixels=20,
        kinds={**_SPACE, "part": "ours", "color": "color", "output": "index", "name": "text", "maps": "gaps"},
    ),
    "plots.outputs_along": row(
        found=[[_ALONG]],
        rows=["a"],
        columns=["b"],
        kinds={"found": "each each ours", "rows": "texts", "columns": "texts"},
    ),
    "plots.partition": row(part=FLAT, samples=X, labels=np.zeros(len(X), int), kinds={**_COLOR, "labels": "classes"}),
    "plots.solid": row(
        part=_CELLS,
        pixels=20,
        kinds={**_SPACE, "part": "ours", "color": "color", "explode": "nonnegative", "fade": "fade"},
    ),
    "plots.size_distributions": row(sizes={"a": {"b": np.ones(2)}}, kinds={"sizes": "mapping"}),
    "plots.preimages": row(found=_KINDS_OF),
    "plots.preimages_in_plane": row(
        part=FLAT,
        found=_KINDS_OF,
        conditions=Later(lambda: np.ones(len(FLAT.value))),
        samples=X,
        kinds={"conditions": "gaps", "samples": "grid"},
    ),
    "plots.radii": row(facets=Later(_radii), names=list("abcdef"), kinds={"facets": "ours", "names": "texts"}),
    "plots.radii_by_location": row(
        radii=np.ones((2, 2)), locations=["a", "b"], kinds={"radii": "gaps", "locations": "names"}
    ),
    "plots.raster": row(part=STREAMED, kinds={"pixels": "count", "color": "option"}),
    "plots.reach": row(
        found=REACHED,
        states=(0, 1),
        runs=np.zeros((2, 3, 2)),
        kinds={"states": "each index", "runs": "samples"},
    ),
    "plots.region_clusters": row(
        part=FLAT,
        labels=Later(lambda: np.zeros(len(FLAT.value), int)),
        centers=np.zeros((1, 3)),
        output=0,
        kinds={**_PART, "labels": "numbers", "centers": "gaps"},
    ),
    "plots.regions_and_coefficients": row(
        parts=FLAT, output=0, samples=X, kinds={**_PART, "parts": "ours", "labels": "classes"}
    ),
    "plots.robustness": row(
        facets=[_robust("boundary_distance")],
        within=[_robust("decision_distance_within")],
        whole=[_robust("decision_distance")],
        names=["a"],
        kinds={"facets": "each ours", "within": "each ours", "whole": "each ours", "names": "texts"},
    ),
    "plots.samples": row(points=np.zeros((2, 4)), shape=(2, 2), kinds={"points": "gaps", "names": "texts"}),
    "plots.saliency": row(
        found=_SALIENT, samples=np.eye(4), shape=(2, 2), kinds={"samples": "samples", "names": "texts"}
    ),
    "plots.save_animation": row(
        animation=_FILM, path=FOLDER / "film.gif", kinds={"path": "write", "progress": "function"}
    ),
    "plots.say_regions": row(part=FLAT),
    "plots.segment_counts": row(
        counts=Later(_segments),
        groups=np.array([0, 1]),
        names=["a", "b"],
        kinds={"counts": "ours", "groups": "numbers", "names": "texts"},
    ),
    "plots.similarity": row(
        found=Later(lambda: rs.similarity.compare({"a": NET, "b": NET}, X, metrics=["cka"])),
        name="cka",
        cap=1.0,
        kinds={"name": "option"},
    ),
    "plots.spectra": row(found=_SPECTRA, layers=[0], band=(0.25, 0.75), kinds={"layers": "rows", "band": "band"}),
    "plots.spectra_by_layer": row(found={"a": _SPECTRA}, kinds={"found": "mapping"}),
    "plots.surrounding_regions": row(
        numbers={"": {"a": np.array([3, 4])}},
        cosines={"": {"a": np.array([0.9, 1.0])}},
        kinds={"numbers": "mapping", "cosines": "mapping"},
    ),
    "plots.to_gif": row(animation=_FILM, kinds={"progress": "function"}),
    "plots.to_png": row(figure=FIGURE, kinds={"background": "color_name"}),
    "plots.to_svg": row(figure=FIGURE, kinds={"ink": "text", "max_bytes": "count"}),
    "plots.tracking": row(records=Later(_recorded)),
    "plots.training_animation": row(
        records=Later(_kept),
        plane=rs.Box(-1, 1, 2),
        network=Later(lambda: rs.load(MODEL, input_shape=(2,))),
        samples=X,
        kinds={"plane": "domain", "neighbors": "flag", "samples": "grid", "output": "output_of", "labels": "classes"},
    ),
    "plots.transitions": row(found={"a": _CROSSED}, kinds={"found": "mapping"}),
    "plots.turntable": row(
        picture=rs.plots.level_set,
        found=_SURFACE,
        frames=2,
        kinds={"view": "ours", "picture": "function", "found": "free", "frames": "count"},
    ),
    "plots.unit_usage": row(usage=Later(lambda: rs.codespace.unit_usage(NET, SAMPLED.value))),
    "plots.violations": row(found=FOUND, inputs=(0, 1), kinds={"inputs": "each index"}),
}
