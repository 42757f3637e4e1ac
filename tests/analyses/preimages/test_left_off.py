"""Targets, levels and values to be fitted are about the outputs of the file, against these at points all over a box."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import InputError
from reluscope.networks.file_outputs import Rounding, file_outputs, on_scores

ENDS = {
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "log_sigmoid": nn.LogSigmoid(),
    "softplus": nn.Softplus(),
    "softmax": nn.Softmax(1),
    "log_softmax": nn.LogSoftmax(1),
}
BOX = rs.Box(-1, 1, 2)
GRID = np.stack(np.meshgrid(*2 * [np.linspace(-0.99, 0.99, 45)]), axis=-1).reshape(-1, 2)


def network(name: str, num_outputs: int = 2) -> rs.Network:
    torch.manual_seed(0)
    return rs.load(nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, num_outputs), ENDS[name]))


def level_between(values: np.ndarray, share: float = 0.6) -> float:
    """Return a level that is no value."""
    every = np.unique(values.round(9))
    place = int(share * len(every))
    return float(every[place : place + 2].mean())


@pytest.mark.parametrize("name", ENDS)
class TestTargets:
    @pytest.mark.few(2)
    def test_hold_where_the_outputs_of_the_file_do(self, name):
        net = network(name)
        values = file_outputs(net, GRID)[:, 0]
        level = level_between(values)
        for sign in (1.0, -1.0):
            target = rs.Polyhedron([[sign, 0.0]], [sign * level])
            right = sign * values <= sign * level
            exact = rs.preimages.of(net, target, domain=BOX)
            assert np.array_equal(exact.contains(GRID), right)
            assert np.array_equal(rs.preimages.of(net, target, domain=BOX, method="boxes").contains(GRID), right)
            given = rs.preimages.of(net, target, domain=rs.partition(net, BOX))
            assert given.volume().value == exact.volume().value
            near = rs.preimages.of(net, target, domain=BOX, budget=rs.Budget(regions=60), method="approximate").volume()
            assert near.interval[0] - 1e-9 <= exact.volume().value <= near.interval[1] + 1e-9
            inside = GRID[right][0]
            assert rs.preimages.within_region(net, inside, target).contains(inside)

    def test_are_refused_where_they_do_not_go_through(self, name):
        net, target = network(name), rs.Polyhedron([[1.0, 0.5]], [0.25])
        for method in ("partition", "boxes", "approximate"):
            with pytest.raises(InputError, match=f"{name} that the file ends with"):
                rs.preimages.of(net, target, domain=BOX, method=method)

    @pytest.mark.few(4)
    def test_of_gates_stay_what_they_are(self, name):
        net, target = network(name), rs.Polyhedron([[1.0, 0.5, 0.0, 0.0, 0.0]], [0.25])
        found, plain = (rs.preimages.of(one, target, domain=BOX, gate=0) for one in (net, net.logits))
        assert found.volume().value == plain.volume().value

    def test_vectors_are_what_the_file_gives(self, name):
        if "softmax" in name:  # rounded probabilities do not add up to 1
            return
        net = network(name)
        y = file_outputs(net, GRID[700:701])[0]
        asked = rs.Polyhedron(np.zeros((0, 2)), [], np.eye(2), y)
        scores = on_scores(net.left_off, asked, Rounding.NEAREST).d
        assert np.allclose(scores, net(GRID[700:701]).numpy()[0], rtol=0, atol=1e-12)
        found, plain = (rs.preimages.of(one, at, domain=BOX) for one, at in ((net, y), (net.logits, scores)))
        assert np.array_equal(found.points, plain.points)

    def test_classes_and_margins(self, name):
        net = network(name, 3)
        values = file_outputs(net, GRID)
        found = rs.preimages.of(net, 1, domain=BOX)
        others = values[:, [0, 2]].max(axis=1)
        near = np.abs(values[:, 1] - others) < 1e-9
        assert np.array_equal(found.contains(GRID)[~near], (values[:, 1] >= others)[~near])
        if name == "log_softmax":
            margin = level_between(values[:, 1] - others, 0.8)
            led = rs.preimages.of(net, 1, domain=BOX, margin=margin)
            assert np.array_equal(led.contains(GRID), values[:, 1] - others >= margin)
        else:
            with pytest.raises(InputError, match="margin"):
                rs.preimages.of(net, 1, domain=BOX, margin=0.1)


@pytest.mark.parametrize("name", ENDS)
class TestLevels:
    @pytest.mark.few(3)
    def test_are_levels_of_the_file(self, name):
        net = network(name)
        values = file_outputs(net, GRID)
        level = level_between(values[:, 1])
        found = rs.level_set(net, BOX, level=level, output=1)
        assert len(found)
        assert np.allclose(file_outputs(net, found.vertices)[:, 1], level, rtol=0, atol=1e-9)
        below = found.volume(capped="below")
        assert abs(below / 4 - (values[:, 1] <= level).mean()) < 0.03
        of_target = rs.preimages.of(net, rs.Polyhedron([[0.0, 1.0]], [level]), domain=BOX).volume().value
        assert np.isclose(below, of_target)
        where = rs.topology.betti(rs.partition(net, BOX), of="sublevel", level=level, output=1)
        output = found.outputs if len(found.outputs) > 1 else found.outputs[0]
        plain = rs.topology.betti(rs.partition(net.logits, BOX), of="sublevel", level=found.level, output=output)
        assert np.array_equal(where["betti_number"].value, plain["betti_number"].value)
        assert f"from {level:g}" in where.finding("betti_number", 0).definition

    def test_orders_are_those_of_the_scores(self, name):
        net = network(name)
        found, plain = (rs.level_set(one, BOX, output=(0, 1)) for one in (net, net.logits))
        assert np.array_equal(found.vertices, plain.vertices)

    def test_beyond_the_range_are_refused(self, name):
        net = network(name)
        beyond = {"log_sigmoid": 0.5, "log_softmax": 0.5, "softplus": -1.0}.get(name, 1.5)
        for ask in (
            lambda: rs.level_set(net, BOX, level=beyond),
            lambda: rs.topology.betti(rs.partition(net, BOX), of="level", level=beyond),
        ):
            with pytest.raises(InputError, match=f"outputs of the {name} at the end"):
                ask()

    def test_numbers_about_outputs_are_refused(self, name):
        part = rs.partition(network(name), BOX)
        for ask in (
            rs.topology.persistence,
            rs.topology.critical_points,
            lambda one: rs.compression.merge_regions(one, 0.1),
        ):
            with pytest.raises(InputError, match=f"ends with a {name}"):
                ask(part)


@pytest.mark.parametrize("name", ENDS)
def test_fits_are_to_what_the_model_gives(name):
    net = network(name)
    values = file_outputs(net, GRID)
    found = rs.regression.fits(net, GRID, values + 0.25)
    assert np.allclose(found["mean_absolute_error"].value, 0.25)
    assert str(found.finding("mean_absolute_error", 0).claim) == "EXACT"


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ENDS)
def test_what_is_pruned_has_the_same_end(name):
    net = network(name)
    pruned = rs.compression.prune_exact(net, domain=BOX)
    assert pruned.network.left_off == net.left_off
    with torch.no_grad():
        assert np.allclose(pruned.module.double()(torch.from_numpy(GRID)).numpy(), file_outputs(net, GRID), atol=1e-9)


def test_classes_of_preimages_follow_the_decision():
    """They were those of the largest output whatever the network's decision was."""
    costs = network("softmax", 3).with_decision("smallest")
    classes = rs.classification.predicted_classes(costs, GRID)
    assert np.array_equal(rs.preimages.of(costs, 1, domain=BOX).contains(GRID), classes == 1)
    score = network("sigmoid", 1)
    level = level_between(file_outputs(score, GRID)[:, 0])
    score = score.with_decision(level)
    for label in (0, 1):
        for method in ("partition", "boxes"):
            found = rs.preimages.of(score, label, domain=BOX, method=method)
            assert np.array_equal(found.contains(GRID), rs.classification.predicted_classes(score, GRID) == label)


