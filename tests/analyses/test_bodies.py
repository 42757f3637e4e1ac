"""Questions about more regions than a device has memory for: halves, then the CPU, with one sentence."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.analyses.bodies.region_bodies import ask_within_memory
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.testing import default_network

ELSEWHERE, CPU = torch.device("cuda"), torch.device("cpu")


def test_halves_until_it_fits() -> None:
    asked = []

    def ask(items, device):
        asked.append(len(items))
        if len(items) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return items

    assert ask_within_memory(ask, list(range(10)), ELSEWHERE) == [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
    assert asked == [10, 5, 2, 3, 5, 2, 3]


def test_one_that_does_not_fit_goes_to_the_cpu_with_a_sentence() -> None:
    def ask(items, device):
        if device != CPU and 2 in items:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return items, device

    with pytest.warns(UserWarning, match="memory of cuda does not hold one region.*CPU") as caught:
        found = ask_within_memory(ask, [0, 1, 2, 3], ELSEWHERE)
    assert found == [([0, 1], ELSEWHERE), ([2], CPU), ([3], ELSEWHERE)]
    assert len(caught) == 1

    def never(items, device):
        raise torch.OutOfMemoryError("out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        ask_within_memory(never, [0], CPU)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2])
def test_balls_and_classes_do_not_depend_on_the_memory(monkeypatch, most) -> None:
    net, box = rs.load(default_network([3, 8, 3], 0)), rs.Box(-1, 1, 3)
    points = np.random.default_rng(0).uniform(-1, 1, (7, 3))

    def ask():
        classes = rs.local.region_classes(net, points, domain=box)
        return bodies_radii(net, points, box), classes.details["occurs"], classes.is_done

    truth = ask()
    original = HalfSpaceStack.of
    sizes = []

    def stack_of(regions, **named):
        sizes.append(len(regions))
        if len(regions) > most:
            raise torch.OutOfMemoryError("planted")
        return original(regions, **named)

    monkeypatch.setattr(HalfSpaceStack, "of", stack_of)
    found = ask()
    assert max(sizes) > most
    assert np.allclose(found[0], truth[0], rtol=1e-7)
    assert np.array_equal(found[1], truth[1])
    assert np.array_equal(found[2], truth[2])


def bodies_radii(net, points, box):
    return rs.inscribed_balls(net, points, domain=box)["inradius"].value


def test_a_device_that_is_not_there() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(rs.errors.InputError, match=r"expected a device that is there, got 'cuda' .*: stay on 'cpu'"):
        rs.load(default_network([3, 8, 3], 0)).to("cuda")
