"""Properties are about the outputs of the file, where that ends with a sigmoid, a softmax or the like."""

import warnings
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.errors import CertificateError, InputError, ShapeError
from reluscope.networks.file_outputs import file_outputs

ENDS = {
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "log_sigmoid": nn.LogSigmoid(),
    "softplus": nn.Softplus(),
    "softmax": nn.Softmax(1),
    "log_softmax": nn.LogSoftmax(1),
}
FEW_BOXES = rs.Budget(regions=50)


def network(name: str, num_outputs: int = 2, seed: int = 0) -> rs.Network:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, num_outputs), ENDS[name])
    with torch.no_grad():
        model[2].weight.mul_(4.0)
    return rs.load(model)


def never(row, end, num_outputs: int = 2) -> rs.verification.Property:
    """Return the property that ``row y <= end`` holds nowhere in a box."""
    return rs.verification.Property(
        [rs.verification.Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron([np.resize(row, num_outputs)], [end])])]
    )


def spread(net: rs.Network, output: int = 0) -> np.ndarray:
    """Return values of an output of the file all over the box."""
    points = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 41)]), axis=-1).reshape(-1, 2)
    return file_outputs(net, points)[:, output]


class TestBounds:
    @pytest.mark.few(2)
    @pytest.mark.parametrize("name", ENDS)
    @pytest.mark.parametrize("split", ["inputs", "units"])
    def test_of_one_output_hold_or_are_violated(self, name, split):
        """Just beyond what the output takes, and just within, from below and from above."""
        net = network(name)
        values = spread(net)
        room = 0.02 * np.ptp(values)
        for sign, most in ((1.0, values.min()), (-1.0, -values.max())):
            assert str(rs.verify(net, never([sign, 0.0], most - room), split=split, budget=FEW_BOXES)) in (
                "HOLDS",
                "OPEN",
            )
            found = rs.verify(net, never([sign, 0.0], most + room), split=split)
            assert str(found) == "VIOLATED"
            outputs = file_outputs(net, found.counterexample.point[None])[0]
            assert np.allclose(found.counterexample.outputs, outputs, rtol=0, atol=1e-12)
            assert sign * outputs[0] <= most + room

    @pytest.mark.few(2)
    @pytest.mark.parametrize("name", ENDS)
    def test_proofs_are_of_the_output_of_the_file(self, name, tmp_path):
        net = network(name)
        values = spread(net)
        safe = never([1.0, 0.0], values.min() - 0.2 * np.ptp(values))
        for split in ("inputs", "units"):
            proof = rs.verify(net, safe, split=split, certify=True).proof
            assert rs.testing.check_proof(proof, net, safe) > 0
            proof.save(tmp_path / "one.proof")
            kept = rs.verification.Proof.load(tmp_path / "one.proof")
            assert rs.testing.check_proof(kept, net, safe) > 0
            # It is none of a property that is violated, nor of what the network gives before its end.
            with pytest.raises(CertificateError):
                rs.testing.check_proof(kept, net, never([1.0, 0.0], values.mean()))
            with pytest.raises(CertificateError, match="another network"):
                rs.testing.check_proof(kept, net.logits, safe)

    def test_proofs_that_ignore_the_end_are_none(self):
        """A proof about the logit, renamed to be one about the file: the shape of the worst fault that there was."""
        net = network("sigmoid")
        safe = never([1.0, 0.0], spread(net.logits).min() - 0.1)
        about_logit = rs.verify(net.logits, safe, certify=True).proof
        forged = replace(about_logit, fingerprint=net.fingerprint)
        at_half = never([1.0, 0.0], 0.5)
        assert str(rs.verify(net, at_half)) == "VIOLATED"
        with pytest.raises(CertificateError, match="may reach unsafe"):
            rs.testing.check_proof(forged, net, at_half)

    def test_levels_beyond_the_range(self):
        net = network("sigmoid")
        for row, end, verdict in (
            ([1.0, 0.0], 1.0, "VIOLATED"),
            ([-1.0, 0.0], -1.0, "HOLDS"),
            ([1.0, 0.0], 0.0, "HOLDS"),
            ([-1.0, 0.0], 0.0, "VIOLATED"),
            ([-1.0, 0.0], -7.0, "HOLDS"),
        ):
            found = rs.verify(net, never(row, end), certify=True)
            assert str(found) == verdict
            assert (found.proof is None) == (verdict == "VIOLATED")

    @pytest.mark.few(1)
    @pytest.mark.parametrize("level", [0.95, 0.3])
    def test_constants_next_to_the_level_are_decided(self, level):
        """The network is a constant, one float64 on either side of where the sigmoid takes the level."""
        below = float(np.log(level) - np.log1p(-level))
        for step in range(-4, 5):
            z = below + step * np.spacing(abs(below))
            layer = nn.Linear(1, 1).double()
            with torch.no_grad():
                layer.weight.zero_()
                layer.bias.fill_(z)
            net = rs.load(nn.Sequential(layer, nn.Sigmoid()))
            safe = rs.verification.Property([rs.verification.Case([0.0], [1.0], [rs.Polyhedron([[1.0]], [level])])])
            with localcontext() as context:
                context.prec = 60
                is_violated = 1 / (1 + (-Decimal(z)).exp()) <= Decimal(level)
            assert str(rs.verify(net, safe, budget=FEW_BOXES)) in ("VIOLATED" if is_violated else "HOLDS", "OPEN")
            assert str(rs.violations(net, safe).volume()) == f"{int(is_violated)} (EXACT)"


