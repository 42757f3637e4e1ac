"""Inscribed balls of MNIST-size regions against HiGHS, their facets and classes; memory for a conv net's region."""

import time

import highspy
import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from benchmarks.models import convolutional, mlp, three_images
from reluscope.analyses.bodies.region_bodies import as_bodies
from reluscope.analyses.local import region_classes
from reluscope.geometry.programs.convex_questions import largest_balls

TARGET = (
    "for 784-3x1024 on two cores a ball in 1.5 s, 5 times the interior-point method of HiGHS; all facets in 60 s; "
    "a conv-net region in 2 GB"
)
GAP = 1e-7


def run(quick: bool) -> list[Measurement]:
    """Time balls one by one on two threads, and HiGHS on the first."""
    torch.set_num_threads(2)
    inputs, width = (100, 64) if quick else (784, 1024)
    network = mlp(inputs, width, width, width, 10)
    box = rs.Box(-1, 1, inputs)
    points = torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (4, inputs)))
    seconds, radii, rows = [], [], 0
    for point in points:
        region = rs.region(network, point[None])
        began = time.perf_counter()
        bodies = as_bodies([region], box, network.device)
        balls = largest_balls(bodies, point[None], relative_gap=GAP)
        seconds.append(time.perf_counter() - began)
        radii.append(float(balls.values[0]))
        assert balls.gaps[0] <= GAP * balls.values[0]
        rows = bodies.rows.shape[1]
    region = rs.region(network, points[:1])
    began = time.perf_counter()
    truth = _by_highs(region.polyhedron.A, region.polyhedron.b, inputs)
    reference = time.perf_counter() - began
    assert abs(truth - radii[0]) <= 1e-5 * truth
    median = float(np.median(seconds))
    detail = (
        f"{rows:,} half-spaces and a box, gap {GAP:g} of the radius; HiGHS takes {reference / median:.1f} times as long"
    )
    case = f"ball of a region of [{inputs}, 3x{width}, 10], 2 threads"
    balls_row = Measurement(case, median, median / reference, reference, detail=detail)
    polyhedron = rs.region(network, points[:1], domain=box).polyhedron
    polyhedron.insphere()
    began = time.perf_counter()
    facets = polyhedron.facets()
    seconds_of_facets = time.perf_counter() - began
    detail = f"{len(facets):,} of {len(polyhedron.b):,} half-spaces are facets"
    began = time.perf_counter()
    classes = region_classes(network, points[:2], domain=box)
    seconds_of_classes = (time.perf_counter() - began) / len(classes)
    known = f"{classes.mean('num_classes').value:g} of 10 classes occur ({classes.mean('num_classes').claim})"
    return [
        balls_row,
        Measurement(f"facets of that region, [{inputs}, 3x{width}, 10]", seconds_of_facets, detail=detail),
        Measurement(f"classes of a region, [{inputs}, 3x{width}, 10], each", seconds_of_classes, detail=known),
        *([] if quick else [_of_conv_net()]),
    ]


def _of_conv_net() -> Measurement:
    """Measure a region of a conv net in a process of its own, whose peak of memory is that of the question."""
    units, inputs, seconds, memory = in_fresh_process("benchmarks.balls", "conv_region")
    detail = f"{units:,} units, {inputs:,} inputs and a box, ball to a gap of 1e-9 of its radius"
    return Measurement("region of a CIFAR conv net and its ball, 2 threads", seconds, memory=memory, detail=detail)


def conv_region() -> tuple[int, int, float, float]:
    """Return units, inputs, seconds and peak memory of the region at an image, and its largest ball."""
    torch.set_num_threads(2)
    network = convolutional()
    point = three_images()[:1]
    began = time.perf_counter()
    ball = rs.inscribed_balls(network, point, domain=rs.Box(0, 1, network.num_inputs))["inradius"]
    seconds = time.perf_counter() - began
    assert ball.upper[0] - ball.value[0] <= GAP * ball.value[0]
    return network.num_units, network.num_inputs, seconds, peak_gigabytes()


def _by_highs(A: np.ndarray, b: np.ndarray, dim: int) -> float:
    """Return the radius by the interior-point method of HiGHS, without crossover."""
    lengths = np.linalg.norm(A, axis=1)
    eye, ones = np.eye(dim), np.ones((dim, 1))
    table = np.concatenate([np.c_[A / lengths[:, None], np.ones(len(A))], np.c_[eye, ones], np.c_[-eye, ones]])
    upper = np.concatenate([b / lengths, np.ones(2 * dim)])
    model = highspy.Highs()
    for option, value in (("output_flag", False), ("solver", "ipm"), ("run_crossover", "off")):
        model.setOptionValue(option, value)
    free = np.full(dim + 1, np.inf)
    model.addVars(dim + 1, -free, free)
    kept = table != 0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])[:-1].astype(np.int32)
    columns = np.nonzero(kept)[1].astype(np.int32)
    model.addRows(len(table), np.full(len(table), -np.inf), upper, len(columns), starts, columns, table[kept])
    model.changeColCost(dim, 1.0)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    model.run()
    return model.getInfo().objective_function_value
