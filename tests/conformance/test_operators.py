"""Every operator, in every respect in which a network can differ from its model."""

import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch

import reluscope as rs
from conformance.torch_cases import CASES
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.models.load import load


@cache
def loaded(case):
    torch.manual_seed(sum(map(ord, case.name)))
    model = case.make()
    network = load(model, case.input_shape)
    x = 2.0 * torch.randn(7, *case.input_shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    return model.eval().double(), network, x


def run(model, x):
    """Run a model point by point: some take only one."""
    return torch.cat([model(point.unsqueeze(0)).reshape(1, -1) for point in x])


pytestmark = pytest.mark.parametrize("case", CASES, ids=str)


def test_output_is_that_of_the_model(case):
    model, network, x = loaded(case)
    with torch.no_grad():
        expected = run(model, x)
    assert network.num_outputs == expected.shape[1]
    torch.testing.assert_close(network(x).reshape(7, -1), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(network(x.flatten(1).numpy()).reshape(7, -1), expected, rtol=1e-12, atol=1e-12)


def test_stages_replay_the_network(case):
    _, network, x = loaded(case)
    values = network.start(x)
    for stage in network.stages:
        assert set(stage.reads) <= set(values)
        sizes = {position: values[position].abs().amax(0, keepdim=True) for position in stage.reads}
        pre, live = stage.advance(values)
        assert set(live) == set(stage.keeps)
        exact = {position: torch.zeros_like(value[:1]) for position, value in values.items()}
        bound, _, _ = stage.advance_errors(sizes, exact, 0.0)
        size = pre.masked_fill(pre == -torch.inf, 0.0).abs()
        assert bound.shape == pre.shape[1:]
        assert bool((size <= torch.as_tensor(bound.copy()) * (1 + 1e-12) + 1e-300).all())
        values = stage.close(live, pre)
    assert set(network.finish.reads) == set(values)
    torch.testing.assert_close(network.finish(values), network(x), rtol=1e-12, atol=1e-12)


def test_codes_follow_the_tie_rule(case):
    _, network, x = loaded(case)
    codes = network.codes(x)
    expected = []
    for stage, pre in zip(network.stages, network.preactivations(x), strict=True):
        z = pre.numpy()
        if isinstance(stage.gate, TopK):
            pieces = np.zeros(z.shape, dtype=int)
            for row, point in enumerate(z):
                for group in stage.gate.groups.tolist():
                    pieces[row, sorted(group, key=lambda unit, point=point: -point[unit])[: stage.gate.k]] = 1
            expected.append(pieces)
        elif isinstance(stage.gate, Pointwise):
            thresholds = np.broadcast_to(stage.gate.breakpoints.numpy()[:, None], (stage.gate.num_pieces - 1, *z.shape))
            expected.append((z[None] > thresholds).sum(axis=0))
        else:
            expected.append(np.array([[list(unit).index(max(unit)) for unit in point] for point in z]))
        assert torch.equal(stage.gate.select(pre, stage.gate.pieces(pre)), stage.gate.apply(pre))
    np.testing.assert_array_equal(codes.to_array(), np.concatenate([np.zeros((7, 0)), *expected], axis=1))
    for row in range(7):
        np.testing.assert_array_equal(network.codes(x[row]).words[0], codes.words[row])


def test_maps_are_those_of_autograd(case):
    model, network, x = loaded(case)
    point = x.clone().requires_grad_()
    output = run(model, point)
    expected = torch.zeros(7, network.num_outputs, network.num_inputs, dtype=torch.float64)
    for position in range(network.num_outputs):
        if output.requires_grad and "no gradients" not in case.name:
            (gradient,) = torch.autograd.grad(output[:, position].sum(), point, retain_graph=True, allow_unused=True)
            expected[:, position] = 0.0 if gradient is None else gradient.flatten(1)
    for outputs in (None, [network.num_outputs - 1]):
        maps = network.linearize(x, outputs=outputs, budget=rs.Budget(memory=2**16))
        wanted = slice(None) if outputs is None else outputs
        if "no gradients" not in case.name:
            # PyTorch's own derivative of hard-sigmoid has the slope 1/6 in float32.
            error = 1e-7 if case.name == "hard-sigmoid" else 1e-11
            torch.testing.assert_close(maps.weight, expected[:, wanted], rtol=error, atol=error)
        torch.testing.assert_close(maps(x.flatten(1)), network(x).reshape(7, -1)[:, wanted], rtol=1e-11, atol=1e-11)


def test_maps_of_units_give_the_preactivations(case):
    _, network, x = loaded(case)
    maps = network.unit_maps(x)
    for (weight, bias), pre in zip(maps, network.preactivations(x), strict=True):
        assert weight.shape == (*pre.shape, network.num_inputs)
        found = torch.einsum("s...n,sn->s...", weight, x.flatten(1)) + bias
        torch.testing.assert_close(found, pre, rtol=1e-11, atol=1e-11)


def test_affine_nodes_know_their_parts(case):
    _, network, _ = loaded(case)
    generator = torch.Generator().manual_seed(3)
    for node in network.nodes:
        if not isinstance(node, Affine):
            continue
        assert node.input_shapes == tuple(network.nodes[position].shape for position in node.inputs)
        values = [torch.randn(5, *shape, dtype=torch.float64, generator=generator) for shape in node.input_shapes]
        image, linear = node.apply(*values), node.linear(*values)
        assert image.shape == linear.shape == (5, *node.shape)
        constant = torch.zeros(()) if node.constant is None else node.constant
        torch.testing.assert_close(image, linear + constant, rtol=1e-12, atol=1e-12)
        bound = node.absolute().apply(*(value.abs() for value in values))
        assert bool((image.abs() <= bound * (1 + 1e-12) + 1e-12).all())
        ones = [torch.full((1, *shape), 2.0, dtype=torch.float64) for shape in node.input_shapes]
        matrices = node.matrix()
        products = [matrix @ value.reshape(5, -1).numpy().T for matrix, value in zip(matrices, values, strict=True)]
        np.testing.assert_allclose(sum(products).T, linear.reshape(5, -1).numpy(), rtol=1e-11, atol=1e-11)
        sums = sum(abs(matrix).sum(axis=1) * 2.0 for matrix in matrices)
        np.testing.assert_allclose(node.absolute().linear(*ones).reshape(-1).numpy(), sums, rtol=1e-11, atol=1e-11)


def test_gates_are_continuous_in_real_arithmetic_or_say_that_they_jump(case):
    _, network, _ = loaded(case)
    for stage in network.stages:
        gate = stage.gate
        if isinstance(gate, Max):
            assert int(gate.index.max()) < network.nodes[gate.inputs[0]].size
            continue
        for unit in range(gate.breakpoints.shape[1]):
            column = [
                [Fraction(entry) for entry in table[:, unit].tolist()]
                for table in (gate.breakpoints, gate.slopes, gate.intercepts)
            ]
            jumps = Fraction(0)
            for piece, threshold in enumerate(column[0]):
                left = column[1][piece] * threshold + column[2][piece]
                jumps += abs(column[1][piece + 1] * threshold + column[2][piece + 1] - left)
            assert jumps == 0 or gate.name in network.jumps
            assert column[0] == sorted(column[0])


def test_pickling_keeps_the_network(case):
    _, network, x = loaded(case)
    twin = pickle.loads(pickle.dumps(network))
    assert twin.fingerprint == network.fingerprint
    assert torch.equal(twin(x), network(x))
