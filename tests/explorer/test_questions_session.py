"""What a session does from question to question: versions, budgets, cancelling, samples, trainings."""

from collections import OrderedDict

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from explorer.asking import ask, home, network, picture, polygon_areas, refused, session
from reluscope.analyses.local import pgd
from reluscope.analyses.tracking import tracker
from reluscope.datasets.dataset import dataset_of
from reluscope.explorer.questions import fitting
from reluscope.explorer.questions.known_questions import QUESTIONS
from reluscope.explorer.scene import session as sessions
from reluscope.explorer.scene.session import Session
from reluscope.partitions.complexes import incidence

LARGE = (6, 40, 40, 40, 4)


def test_versions_grow_and_old_pictures_are_let_go(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_VIEWS", 2)
    asked = session()
    versions = [picture(asked, 0.1 * 0.9**step)[0].header["version"] for step in range(3)]
    assert versions == sorted(set(versions))
    assert ask(asked, {"ask": "region", "version": versions[-1], "row": 0}).header["row"] == 0
    kind, message = refused(asked, {"ask": "region", "version": versions[0], "row": 0})
    assert kind == "gone"
    assert message == f"picture {versions[0]} is no longer kept: ask for the plane again"


def test_the_same_picture_is_not_partitioned_twice(monkeypatch):
    from reluscope.explorer.questions import plane_partition as partitioning

    asked = session()
    first, _ = picture(asked, 0.5)
    monkeypatch.setattr(partitioning, "partition_of", None)
    again, _ = picture(asked, 0.5, budget={"regions": 10_000})
    assert again.header["version"] > first.header["version"]
    assert again.header["plane_id"] == first.header["plane_id"]
    np.testing.assert_array_equal(again.arrays["corners"], first.arrays["corners"])


def test_planes_have_numbers_of_their_own():
    asked = session()
    anchors, _ = home(asked)
    other = [*anchors[:2], {"kind": "random", "seed": 1}]
    ids = [
        ask(asked, {"ask": "partition", "anchors": three}).header["plane_id"]
        for three in (anchors, other, anchors, None)
    ]
    assert ids[0] == ids[2] == ids[3] != ids[1]


def test_a_budget_leaves_a_lower_bound_and_what_is_known():
    asked = session(LARGE)
    _, window = home(asked)
    found = ask(asked, {"ask": "partition", "window": window, "budget": {"regions": 400}})
    header = found.header
    assert header["num_open"] > 0
    assert header["num_regions"]["claim"] == "LOWER"
    assert header["num_regions"]["upper"] is None
    assert header["note"].startswith("budget of 400 regions")
    areas = polygon_areas(found.arrays["corners"], found.arrays["piece_offsets"])
    assert 0 < areas.sum() < 4 * window["reach"][0] / window["reach"][1]
    assert header["num_regions"]["value"] >= len(found.arrays["region_area"]) >= 400
    # What is there can be asked about.
    version = header["version"]
    assert ask(asked, {"ask": "region", "version": version, "row": 7}).header["num_sides"] >= 3
    groups = ask(asked, {"ask": "values", "version": version, "of": "prefix", "gates": 1}).header["num_groups"]
    assert groups["claim"] == "LOWER"


def test_cancelling_keeps_what_was_found(monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 64)
    asked = session(LARGE, budget=rs.Budget(regions=10**6, seconds=60))
    _, window = home(asked)
    told = []

    def progress(share, regions):
        told.append((share, regions))

    found = ask(
        asked,
        {"ask": "partition", "window": window},
        progress=progress,
        cancelled=lambda: bool(told) and told[-1][1] > 300,
    )
    assert found.header["note"] == "cancelled"
    assert found.header["num_regions"]["claim"] == "LOWER"
    assert len(found.arrays["region_area"]) > 300
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] < 1
    # The next one is whole.
    small = {"center": window["center"], "reach": [side * 0.05 for side in window["reach"]]}
    assert ask(asked, {"ask": "partition", "window": small}).header["num_regions"]["claim"] == "EXACT"


