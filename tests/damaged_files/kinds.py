"""Every kind of file that the package reads back or takes from strangers: how one is made, read, and used."""

import contextlib
import gzip
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import torch

import reluscope as rs
from reluscope.analyses.verification.claimed import read_counterexample
from reluscope.cli.properties.reach_command import read_plant
from reluscope.cli.reading.models import read_weights
from reluscope.cli.studies.study_records import open_records
from reluscope.datasets.dataset import dataset_of
from reluscope.datasets.mnist import read_idx
from reluscope.datasets.opened_data import open_dataset
from reluscope.files.kept_results import Record
from reluscope.files.sealed_files import UNSEALED
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.report import KeptSections, Subject
from reluscope.report.parts.document import SectionResult
from reluscope.testing import default_network

SQUARE, CUBE = rs.Box(-1, 1, 2), rs.Box(-1, 1, 3)
NET, SOLID = from_arrays(default_network([2, 4, 3, 1], seed=1)), from_arrays(default_network([3, 5, 1], seed=3))
UNSAFE = rs.verification.Property([rs.verification.Case(-np.ones(2), np.ones(2), [rs.Polyhedron([[-1.0]], [0.0])])])


def partition(folder, net=NET, domain=SQUARE, **options):
    path = folder / "part.arrow"
    rs.partition(net, domain, **options).save(path)

    def read():
        part = rs.Partition.load(path, network=net)
        return len(part), part.facets, part.locate(np.zeros((1, net.num_inputs)))

    return [path], read


def solid_partition(folder):
    return partition(folder, SOLID, CUBE, method="cellwise")


def listed_partition(folder):
    return partition(folder, SOLID, CUBE, method="tree")


def streamed_partition(folder):
    path = folder / "part.parquet"
    rs.stream(NET, SQUARE, path)

    def read():
        part = rs.StreamedPartition.load(path, network=NET)
        return [len(rows) for rows in part.blocks()], part.locate(np.zeros((1, 2)))

    return [path], read


def certificate(folder):
    found = rs.certify(rs.partition(NET, SQUARE)).certificate
    found.save(folder / "certificate.json")
    return [folder / "certificate.json"], lambda: type(found).load(folder / "certificate.json")


def level_set(folder):
    path = folder / "level.arrow"
    rs.level_set(SOLID, CUBE).save(path)

    def read():
        found = rs.LevelSet.load(path, network=SOLID)
        return len(found), found.findings()

    return [path], read


def image(folder):
    path = folder / "image.arrow"
    rs.image(NET, SQUARE).save(path)
    return [path], lambda: rs.reachability.Image.load(path).to_table()


def reachable_sets(folder):
    path, net = folder / "sets.arrow", rs.load(default_network([2, 5, 1], seed=2))
    plant = rs.reachability.Plant([[1.0, 0.1], [0.0, 1.0]], [[0.0], [0.5]])
    first = rs.Segment([-1.0, -1.0], [1.0, 0.5])
    rs.reach(net, plant, first, 3, budget=rs.Budget(regions=4)).save(path)
    return [path], lambda: rs.reachability.ReachableSets.load(path).to_table()


def violations(folder):
    path = folder / "violations.arrow"
    rs.violations(NET, UNSAFE).save(path)
    return [path], lambda: rs.verification.Violations.load(path).to_table()


def preimage_of_property(folder):
    path = folder / "unsafe.arrow"
    found = rs.preimages.of(NET, rs.Polyhedron([[-1.0]], [0.0]), domain=SQUARE, method="boxes")
    found.save(path)
    return [path], lambda: type(found).load(path).to_table()


def proof(folder):
    net = from_arrays(default_network([2, 5, 1], seed=1))
    far = rs.Polyhedron([[-1.0]], [-float(np.abs(net(np.zeros((1, 2))).numpy()).max()) - 9.0])
    safe = rs.verification.Property([rs.verification.Case(-np.ones(2), np.ones(2), [far])])
    path, found = folder / "holds.proof", rs.verify(net, safe, certify=True)
    found.proof.save(path)

    def read():
        again = rs.verification.Proof.load(path)
        with contextlib.suppress(rs.errors.CertificateError):
            rs.testing.check_proof(again, net, safe)

    return [path], read


def tracked_run(folder):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    with rs.Tracker(model, np.eye(2), folder / "run.parquet") as tracker:
        tracker.record(epoch=0, loss=0.5, remark=f"a remark, {UNSEALED[:-1]}1")
    return [folder / "run.parquet"], lambda: rs.tracking.read_records(folder / "run.parquet").rows


def kept_weights(folder):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    with rs.Tracker(model, np.eye(2), folder / "run.parquet", keep_weights=True) as tracker:
        tracker.record(epoch=0)
    records = rs.tracking.read_records(folder / "run.parquet")
    (path,), net = (folder / "run.weights").iterdir(), rs.load(model)
    return [path], lambda: records.network(0, net)


def checkpoint(folder):
    net = from_arrays(default_network([8, 8, 6, 1], seed=1))

    def count():
        return tree_count(net, rs.Box(-1, 1, 8), checkpoint=folder / "counted")

    whole = count().num_found
    assert whole == count().num_found
    return [*sorted((folder / "counted").glob("*.npz"))[::40], folder / "counted" / "key.json"], count


def level_checkpoint(folder):
    def find():
        return rs.level_set(SOLID, CUBE, checkpoint=folder / "level")

    find()
    return sorted((folder / "level").iterdir()), find


def coefficients(folder):
    matrices = rs.coefficients.matrix(NET, np.eye(2), checkpoint=folder / "kept")
    for _ in matrices.blocks():
        pass
    return sorted((folder / "kept").iterdir()), lambda: list(
        rs.coefficients.matrix(NET, np.eye(2), checkpoint=folder / "kept").blocks()
    )


