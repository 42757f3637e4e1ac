"""The names of the package itself."""

import numpy as np
import torch

import reluscope as rs
from conformance.bad_input.calls import Later, row
from conformance.bad_input.rows_reachability import PLANT
from conformance.bad_input.rows_verification import SAFE
from conformance.bad_input.things import BOX, CODES, FLAT, FOLDER, LAYERS, MODEL, NET, PART, PLANE, STREAMED, X, Y
from reluscope.findings import declare

_TRIANGLE = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [1.0, 0, 0])
_CERTIFICATE = Later(lambda: rs.certify(rs.partition(NET, PLANE)).certificate)


def _saved():
    path = FOLDER / "saved.arrow"
    PART.value.save(path)
    return path


_MLP = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 3), torch.nn.ReLU())
_SURFACE = Later(lambda: rs.level_set(NET, BOX))
_SOLID = Later(
    lambda: rs.level_set(
        rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))]), rs.Box(-2, 2, 3)
    )
)
_CLASSES = Later(lambda: rs.decision_boundary(rs.load([(np.eye(3), np.zeros(3))]), rs.Box(-1, 1, 3)))
_FINDINGS = Later(lambda: rs.local.region_classes(NET, X, domain=rs.Box(-9, 9, NET.num_inputs)))
_SIZE = declare("example_size", "size of something")

_LOAD = {"submodule": "axes", "at": "axes", "output": "axes", "inputs": "axes"}