def test_cancelling_at_once_is_an_empty_picture():
    asked = session(LARGE)
    _, window = home(asked)
    found = ask(asked, {"ask": "partition", "window": window}, cancelled=lambda: True)
    assert found.header["num_regions"]["claim"] == "LOWER"
    assert len(found.arrays["region_area"]) == 0 == len(found.arrays["corners"])
    kind, message = refused(asked, {"ask": "region", "version": found.header["version"], "row": 0})
    assert (kind, message) == ("input", "there are no regions in this picture: ask for the plane again")
    version = found.header["version"]
    for of in ("norm", "inradius"):
        assert len(ask(asked, {"ask": "values", "version": version, "of": of}).arrays["values"]) == 0
    assert (
        ask(asked, {"ask": "values", "version": version, "of": "prefix", "gates": 1}).header["num_groups"]["value"] == 0
    )
    located = ask(asked, {"ask": "locate", "version": version, "points": [[0, 0]]}).arrays
    assert (located["rows"].tolist(), located["classes"].tolist()) == ([-1], [-1])
    assert ask(asked, {"ask": "export", "version": version, "as": "parquet"}).arrays["bytes"].size
    segment = ask(asked, {"ask": "segment", "version": version, "ends": [[0, 0], [0.5, 0.5]]})
    assert (segment.arrays["rows"] == -1).all()


@pytest.mark.slow
def test_a_window_that_takes_too_long_is_made_smaller_until_it_fits():
    asked = session(LARGE, budget=rs.Budget(regions=700, seconds=60))
    found = ask(asked, {"ask": "partition"})
    header = found.header
    assert header["num_regions"]["claim"] == "EXACT"
    assert header["window"]["center"] == header["home"]["center"]
    assert header["window"]["reach"][0] < header["home"]["reach"][0]
    assert header["note"].startswith("the whole window takes longer (budget of 700 regions")
    whole = ask(asked, {"ask": "partition", "fit": False})
    assert whole.header["num_regions"]["claim"] == "LOWER"
    assert whole.header["window"] == header["home"]
    # And it does not stand for the whole window later.
    assert ask(asked, {"ask": "partition", "window": header["home"]}).header["window"] == header["home"]


def test_a_window_that_is_hopeless_is_made_as_small_as_it_must_be(monkeypatch):
    """After the first moment it is plain; the largest window that comes to its end is shown, and it is exact."""
    monkeypatch.setattr(fitting, "TRIED", 0.05)
    asked = session((4, 60, 60, 60, 3), seed=3, budget=rs.Budget(regions=200, seconds=30))
    found = ask(asked, {"ask": "partition"})
    whole = ask(asked, {"ask": "hello"}).header["home"]["window"]
    assert found.header["num_open"] == 0
    assert 50 < found.header["num_regions"]["value"] <= 200
    assert "the part around its centre" in found.header["note"]
    shrunk = np.array(found.header["window"]["reach"]) / np.array(whole["reach"])
    assert shrunk[0] == pytest.approx(shrunk[1])
    assert shrunk[0] < 0.5
    assert found.header["window"]["center"] == whole["center"]
    part = asked.views[found.header["version"]].part
    assert len(rs.partition(asked.network, part.domain)) == len(part)


def test_where_a_window_is_not_finished_lines_are_those_of_the_first_gates():
    asked = session((4, 20, 20, 20, 3), seed=3)
    whole = ask(asked, {"ask": "hello"}).header["home"]["window"]
    question = {"ask": "partition", "window": whole}
    found = ask(asked, {**question, "budget": {"regions": 60, "seconds": 60}})
    assert found.header["num_open"] > 0
    assert found.header["coarse_gates"] >= 1
    added = (found.arrays["edge_regions"] == -1).all(axis=1)
    assert added.sum() > 5
    # Each of these lies on an edge of the whole partition: a unit of that gate changes its sign across it.
    ends = found.arrays["edge_ends"][added].astype(np.float64)
    view = asked.views[found.header["version"]]
    net = asked.network
    starts = np.cumsum([0, *(gate.num_units for gate in net.gates)])
    along = ends[:, 1] - ends[:, 0]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    scale = view.scale
    places = [view.domain.lift(scale * (ends.mean(axis=1) + step * across)) for step in (-1e-5, 1e-5)]
    below, above = (net.codes(one).to_array() for one in places)
    column = starts[found.arrays["edge_gate"][added]] + found.arrays["edge_unit"][added]
    rows = np.arange(len(ends))
    is_border = (np.abs(ends.mean(axis=1)) > np.array(view.reach) / scale - 1e-6).any(axis=1)
    assert (below[rows, column] != above[rows, column])[~is_border].all()
    rows = view.part.locate(scale * ends.mean(axis=1))
    assert (rows < 0).mean() > 0.5
    # A picture that is finished has no such lines.
    assert ask(asked, question).header["coarse_gates"] is None


