"""Files that were changed and sealed again: what they hold is checked, and one sentence says that it is wrong."""

import shutil
from functools import partial

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.analyses.tracking.record_files import read_rows, write_rows
from reluscope.errors import InputError
from reluscope.files.kept_results import KeptResults, Record
from reluscope.files.named_arrays import load_arrays, save_arrays
from reluscope.files.sealed_files import read_sealed_json, to_sealed_json
from reluscope.partitions import Partition
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.testing import default_network

REFUSED = r"is not a .* as this version of reluscope writes it, or it is damaged"


def put(name, index, value):
    """Change entries of an array."""

    def change(arrays, described):
        changed = arrays[name].copy()
        changed[index] = value
        arrays[name] = changed

    return change


def shaped(name, change):
    def put_shaped(arrays, described):
        arrays[name] = np.ascontiguousarray(change(arrays[name]))

    return put_shaped


def said(name, value):
    def say(arrays, described):
        described[name] = value

    return say


def gone(name):
    def remove(arrays, described):
        (arrays if name in arrays else described).pop(name)

    return remove


EVERY = {
    "no words": gone("words"),
    "words too wide": shaped("words", lambda words: np.tile(words, (1, 2))),
    "words of another kind": shaped("words", lambda words: words.astype(np.int64)),
    "words of another order": shaped("words", lambda words: words.astype(">u8")),
    "fewer words": shaped("words", lambda words: words[:-1]),
    "a code twice": shaped("words", lambda words: words[np.r_[1, 1 : len(words)]]),
    "a bit beside the units": put("words", (0, 0), 2**63),
    "no gates": gone("gates"),
    "gates that are none": said("gates", [["relu", 7]]),
    "a gate of a fraction": said("gates", [["relu", 7.5, 2]]),
    "a gate of 1e30 units": said("gates", [["relu", 10**30, 2]]),
    "no claim": said("claim", "SURE"),
    "a claim too strong": said("num_undecided", 3),
    "a claim too weak": said("claim", "LOWER"),
    "a negative number": said("num_open", -1),
    "half a number": said("num_undecided", 0.5),
    "a truth for a number": said("num_pending", False),
    "a number of 10**400": said("num_pending", 10**400),
    "certified by a word": said("certified", "yes"),
    "a tolerance that is none": said("tolerance", {"resolution": "fine"}),
    "a tolerance of nothing": said("tolerance", {"resolution": float("nan"), "rounding": 1.0}),
    "a stop that is none": said("stop", ["<b>"]),
    "a reason that is none": said("stop", {"reason": "<b>", "limit": None, "details": ""}),
    "a limit that is none": said("stop", {"reason": "regions", "limit": None, "details": ""}),
    "work that is none": said("work", {"seconds": "long"}),
    "no fingerprint": gone("fingerprint"),
    "a geometry of its own": said("geometry", "sphere"),
    "no domain": gone("domain.lo"),
    "a domain beyond floats": put("domain.hi", 0, np.inf),
    "a domain without inside": put("domain.hi", 0, -9.0),
    "a domain of another dimension": shaped("domain.lo", lambda low: np.tile(low, 2)),
}
MOSAIC = {
    "no vertices": gone("vertices"),
    "a vertex that is nowhere": put("vertices", (3, 1), np.nan),
    "vertices in space": shaped("vertices", lambda points: np.hstack([points, points])),
    "vertices in single precision": shaped("vertices", lambda points: points.astype(np.float32)),
    "an id too large": put("ids", 2, 10**6),
    "a negative id": put("ids", 2, -1),
    "ids of fractions": shaped("ids", lambda ids: ids.astype(float)),
    "offsets that fall": put("offsets", 2, 0),
    "offsets beyond the end": put("offsets", -1, 10**6),
    "a first offset": put("offsets", 0, 1),
    "fewer offsets": shaped("offsets", lambda offsets: offsets[:-1]),
    "a facet's end too large": put("ends", (0, 0), 10**6),
    "facets of three ends": shaped("ends", lambda ends: np.hstack([ends, ends[:, :1]])),
    "a left region too large": put("left", 0, 10**6),
    "no left region": put("left", 0, -1),
    "a right region too low": put("right", 0, -2),
    "fewer right regions": shaped("right", lambda right: right[1:]),
    "roots elsewhere": put("roots", 0, 7),
    "unmatched seams that are none": said("num_unmatched", "many"),
}
SOLID = {
    "a witness that is nowhere": put("witnesses", (0, 0), np.inf),
    "fewer witnesses": shaped("witnesses", lambda points: points[1:]),
    "witnesses of another dimension": shaped("witnesses", lambda points: points[:, 1:]),
    "bounded by numbers": shaped("is_bounded", lambda flags: flags.astype(np.int8)),
    "a neighbour too large": put("right", 0, 10**6),
    "a negative neighbour": put("left", 0, -1),
    "fewer neighbours": shaped("left", lambda left: left[1:]),
    "a cell of no region": put("regions", 0, 10**6),
    "a region without cells": put("regions", 0, 1),
    "cells without end": put("cell_offsets", -1, 10**6),
    "a vertex that is nowhere": put("cell_vertices", (0, 0), np.nan),
    "a vertex behind infinity": put("cell_vertices", (0, 3), -1.0),
    "flat vertices": shaped("cell_vertices", lambda points: points[:, 1:]),
}
LISTED = {
    name: SOLID[name] for name in ("a witness that is nowhere", "fewer witnesses", "witnesses of another dimension")
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("parts"), {}
    for kind, inputs, options in (
        ("mosaic", 2, {}),
        ("solid", 3, {"method": "cellwise"}),
        ("listed", 3, {"method": "tree"}),
    ):
        net = rs.load(default_network([inputs, 7, 1], seed=3))
        found[kind] = folder / kind, net
        rs.partition(net, rs.Box(-1, 1, inputs), **options).save(folder / kind)
    return found


CASES = [
    (kind, name, change)
    for kind, own in (("mosaic", MOSAIC), ("solid", SOLID), ("listed", LISTED))
    for name, change in {**EVERY, **own}.items()
]


@pytest.mark.parametrize("with_network", [False, True])
@pytest.mark.parametrize(("kind", "change"), [(k, c) for k, _, c in CASES], ids=[f"{k}: {n}" for k, n, _ in CASES])
def test_a_forged_partition(kind, change, with_network, parts, tmp_path):
    source, net = parts[kind]
    arrays, described = load_arrays(source, "partition")
    change(arrays, described)
    described.pop("format")
    save_arrays(tmp_path / "forged", arrays, described)
    with pytest.raises(InputError, match=f"{REFUSED}|of another network"):
        Partition.load(tmp_path / "forged", network=net if with_network else None)


def test_a_partition_of_another_layout_is_refused(parts, tmp_path):
    source, net = parts["mosaic"]
    arrays, described = load_arrays(source, "partition")
    described |= {"gates": [["another", 7, 2]]}
    described.pop("format")
    save_arrays(tmp_path / "forged", arrays, described)
    assert len(Partition.load(tmp_path / "forged")) == len(Partition.load(source))
    with pytest.raises(InputError, match=REFUSED):
        Partition.load(tmp_path / "forged", network=net)


def corners(value):
    return lambda plain: plain["corners"][0].__setitem__(0, value)


@pytest.mark.parametrize(
    "change",
    [
        corners(10**6),
        corners(-1),
        corners(0.5),
        corners("0"),
        corners(True),
        lambda plain: plain["corners"].pop(),
        lambda plain: plain["corners"][0].clear(),
        lambda plain: plain["codes"][0][0].pop(),
        lambda plain: plain["codes"][0].pop(),
        lambda plain: plain["codes"][0][0].__setitem__(0, 0.5),
        lambda plain: plain["codes"][0][0].__setitem__(0, -1),
        lambda plain: plain["vertices"][0].pop(),
        lambda plain: plain["vertices"][0].__setitem__(0, "1/0"),
        lambda plain: plain["vertices"][0].__setitem__(0, "nan"),
        lambda plain: plain["vertices"][0].__setitem__(0, 3),
        lambda plain: plain["half_spaces"][0].pop(),
        lambda plain: plain["half_spaces"].clear() or plain["vertices"].clear(),
        lambda plain: plain.update(lift=[["0/1"]]),
        lambda plain: plain.update(fingerprint=7),
        lambda plain: plain.update(more=1),
        lambda plain: plain.update(codes=7),
    ],
)
def test_a_forged_certificate(change, tmp_path):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    path = tmp_path / "certificate"
    rs.certify(rs.partition(net, rs.Box(-1, 1, 2))).certificate.save(path)
    assert rs.testing.check_certificate(Certificate.load(path), net) == 4
    plain = read_sealed_json(path, "", "")
    change(plain)
    path.write_text(to_sealed_json(plain), encoding="utf-8")
    with pytest.raises(InputError, match=REFUSED):
        Certificate.load(path)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    net, box = rs.load(default_network([4, 9, 5, 1], seed=2)), rs.Box(-1, 1, 4)
    folder = tmp_path_factory.mktemp("kept") / "count"
    tree_count(net, box, checkpoint=folder)
    return folder, net, box


@pytest.mark.parametrize(
    "change",
    [
        lambda kept, name: kept.update({name: Record({"undecided": 0})}),
        lambda kept, name: kept.update({name: Record({"regions": -4, "undecided": 0})}),
        lambda kept, name: kept.update({name: Record({"regions": 0, "undecided": 0})}),
        lambda kept, name: kept.update({name: Record({"regions": 2.5, "undecided": 0})}),
        lambda kept, name: kept.update({name: Record({"regions": 3, "undecided": "none"})}),
        lambda kept, name: kept.update({name: Record([])}),
        lambda kept, name: kept.update({"9999": kept[name]}),
        lambda kept, name: kept.update({"-001": kept[name]}),
        lambda kept, name: kept.update({"first": kept[name]}),
        lambda kept, name: kept.update({f"0{name}": kept[name]}),
    ],
)
def test_a_forged_checkpoint(change, checkpoint, tmp_path):
    whole, net, box = checkpoint
    shutil.copytree(whole, tmp_path / "count")
    key = read_sealed_json(tmp_path / "count" / "key.json", "", "")
    kept = KeptResults(tmp_path / "count", {name: value for name, value in key.items() if name != "format"})
    change(kept, next(iter(kept)))
    with pytest.raises(InputError, match=REFUSED):
        tree_count(net, box, checkpoint=tmp_path / "count")


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"values": np.zeros((1, 3, 2))},
        {"values": np.zeros((1, 3, 3), dtype=np.float32)},
        {"values": np.full((1, 3, 3), np.nan)},
        {"values": np.zeros((2, 3, 3))},
        {"values": np.zeros((1, 9, 3))},
        {"values": np.zeros(9)},
    ],
)
def test_forged_coefficients(arrays, tmp_path):
    net, points = rs.load(default_network([2, 5, 1], seed=2)), np.eye(3, 2)
    list(rs.coefficients.matrix(net, points, checkpoint=tmp_path / "kept").blocks())
    key = read_sealed_json(tmp_path / "kept" / "key.json", "", "")
    kept = KeptResults(tmp_path / "kept", {name: value for name, value in key.items() if name != "format"})
    kept[next(iter(kept))] = Record({}, arrays)
    with pytest.raises(InputError, match=REFUSED):
        list(rs.coefficients.matrix(net, points, checkpoint=tmp_path / "kept").blocks())