class TestOrders:
    @pytest.mark.few(2)
    @pytest.mark.parametrize("name", ENDS)
    def test_are_those_of_the_scores(self, name):
        net = network(name, 3)
        values = file_outputs(net, np.random.default_rng(0).uniform(-1, 1, (500, 2)))
        for ahead, behind in ((0, 1), (1, 2), (2, 0)):
            row = np.zeros(3)
            row[ahead], row[behind] = 1.0, -1.0
            is_met = bool((values[:, ahead] <= values[:, behind]).any())
            assert (str(rs.verify(net, never(row, 0.0, 3), certify=True)) == "VIOLATED") == is_met

    def test_of_ratios_of_probabilities(self):
        net = network("softmax", 3)
        values = file_outputs(net, np.random.default_rng(0).uniform(-1, 1, (2_000, 2)))
        least = (values[:, 0] / values[:, 1]).min()
        for factor, verdict in ((0.8 * least, "HOLDS"), (1.1 * least, "VIOLATED")):
            found = rs.verify(net, never([1.0, -factor, 0.0], 0.0, 3), certify=True)
            assert str(found) == verdict

    @pytest.mark.parametrize("name", ENDS)
    @pytest.mark.parametrize("row", [[1.0, 1.0, 1.0], [1.0, -1.0, 0.5]])
    def test_all_else_is_refused_by_name(self, name, row):
        net = network(name, 3)
        for ask in (rs.verify, rs.violations):
            with pytest.raises(InputError, match=f"{name} that the file ends with"):
                ask(net, never(row, 0.25, 3))


class TestTwoClasses:
    """Of a binary classifier scikit-learn gives both probabilities, and the network one score."""

    @pytest.fixture
    def fitted(self):
        neural_network = pytest.importorskip("sklearn.neural_network")
        x = np.random.default_rng(0).normal(size=(80, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = neural_network.MLPClassifier((6,), max_iter=300, random_state=0).fit(x, x[:, 0] + x[:, 1] > 0)
        return model, rs.load(model)

    def test_properties_are_about_both(self, fitted):
        model, net = fitted
        grid = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 21)]), axis=-1).reshape(-1, 2)
        theirs = model.predict_proba(grid)
        assert np.allclose(file_outputs(net, grid), theirs, rtol=0, atol=1e-12)
        for place in (0, 1):
            row, least = np.eye(2)[place], theirs[:, place].min()
            assert str(rs.verify(net, never(row, 0.5 * least), certify=True)) == "HOLDS"
            assert str(rs.verify(net, never(row, 1.5 * least))) == "VIOLATED"
        assert str(rs.verify(net, never([1.0, -1.0], 0.0))) == "VIOLATED"
        with pytest.raises(ShapeError):
            rs.verify(net, never([1.0], 0.5, 1))


class TestViolations:
    @pytest.mark.few(2)
    @pytest.mark.parametrize("name", ENDS)
    def test_have_the_volume_of_the_file(self, name):
        """Against the share of a fine grid."""
        net = network(name)
        points = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 51)]), axis=-1).reshape(-1, 2)
        values = file_outputs(net, points)[:, 0]
        level = float(np.unique(values)[600:602].mean())
        found = rs.violations(net, never([1.0, 0.0], level))
        assert abs(float(found.volume().value) / 4 - (values <= level).mean()) < 0.03
        target = rs.Polyhedron([[1.0, 0.0]], [level])
        of_property = rs.preimages.of(net, target, domain=rs.Box(-1, 1, 2), method="boxes")
        assert np.isclose(of_property.volume().value, found.volume().value)
        near = np.abs(values - level) < 1e-9
        assert np.array_equal(found.contains(points)[~near], (values <= level)[~near])


@pytest.mark.parametrize("name", ENDS)
def test_replay_is_about_the_file(name):
    net = network(name)
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    values = file_outputs(net, points)
    level = float(np.sort(values[:, 0])[:2].mean())
    found = rs.verification.replay(net, never([1.0, 0.0], level), points)
    assert np.array_equal(found.point, points[values[:, 0].argmin()])
    assert rs.verification.replay(net, never([1.0, 0.0], values[:, 0].min() - 1e-6), points) is None