def test_anchors_are_the_points_that_they_say():
    asked = session()
    x, labels = asked.points, asked.labels
    anchors = [
        {"kind": "mean", "class": 0},
        {"kind": "between", "from": {"kind": "sample", "row": 3}, "to": {"kind": "sample", "row": 4}, "share": 0.25},
        {"kind": "random", "seed": 5},
    ]
    found = ask(asked, {"ask": "partition", "anchors": anchors})
    view = asked.views[found.header["version"]]
    expected = [
        x[labels == 0].mean(axis=0),
        0.75 * x[3] + 0.25 * x[4],
        np.random.default_rng(5).uniform(x.min(axis=0), x.max(axis=0)),
    ]
    places = np.array(found.header["anchors_at"])
    np.testing.assert_allclose(view.frame.origin + places @ view.frame.basis, expected, atol=1e-12)
    assert found.header["anchors_said"] == [
        "mean of class 0",
        "25% of the way from sample 3 to sample 4",
        "random point 5",
    ]


def test_adversaries_are_of_another_class_in_the_smallest_ball():
    asked = session()
    anchors = [{"kind": "sample", "row": 2}, {"kind": "sample", "row": 3}, {"kind": "adversary", "of": 0}]
    found = ask(asked, {"ask": "partition", "anchors": anchors})
    point = asked.views[found.header["version"]].frame.anchors[2].point
    classes = rs.classification.predicted_classes(asked.network, np.stack([asked.points[2], point]))
    assert classes[0] != classes[1]
    away = np.abs(point - asked.points[2]).max()
    nearer = pgd(asked.network, asked.points[2:3], classes[:1], radius=away / 4)
    assert rs.classification.predicted_classes(asked.network, nearer)[0] == classes[0]


def test_constant_classifiers_have_no_adversary():
    asked = Session.of(rs.load([(np.zeros((2, 3)), np.array([1.0, 0.0]))]), np.eye(3))
    anchors = [{"kind": "sample", "row": 0}, {"kind": "sample", "row": 1}, {"kind": "adversary", "of": 0}]
    kind, message = refused(asked, {"ask": "partition", "anchors": anchors})
    assert kind == "input"
    assert message == "no adversary of A was found within the range of the samples: use another point"


def test_without_data_there_are_random_points():
    asked = Session.of(network((5, 8, 3)))
    said = ask(asked, {"ask": "hello"}).header
    assert said["data"] is None
    assert {"partition", "region"} <= set(said["features"]) <= set(QUESTIONS) - {"samples", "code_space", "epochs"}
    assert [anchor["kind"] for anchor in said["home"]["anchors"]] == ["random"] * 3
    assert picture(asked)[0].header["num_regions"]["value"] > 1
    assert ask(asked, {"ask": "samples"}).header["total"] == 0
    kind, _ = refused(asked, {"ask": "code_space"})
    assert kind == "input"