ROWS = {
    "Box": row(lo=[-1.0, -1.0], hi=[1.0, 1.0], kinds={"lo": "vector", "hi": "vector"}),
    "Space.contains": row(on=rs.Space(2), x=X, kinds={"tolerance": "number", "x": "points"}),
    "Slice.contains": row(on=rs.Slice([0.0, 0.0], np.eye(2), BOX), x=X, kinds={"tolerance": "number", "x": "points"}),
    "Box.contains": row(on=BOX, x=X, kinds={"tolerance": "number", "x": "points"}),
    "Faces.among": row(
        on=Later(lambda: PART.value.faces),
        is_in=Later(lambda: np.ones(len(PART.value.faces.vertices), dtype=bool)),
        kinds={"is_in": "mask"},
    ),
    "Faces.of_regions": row(
        on=Later(lambda: PART.value.faces), words=Later(lambda: PART.value.codes.words), kinds={"words": "numbers"}
    ),
    "Budget": row(kinds={"regions": "natural", "memory": "count"}, regions=3, seconds=1.0, memory=10**6),
    "Budget.after": row(on=rs.Budget(regions=3), num_regions=2, kinds={"num_regions": "natural"}),
    "Budget.memory_or": row(on=rs.Budget(), otherwise=2**20, kinds={"otherwise": "natural"}),
    "Budget.room": row(on=rs.Budget(regions=3), num_regions=2, kinds={"num_regions": "natural"}),
    "Budget.first_is_due": row(on=rs.Budget(regions=3), num_regions=2, stop=None, kinds={"num_regions": "natural"}),
    "Budget.share_spent": row(
        on=rs.Budget(regions=3), num_regions=2, began=0.0, kinds={"num_regions": "natural", "began": "number"}
    ),
    "Budget.spent": row(
        on=rs.Budget(regions=3), num_regions=2, began=0.0, kinds={"num_regions": "whole", "began": "number"}
    ),
    "Certificate.witness": row(on=_CERTIFICATE, region=0, kinds={"region": "index"}),
    "Certificate.save": row(on=_CERTIFICATE, path=FOLDER / "certificate.json", kinds={"path": "write"}),
    "Certificate.load": row(
        path=Later(lambda: (_CERTIFICATE.value.save(FOLDER / "c.json"), FOLDER / "c.json")[1]), kinds={"path": "read"}
    ),
    "Finding.from_dict": row(plain={"name": "regions", "value": 3, "claim": "EXACT"}, kinds={"plain": "ours"}),
    "Findings.from_dict": row(plain=Later(lambda: _FINDINGS.value.to_dict()), kinds={"plain": "ours"}),
    "Findings.joined": row(parts=Later(lambda: [_FINDINGS.value]), kinds={"parts": "each ours"}),
    "Findings.finding": row(on=_FINDINGS, name="num_classes", row=0, kinds={"name": "option", "row": "index"}),
    "Findings.mean": row(on=_FINDINGS, name="num_classes", kinds={"name": "option"}),
    "Findings.median": row(on=_FINDINGS, name="num_classes", kinds={"name": "option"}),
    "Findings.quantile": row(on=_FINDINGS, name="num_classes", level=0.25, kinds={"name": "option", "level": "share"}),
    "Findings.share": row(on=_FINDINGS, name="holds_decision_boundary", kinds={"name": "option"}),
    "Findings.share_exact": row(on=_FINDINGS, name="holds_decision_boundary", kinds={"name": "option"}),
    "Findings.total": row(on=_FINDINGS, name="num_classes", kinds={"name": "option"}),
    "Findings.where": row(on=_FINDINGS, sample=0),
    "Findings.groups": row(on=_FINDINGS, key="sample", kinds={"key": "option"}),
    "Findings.beside": row(on=_FINDINGS),
    "Findings.rows": row(on=_FINDINGS, which=[0], kinds={"which": "rows"}),
    "Findings.__getitem__": row(on=_FINDINGS, name="num_classes", kinds={"name": "option"}),
    "GateLayout": row(name="relu", num_units=3, num_pieces=2, kinds={"num_units": "natural", "num_pieces": "count"}),
    "CodeLayout": row(gates=(rs.GateLayout("relu", 3),), kinds={"gates": "each ours"}),
    "CodeLayout.words": row(on=CODES.layout, gate=0, kinds={"gate": "index"}),
    "CodeLayout.units": row(on=CODES.layout, gate=0, kinds={"gate": "index"}),
    "CodeLayout.positions": row(on=CODES.layout, names=[CODES.layout.gates[0].name], kinds={"names": "each option"}),
    "CodeLayout.locate_units": row(on=CODES.layout, units=np.array([0, 1]), kinds={"units": "rows"}),
    "CodeLayout.is_compatible": row(on=CODES.layout, other=CODES.layout),
    "Codes.from_pieces": row(
        pieces=[np.zeros((2, 3), int)],
        layout=rs.CodeLayout((rs.GateLayout("relu", 3),)),
        kinds={"pieces": "each classes_of_units", "layout": "ours", "num_codes": "natural"},
    ),
    "Codes.from_planes": row(
        planes=[np.zeros((2, 1), np.uint8)],
        layout=rs.CodeLayout((rs.GateLayout("relu", 3),)),
        kinds={"planes": "each planes", "layout": "ours", "num_codes": "natural"},
    ),
    "Codes.concatenate": row(parts=[CODES, CODES], kinds={"parts": "each ours"}),
    "Codes.__getitem__": row(on=CODES, index=0, kinds={"index": "rows"}),
    "Codes.of_gates": row(CODES.layout.gates[0].name, on=CODES),
    "Codes.unique": row(on=CODES),
    "Codes.distance": row(on=CODES, other=CODES, threshold=2, kinds={"other": "ours"}),
    "Network.approximation_error": row(on=NET, box=BOX),
    "Network.start": row(on=NET, x=NET.points(X), kinds={"x": "tensor"}),
    "Network.points": row(on=NET, x=X),
    "Network.__call__": row(on=NET, x=X),
    "Network.preactivations": row(on=NET, x=X),
    "Network.codes": row(on=NET, x=X),
    "Network.at": row(on=NET, x=X),
    "Evaluation.__getitem__": row(on=NET.at(X), rows=slice(0, 1), kinds={"rows": "ours"}),
    "Evaluation.blocks": row(on=NET.at(X), bytes_per_point=8, kinds={"bytes_per_point": "count", "memory": "count"}),
    "Network.linearize": row(on=NET, x=X, outputs=[0, -1]),
    "Network.unit_maps": row(on=NET, x=X),
    "Network.jvp": row(on=NET, x=X, v=X, kinds={"v": "points"}),
    "Network.vjp": row(on=NET, x=X, u=np.ones((1, NET.num_outputs)), kinds={"u": "array"}),
    "Network.local_operator": row(on=NET, x=X[0]),
    "Network.restrict": row(on=NET, domain=rs.Segment([0, 0], [1, 1])),
    "Network.with_decision": row(on=NET, decision="smallest", kinds={"decision": "option"}),
    "Network.to": row(on=NET, device="cpu"),
    "Network.with_parameters": row(
        on=Later(lambda: rs.load(MODEL, input_shape=(2,))), state=MODEL.state_dict(), kinds={"state": "mapping"}
    ),
    "Facets.flips_at": row(on=Later(lambda: PART.value.facets), facet=0, kinds={"facet": "index"}),
    "Partition.__getitem__": row(on=PART, index=0),
    "Partition.sample": row(on=PART, count=3, weights="volume", kinds={"weights": "option"}),
    "Partition.locate": row(on=PART, points=X, kinds={"points": "grid"}),
    "Partition.linearize": row(on=PART, rows=[0, 1], kinds={"rows": "rows"}),
    "Partition.require_complete": row(on=PART, purpose="this"),
    "Partition.to_pandas": row(on=PART, quantities="volume", kinds={"quantities": "option"}),
    "Partition.to_table": row(on=PART, quantities="volume", kinds={"quantities": "option"}),
    "Partition.save": row(on=PART, path=FOLDER / "part.arrow", kinds={"path": "write"}),
    "Partition.load": row(path=Later(_saved), network=NET, kinds={"path": "read"}),
    "StreamedPartition.take": row(on=STREAMED, rows=[0, 1], kinds={"rows": "rows"}),
    "StreamedPartition.locate": row(on=STREAMED, points=X, kinds={"points": "grid"}),
    "StreamedPartition.require_complete": row(on=STREAMED, purpose="this"),
    "StreamedPartition.load": row(path=Later(lambda: STREAMED.value.path), network=NET, kinds={"path": "read"}),
    "Plane": row(
        a=[0.0, 0],
        b=[1.0, 0],
        c=[0.0, 1],
        window=[[-1.0, -1.0], [1.0, 1.0]],
        kinds={"a": "vector", "b": "vector", "c": "vector", "window": "window"},
    ),
    "Polyhedron": row(
        A=[[1.0, 0], [0, 1]],
        b=[1.0, 1],
        C=[[1.0, 1]],
        d=[0.0],
        kinds={"A": "list", "b": "list", "C": "list", "d": "list"},
    ),
    "Polyhedron.contains": row(on=_TRIANGLE, x=X, kinds={"x": "points", "tolerance": "number"}),
    "Polyhedron.facets": row(on=_TRIANGLE, kinds={"tolerance": "nonnegative"}),
    "Polyhedron.facet_points": row(on=_TRIANGLE, kinds={"tolerance": "nonnegative"}),
    "Polyhedron.vertices": row(on=_TRIANGLE, kinds={"tolerance": "nonnegative"}),
    "Polyhedron.sample": row(on=_TRIANGLE, count=3),
    "Polyhedron.maximize": row(on=_TRIANGLE, c=[1.0, 0.0], kinds={"c": "vector"}),
    "Polyhedron.to_text": row(on=_TRIANGLE, form="cdd", kinds={"form": "option"}),
    "Polyhedron.from_text": row(text=_TRIANGLE.to_text(), kinds={"text": "text"}),
    "Polyhedron.intersect": row(on=_TRIANGLE, other=_TRIANGLE),
    "Segment": row(a=[0.0, 0], b=[1.0, 0], kinds={"a": "vector", "b": "vector"}),
    "Slice": row(
        origin=[0.0, 0],
        basis=[[1.0, 0.0]],
        window=rs.Box(-1, 1, dim=1),
        kinds={"origin": "vector", "basis": "array", "window": "ours"},
    ),
    "Slice.lift": row(on=rs.Segment([0, 0], [1, 1]), y=[[0.5]], kinds={"y": "points"}),
    "Slice.project": row(on=rs.Segment([0, 0], [1, 1]), x=X, kinds={"x": "points"}),
    "Slice.clip": row(on=rs.Segment([0, 0], [1, 1]), domain=BOX, kinds={"domain": "box"}),
    "Space": row(dim=2),
    "Norm": row(name="l2", weights=[1.0, 2.0], kinds={"name": "option", "weights": "each positive"}),
    "Tolerance": row(kinds={"resolution": "nonnegative", "rounding": "nonnegative"}),
    "Tracker": row(
        model=MODEL,
        data=X,
        file=FOLDER / "track.jsonl",
        labels=Y,
        input_shape=(2,),
        overwrite=True,
        kinds={
            "model": "ours",
            "data": "samples",
            "file": "write",
            "labels": "labels",
            "samples": "count",
            "segments": "natural",
            "segment_share": "share",
            "jacobians": "natural",
            "plane": "ours",
            "keep_weights": "flag",
            "sinks": "each function",
            "complexity_radius": "positive",
        },
    ),
    "Tracker.record": row(
        on=Later(lambda: rs.Tracker(MODEL, X, FOLDER / "record.jsonl", input_shape=(2,), overwrite=True)),
        epoch=1.0,
        kinds={"epoch": "number", "step": "natural"},
    ),
    "count": row(network=NET, domain=BOX, kinds={"checkpoint": "write"}),
    "image": row(network=NET, domain=BOX, outputs=[0], kinds={"outputs": "outputs"}),
    "inscribed_balls": row(network=NET, x=X, domain=BOX, kinds={"domain": "box"}),
    "decision_boundary": row(source=FLAT, kinds={"source": "ours"}),
    "confirm": row(part=FLAT),
    "coarse_partition": row(network=NET, domain=BOX, budget=rs.Budget(regions=50), kinds={"rounding": "option"}),
    "forecast": row(network=NET, domain=BOX, seconds=0.2),
    "window_within": row(network=NET, domain=BOX, budget=rs.Budget(regions=50)),
    "DecisionSurface.write": row(
        on=_CLASSES, path=FOLDER / "classes.ply", color="region", kinds={"path": "write", "color": "color"}
    ),
    "DecisionSurface.to_trimesh": row(on=_CLASSES, color="normal", kinds={"color": "color"}),
    "DecisionSurface.between": row(
        on=Later(lambda: rs.decision_boundary(NET, BOX)), first=0, second=1, kinds={"first": "whole", "second": "whole"}
    ),
    "LevelSet.save": row(on=_SURFACE, path=FOLDER / "surface.arrow", kinds={"path": "write"}),
    "LevelSet.load": row(
        path=Later(lambda: (_SURFACE.value.save(FOLDER / "s.arrow"), FOLDER / "s.arrow")[1]),
        network=NET,
        kinds={"path": "read"},
    ),
    "LevelSet.write": row(
        on=_SOLID, path=FOLDER / "surface.ply", color="region", kinds={"path": "write", "color": "color"}
    ),
    "LevelSet.to_trimesh": row(on=_SOLID, color="normal", kinds={"color": "color"}),
    "LevelSet.volume": row(on=_SURFACE, capped="below", kinds={"capped": "option"}),
    "LevelSet.volume_finding": row(on=_SURFACE, capped="above", kinds={"capped": "option"}),
    "level_set": row(
        network=NET,
        domain=BOX,
        kinds={"level": "number", "output": "index", "plateaus": "option", "checkpoint": "write"},
    ),
    "activations_at": row(model=_MLP, submodule="1", x=X, kinds={"model": "ours", "submodule": "part", "x": "batch"}),
    "load": row(
        model=LAYERS,
        kinds={"model": "model", "data": "samples", **_LOAD, "decision": "option", "approximate": "mapping"},
        input_shape=(2,),
        data=X,
        submodule=None,
        at=None,
        output=None,
        inputs=None,
        approximate={"gelu": 8},
        decision="smallest",
    ),
    "as_program": row(network=NET, domain=BOX, inputs=["a", "b"], outputs=None, kinds={"inputs": "ours"}),
    "compose": row(steps=[NET], kinds={"steps": "ours"}),
    "difference": row(f=NET, g=NET, kinds={"f": "network", "g": "network"}),
    "lipschitz": row(network=NET, domain=BOX),
    "maximize": row(network=NET, domain=BOX, direction=np.array([1.0, -1.0]), kinds={"direction": "vector"}),
    "neighbors": row(network=NET, x=X[0], kinds={"x": "samples"}),
    "certify": row(part=PART),
    "partition": row(network=NET, domain=BOX, kinds={"rounding": "option"}),
    "partitions": row(network=NET, domains=[BOX], kinds={"domains": "each domain", "rounding": "option"}),
    "stack": row(networks=[NET, NET], kinds={"networks": "ours"}),
    "stream": row(
        network=NET, domain=BOX, path=FOLDER / "streamed.parquet", kinds={"path": "write", "rounding": "option"}
    ),
    "polyline": row(points=X, kinds={"points": "array"}),
    "reach": row(
        network=NET, plant=PLANT, start=BOX, steps=1, kinds={"plant": "ours", "start": "domain", "steps": "natural"}
    ),
    "region": row(network=NET, x=X[0]),
    "declare_region_quantity": row(quantity=_SIZE, needs=("corners",), kinds={"quantity": "ours"}),
    "measure_regions": row(part=PART, quantities="volume", kinds={"quantities": "option"}),
    "region_volumes": row(part=PART, num_samples=10, kinds={"confidence": "open share"}),
    "regions": row(network=NET, x=X, kinds={"missing": "option"}),
    "verify": row(network=NET, safe=SAFE, split="inputs", kinds={"safe": "ours", "split": "option"}),
    "violations": row(network=NET, safe=SAFE, kinds={"safe": "ours"}),
    "explore": row(
        network=NET,
        data=X,
        labels=Y,
        class_names=["a", "b"],
        kinds={"data": "samples", "labels": "targets", "class_names": "texts", "tracker": "read", "train": "ours"},
    ),
    "Explorer.serve": row(
        on=Later(lambda: rs.explore(NET)),
        open_browser=False,
        kinds={"port": "range whole 0 65535", "open_browser": "flag"},
    ),
    "Explorer.snapshot": row(on=Later(lambda: rs.explore(NET)), path=FOLDER / "plane.html", kinds={"path": "write"}),
}