class TestCrossEntropies:
    def test_of_a_softmax_are_those_of_its_scores(self):
        net, labels = network("softmax", 3), np.arange(len(GRID)) % 3
        expected = -np.log(file_outputs(net, GRID)[np.arange(len(GRID)), labels]).mean()
        for one in (net, network("log_softmax", 3), net.logits):
            assert np.isclose(float(rs.classification.cross_entropy(one, GRID, labels)), expected)

    def test_of_sigmoids_are_left_out_of_comparisons(self):
        nets = {"a": network("sigmoid"), "b": network("sigmoid")}
        found = rs.similarity.compare(nets, GRID[:40])
        assert "output_cross_entropy" not in found.columns
        assert any("ends with a sigmoid" in note for note in found.notes)
        with pytest.raises(InputError, match="ends with a sigmoid"):
            rs.similarity.compare(nets, GRID[:40], metrics=["output_cross_entropy"])


def test_errors_of_pieces_go_through_the_end():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 5), nn.GELU(), nn.Linear(5, 2), nn.LogSoftmax(1)).double()
    net = rs.load(model, approximate={"gelu": 8})
    most = net.approximation_error(BOX)["approximation_error"].value
    away = np.abs(file_outputs(net, GRID) - model(torch.from_numpy(GRID)).detach().numpy()).max(axis=0)
    assert (away <= most).all()
    assert (most == 2 * (1 + 1e-9) * net.logits.approximation_error(BOX)["approximation_error"].value.max()).all()