def test_hello_says_what_there_is():
    images = np.random.default_rng(0).uniform(0, 2, (20, 1, 6, 5))
    asked = Session.of(
        rs.load([(np.random.default_rng(0).normal(size=(4, 30)), np.zeros(4)), (np.eye(4)[:3], np.zeros(3))]),
        dataset_of(images, np.arange(20) % 3, name="images"),
        class_names=["cat", "dog", "owl"],
        name="net.onnx",
    )
    said = ask(asked, {"ask": "hello"}).header
    assert said["model"]["name"] == "net.onnx"
    assert said["model"]["gates"] == [{"name": "relu 0", "kind": "relu", "units": 4, "pieces": 2}]
    assert said["data"]["name"] == "images"
    assert said["data"]["thumbnail"] == [6, 5, 1]
    assert said["class_names"] == ["cat", "dog", "owl"]
    found = ask(asked, {"ask": "samples", "offset": 2, "count": 3})
    assert found.arrays["rows"].tolist() == [2, 3, 4]
    assert found.arrays["labels"].tolist() == [2, 0, 1]
    expected = 255 * (images[2:5, 0] - images.min()) / (images.max() - images.min())
    np.testing.assert_allclose(found.arrays["thumbnails"][..., 0], expected, atol=0.51)


def test_large_images_are_shown_small():
    images = np.random.default_rng(0).uniform(size=(4, 3, 150, 100))
    asked = Session.of(rs.load([(np.ones((2, 45_000)), np.zeros(2))]), images)
    assert ask(asked, {"ask": "hello"}).header["data"]["thumbnail"] == [50, 34, 3]
    assert ask(asked, {"ask": "samples"}).arrays["thumbnails"].shape == (4, 50, 34, 3)


def test_misclassified_samples_are_those_whose_class_is_not_their_label():
    asked = session()
    predicted = asked.network(asked.points).numpy().argmax(axis=1)
    found = ask(asked, {"ask": "samples", "search": "misclassified"}).arrays
    assert found["rows"].tolist() == np.flatnonzero(predicted != asked.labels).tolist()
    assert (found["labels"] != found["predicted"]).all()
    one = ask(asked, {"ask": "samples", "of": "class", "class": 2}).arrays
    assert one["rows"].tolist() == np.flatnonzero(asked.labels == 2).tolist()
    kind, message = refused(session(labels=False), {"ask": "samples", "search": "misclassified"})
    assert (kind, "open the explorer with labels" in message) == ("input", True)


def test_the_nearest_to_a_boundary_are_the_nearest_where_regions_are_large():
    # One region around every sample: the distance is that of its affine map.
    generator = np.random.default_rng(0)
    weight, bias = generator.normal(size=(4, 3)), generator.normal(size=4)
    asked = Session.of(rs.load([(np.eye(3), np.full(3, 50.0)), (weight, bias)]), generator.normal(size=(15, 3)))
    exact = []
    for point in asked.points:
        values = weight @ (point + 50.0) + bias
        winner = values.argmax()
        others = [one for one in range(4) if one != winner]
        exact.append(min((values[winner] - values[i]) / np.linalg.norm(weight[winner] - weight[i]) for i in others))
    found = ask(asked, {"ask": "samples", "search": "nearest_to_boundary"})
    assert found.arrays["rows"].tolist() == np.argsort(exact).tolist()
    np.testing.assert_allclose(found.arrays["ordered_by"], np.sort(exact), rtol=1e-5)
    assert "ESTIMATE" in found.header["ordered_by"]


def test_the_farthest_codes_come_first():
    asked = session()
    distances = asked.network.codes(asked.points).distance().astype(int)
    found = ask(asked, {"ask": "samples", "search": "farthest_codes"}).arrays
    rows, away = found["rows"], found["ordered_by"]
    assert distances[rows[0], rows[1]] == distances.max() == away[0]
    assert len(set(rows.tolist())) == len(rows)
    for place in range(2, len(rows)):
        nearest = distances[:, rows[:place]].min(axis=1)
        assert nearest[rows[place]] == nearest[np.setdiff1d(np.arange(len(nearest)), rows[:place])].max() == away[place]


