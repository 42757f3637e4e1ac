"""The tree of linear programs on networks of two hidden layers trained on MNIST, in the box [0, 1]^784."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from reluscope.budget import Budget
from reluscope.datasets.mnist import mnist
from reluscope.geometry.cutting.crossing import SOME, UNDECIDED, find_positive
from reluscope.geometry.cutting.framed_cells import LinearForm, Sides
from reluscope.geometry.cutting.generation import find_among_corners
from reluscope.geometry.programs.linear_program import LinearProgram
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.tree.tree import tree_regions
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.partitions.tree.tree_facets import _cells, _pieces
from reluscope.tolerance import Tolerance

TARGET = "at most 2.5 programs per region; 5,000 regions/s; two workers at least 1.7 times one"
FOLDER = Path(__file__).parents[2] / "shared" / "data" / "mnist"
BOX = rs.Box(0, 1, 784)


def run(quick: bool) -> list[Measurement]:
    """Count regions, compare the same questions with HiGHS, and one process with two."""
    torch.set_num_threads(1)
    if not FOLDER.is_dir():
        print(f"there is no folder {FOLDER}: nothing to train on")
        return []
    splits = [(4, 4)] if quick else [(4, 4), (6, 6), (8, 8), (16, 6), (6, 16), (11, 11)]
    networks = {split: trained(*split) for split in splits}
    tree_count(networks[splits[0]], BOX)
    rows = [_count(networks[split], split, 2.0 if quick else 30.0) for split in splits]
    smaller = networks[splits[0] if quick else (8, 8)]
    rows.append(_against_highs(smaller, 5 if quick else 60))
    rows.append(_two_processes(smaller))
    return rows


def trained(first: int, second: int) -> rs.Network:
    """Return a network of two hidden layers after two epochs of MNIST (Adam, rate 0.003, batch 256, seed 0)."""
    data = mnist(FOLDER, "train")
    points = torch.tensor(np.asarray(data.points), dtype=torch.float32).reshape(-1, 784)
    labels = torch.tensor(np.asarray(data.labels)).long()
    torch.manual_seed(0)
    layers = [torch.nn.Linear(784, first), torch.nn.Linear(first, second), torch.nn.Linear(second, 10)]
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(2):
        for batch in torch.randperm(len(points)).split(256):
            loss = torch.nn.functional.cross_entropy(model(points[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return from_arrays([(layer.weight.detach().double(), layer.bias.detach().double()) for layer in layers])


def _count(network: rs.Network, split: tuple[int, int], seconds: float) -> Measurement:
    began = time.process_time()
    walk = tree_count(network, BOX, budget=Budget(seconds=seconds))
    number = walk.num_found
    processor = time.process_time() - began
    claim = "LOWER" if walk.stopped or walk.num_undecided else "EXACT"
    detail = (
        f"{number:,} regions, {claim}, {number / processor:,.0f}/s of processor time, "
        f"{walk.work['programs'] / number:.2f} programs per region, {walk.num_undecided} undecided"
    )
    return Measurement(f"[784, {split[0]}, {split[1]}, 10]", walk.work["seconds"], detail=detail)


def _against_highs(network: rs.Network, num_regions: int) -> Measurement:
    """Ask of every unit whether it bounds a region in a facet: here, and of one HiGHS model per region."""
    regions = tree_regions(network, BOX, budget=Budget(regions=num_regions))
    coordinates = Coordinates.of(network, BOX, Tolerance())
    scratch = coordinates.scratch
    mine, its, answers, solved = 0.0, 0.0, [], []
    found = _cells(coordinates, _pieces(coordinates, regions.words), regions.witnesses, 0)
    for cell, *_ in found[:num_regions]:
        number = len(cell.rows)
        z = scratch.image(cell.witness)
        others = [np.delete(np.arange(number), row) for row in range(number)]
        began = time.perf_counter()
        for row in range(number):
            form = LinearForm(-cell.rows[row], float(cell.noise[row]), cell.slack[row], 1e-9)
            sides = Sides(cell.rows[others[row]], cell.noise[others[row]], cell.slack[others[row]])
            answer, _ = find_among_corners(form, sides, scratch, cell.witness, z)
            if answer == UNDECIDED:
                answer, _ = find_positive(form, sides, scratch, cell.witness, z)
            answers.append(answer == SOME)
        mine += time.perf_counter() - began
        rows = cell.rows @ coordinates.frame.generators
        began = time.perf_counter()
        program = LinearProgram(784)
        for pixel in range(784):
            program.set_bounds(pixel, 0.0, 1.0)
        program.add_rows(-rows[:, :-1], rows[:, -1])
        for row in range(number):
            program.set_row(row, -np.inf, np.inf)
            solved.append(program.maximize(-rows[row, :-1]).value - rows[row, -1] > 1e-9)
            program.set_row(row, -np.inf, rows[row, -1])
        its += time.perf_counter() - began
    each = [f"{1e6 * seconds / len(answers):.0f}" for seconds in (mine, its)]
    differing = sum(a != b for a, b in zip(answers, solved, strict=True))
    detail = f"{len(answers):,} programs, {each[0]} and {each[1]} microseconds each, {differing} different answers"
    return Measurement("the same questions to HiGHS, warm", mine, mine / its, its, detail=detail)


def _two_processes(network: rs.Network) -> Measurement:
    context = multiprocessing.get_context("forkserver")
    times = []
    for workers in (1, 2):
        with ProcessPoolExecutor(workers, mp_context=context) as executor:
            list(executor.map(_warm_up, range(workers)))
            began = time.perf_counter()
            number = tree_count(network, BOX, executor=executor).num_found
            times.append(time.perf_counter() - began)
    detail = f"{number:,} regions, speed-up {times[0] / times[1]:.2f}"
    return Measurement("two processes against one", times[1], times[1] / times[0], times[0], detail=detail)


def _warm_up(_: int) -> int:
    torch.set_num_threads(1)
    return len(tree_regions(from_arrays([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Space(2)))