def measured_samples(folder):
    net = from_arrays(default_network([2, 4, 2], seed=1))

    def measure():
        return rs.robustness.decision_distance(net, np.eye(2), norm="l2", checkpoint=folder / "rows")

    measure()
    return sorted((folder / "rows").iterdir()), measure


def unfinished_report(folder):
    subject = Subject(rs.load([(np.eye(2), np.zeros(2))]), dataset_of(np.eye(2)), "net")
    KeptSections(folder, subject)["a"] = SectionResult("a", "A", "done")
    return sorted((folder / ".unfinished").iterdir()), lambda: KeptSections(folder, subject, resume=True)


def study_records(folder):
    open_records(folder / "records", {"seed": "0"})["a"] = Record({"regions": 5}, {"W": np.arange(6.0)})
    return sorted((folder / "records").iterdir()), lambda: open_records(folder / "records", {"seed": "0"}, resume=True)


def verified_property(folder):
    def verify():
        return rs.verification.verify_each(NET, [UNSAFE], folder / "rows").to_pylist()

    verify()
    return sorted((folder / "rows").iterdir()), verify


SEALED = [
    *(partition, solid_partition, listed_partition, streamed_partition, certificate, level_set, image),
    *(reachable_sets, violations, preimage_of_property, proof, tracked_run, kept_weights, checkpoint),
    *(level_checkpoint, coefficients, measured_samples, unfinished_report, study_records, verified_property),
]


def _data(folder, name, write):
    write(folder / name)
    return [folder / name], lambda: open_dataset(folder / name)


def table_of_data(folder):
    table = pa.table({"x0": [0.5, 1.5], "x1": [1, 2], "label": [0, 1]})
    return _data(folder, "data.parquet", lambda path: pyarrow.parquet.write_table(table, path))


def lists_of_data(folder):
    table = pa.table({"x": [[0.5, 1.5], [1.0, 2.0]], "label": [0, 1]})
    return _data(folder, "data.parquet", lambda path: pyarrow.parquet.write_table(table, path))


def text_of_data(folder):
    return _data(folder, "data.csv", lambda path: path.write_text("x0,x1,label\n0.5,1,0\n1.5,2,1\n", encoding="utf-8"))


def array_of_data(folder):
    return _data(folder, "data.npy", lambda path: np.save(path, np.arange(6.0).reshape(3, 2)))


def arrays_of_data(folder):
    return _data(folder, "data.npz", lambda path: np.savez(path, x=np.eye(3), y=np.arange(3)))


def bytes_of_data(folder):
    path = folder / "images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(b"\0\0\x08\x03" + struct.pack(">3I", 2, 3, 3) + bytes(18), mtime=0))
    plain = folder / "images-idx3-ubyte"
    plain.write_bytes(b"\0\0\x08\x03" + struct.pack(">3I", 2, 3, 3) + bytes(18))
    return [path, plain], lambda: (read_idx(path), read_idx(plain))


def onnx_model(folder):
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    path = folder / "net.onnx"
    with torch.no_grad():
        torch.onnx.export(net, (torch.zeros(1, 1, 3, 3),), str(path), dynamo=False)
    return [path], lambda: rs.load(path)


def exported_program(folder):
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    path = folder / "net.pt2"
    torch.export.save(torch.export.export(net, (torch.zeros(1, 2),)), path)
    return [path], lambda: rs.load(path)


def safe_tensors(folder):
    from safetensors.torch import save_file

    path = folder / "net.safetensors"
    save_file({"W": torch.eye(2), "b": torch.zeros(2)}, path)
    return [path], lambda: read_weights(path)


def state_dict(folder):
    path = folder / "net.pt"
    torch.save({"W": torch.eye(2), "b": torch.zeros(2)}, path)
    return [path], lambda: read_weights(path)


def vnnlib(folder):
    path = folder / "safe.vnnlib"
    path.write_text(
        "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= X_0 0.5))\n(assert (>= X_0 -1e-3))\n"
        "(assert (or (and (>= Y_0 3.25)) (and (<= Y_0 -2))))\n",
        encoding="utf-8",
    )
    return [path], lambda: rs.verification.read_property(path)


def counterexample(folder):
    path = folder / "found.txt"
    path.write_text("sat\n((X_0 0.5)\n (X_1 -1)\n (Y_0 2.5))\n", encoding="utf-8")
    return [path], lambda: read_counterexample(path)


def plant(folder):
    path = folder / "plant.json"
    path.write_text('{"A": [[1.0, 0.1], [0.0, 1.0]], "B": [[0.0], [0.5]], "c": [0.0, 0.25]}', encoding="utf-8")
    return [path], lambda: read_plant(path)


def _text(folder, kind):
    square = rs.Polyhedron(np.vstack([np.eye(2), -np.eye(2)]), np.array([1.0, 1.0, 0.5, 0.25]))
    path = folder / f"square.{kind}"
    path.write_text(square.to_text(kind), encoding="utf-8")
    return [path], lambda: rs.Polyhedron.from_text(path.read_bytes().decode(errors="replace"))


def cdd(folder):
    return _text(folder, "cdd")


def polymake(folder):
    return _text(folder, "polymake")


def sage(folder):
    return _text(folder, "sage")


def mps(folder):
    return _text(folder, "mps")


STRANGERS = [
    *(table_of_data, lists_of_data, text_of_data, array_of_data, arrays_of_data, bytes_of_data, onnx_model),
    *(exported_program, safe_tensors, state_dict, vnnlib, counterexample, plant, cdd, polymake, sage, mps),
]
KINDS = {kind.__name__: kind for kind in (*SEALED, *STRANGERS)}