def test_the_code_space_is_that_of_the_codes():
    asked = session()
    for gate in (None, 1):
        found = ask(asked, {"ask": "code_space", "gate": gate})
        codes = asked.network.codes(asked.points)
        codes = codes if gate is None else codes.of_gates(asked.network.gates[gate].name)
        expected = rs.codespace.embed(codes)
        np.testing.assert_allclose(found.arrays["places"], expected.points, atol=1e-5)
        trust = rs.codespace.embedding_trust(codes, expected)
        assert found.header["trust"]["value"] == pytest.approx(trust.value)
        assert found.header["trust"]["claim"] == "EXACT"
        assert found.header["num_codes"] == len(codes.unique())


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """A tracker file that holds weights, the network at the end, the points, and what the model gave at each record."""
    generator = np.random.default_rng(0)
    points, outputs = generator.normal(size=(30, 3)), []
    model = nn.Sequential(OrderedDict([("0", nn.Linear(3, 10)), ("relu", nn.ReLU()), ("1", nn.Linear(10, 3))])).double()
    made = network((3, 10, 3))
    file = tmp_path_factory.mktemp("run") / "run.parquet"
    with pytest.MonkeyPatch.context() as patch:
        # The same graph, under the same names of weights: PyTorch's exporter takes seconds to start.
        patch.setattr(tracker, "load", lambda *arguments, **options: made)
        with rs.Tracker(model, points, file, keep_weights=True, segments=1, plane=(0, 1, 2)) as records:
            for epoch in range(3):
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter += 0.4 * torch.from_numpy(generator.normal(size=tuple(parameter.shape)))
                    outputs.append(model(torch.from_numpy(points)).numpy())
                records.record(epoch=10 * epoch, loss=1.0 / (1 + epoch))
    return file, made, points, outputs


def test_epochs_are_the_networks_that_were_recorded(training):
    file, made, points, outputs = training
    asked = Session.of(made, points, tracker=file)
    said = ask(asked, {"ask": "epochs"}).header
    assert said["epochs"] == [0, 10, 20]
    assert said["has_weights"] == [True] * 3
    assert said["logged"] == {"loss": [1.0, 0.5, 1 / 3]}
    assert ask(asked, {"ask": "hello"}).header["training"]["epochs"] == [0, 10, 20]
    counts = next(one for one in said["quantities"] if one["name"] == "plane_regions")["findings"]
    anchors = [{"kind": "sample", "row": row} for row in range(3)]
    for epoch in range(3):
        found = ask(asked, {"ask": "partition", "anchors": anchors, "epoch": epoch})
        view = asked.views[found.header["version"]]
        np.testing.assert_allclose(view.network(points).numpy(), outputs[epoch], atol=1e-12)
        assert found.header["epoch"] == epoch
        part = rs.partition(view.network, rs.Plane(*points[:3], margin=0.25))
        assert counts[epoch]["value"] == len(part)
        card = ask(asked, {"ask": "region", "version": found.header["version"], "row": 0}).header
        assert f"# net: the network, as reluscope.load returns it, at record {epoch}" in card["python"]
    kind, message = refused(asked, {"ask": "partition", "epoch": 3})
    assert (kind, message) == ("input", "epoch must be the place of one of 3 records, from 0, got 3")


def test_a_training_of_another_model_is_refused_where_it_is_asked_for(training):
    file, _, points, _ = training
    asked = Session.of(network((3, 9, 3)), points, tracker=file)
    kind, message = refused(asked, {"ask": "partition", "epoch": 0})
    assert kind == "input"
    assert "give the model that was tracked" in message
    assert picture(asked)[0].header["num_regions"]["value"] > 1


def test_labels_that_are_no_classes_are_refused_or_values():
    made = network((3, 5, 2))
    points = np.random.default_rng(0).normal(size=(6, 3))
    with pytest.raises(rs.errors.InputError, match="labels must be class numbers from 0 to 1"):
        Session.of(made, points, labels=[0, 1, 2, 3, 4, 5])
    single = network((3, 5, 1))
    assert not Session.of(single, points, labels=[0, 1, 2, 3, 4, 5]).is_classifier
    assert Session.of(single, points, labels=[0, 1, 1, 0, 1, 1]).is_classifier
    with pytest.raises(rs.errors.InputError, match="labels came without data"):
        Session.of(made, labels=[0])