ROWS = {
    "another number": {"record": 5},
    "no epoch": {"epoch": None},
    "an epoch that is none": {"epoch": float("nan")},
    "other samples": {"num_samples": 3},
    "negative seconds": {"seconds": -1.0},
    "a claim that is none": {"accuracy_claim": "SURE"},
    "a claim of nothing": {"accuracy": None},
    "not a number": {"cross_entropy": float("nan")},
    "an interval upside down": {"accuracy_interval": [1.0, 0.0]},
    "an interval of three": {"accuracy_interval": [0.0, 1.0, 2.0]},
    "fewer gates": {"distinct_codes_by_gate": [3]},
    "no gates": {"distinct_codes_by_gate": None},
    "a path": {"partition": "../../../etc/record-00000.arrow"},
    "a path up": {"partition": "../record-00000.arrow"},
    "an absolute path": {"partition": "/etc/passwd"},
    "short codes": {"codes": b"123"},
    "no doubts": {"doubtful": None},
    "bits beside the units": {"codes": b"\xff" * 8 * 20},
}
SETTINGS = {
    "no gates": {"gates": None},
    "a gate of a fraction": {"gates": [["relu", "relu", 2.5, 2]] * 2},
    "samples of words": {"samples": ["a"] * 10},
    "samples of nothing": {"samples": 7},
    "segments elsewhere": {"segments": [[0, 99]] * 4},
    "segments of one": {"segments": [[0]] * 4},
    "jacobians elsewhere": {"jacobians": [-1]},
    "a share that is none": {"segment_share": "half"},
    "a plane that is none": {"plane": 7},
}
FORGED = [("row", name, change) for name, change in ROWS.items()]
FORGED += [("settings", name, change) for name, change in SETTINGS.items()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A file of one record, and what opens a tracker that goes on with such a file."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)]
    points, path = np.random.default_rng(0).normal(size=(10, 2)), tmp_path_factory.mktemp("run") / "run.parquet"
    open_tracker = partial(rs.Tracker, torch.nn.Sequential(*layers), points, labels=np.arange(10) % 2)
    with open_tracker(path) as tracker:
        tracker.record()
    return path, open_tracker


@pytest.mark.parametrize(("where", "change"), [(w, c) for w, _, c in FORGED], ids=[f"{w}: {n}" for w, n, _ in FORGED])
def test_forged_records(where, change, run, tmp_path):
    whole, open_tracker = run
    path = tmp_path / "run.parquet"
    rows, settings = read_rows(whole)
    if where == "row":
        rows = [{**rows[0], **change}]
    else:
        settings = {**settings, **change}
    write_rows(path, rows, settings)
    if "codes" in change or "doubtful" in change:  # those are read with the model
        with pytest.raises(InputError, match=REFUSED), open_tracker(path):
            pass
    else:
        with pytest.raises(InputError, match=REFUSED):
            rs.tracking.read_records(path)
