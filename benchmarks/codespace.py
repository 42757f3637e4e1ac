"""Distances of many long codes, their nearest codes, and distinct codes of many points on many units."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from scipy.spatial.distance import pdist

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import mlp
from reluscope import _kernels

TARGET = (
    "all pairs: at most 1.5 times what as many pairs take that stay in the first-level cache, "
    "200 times faster than SciPy; distinct codes of 60,000 points on 10,000 units: under 0.5 GB above import"
)
BITS = 4096


def random_codes(number: int, seed: int = 0) -> rs.Codes:
    """Return random codes of 4,096 units."""
    layout = rs.CodeLayout((rs.GateLayout("relu", BITS),))
    return rs.Codes(np.random.default_rng(seed).integers(0, 2**64, (number, BITS // 64), dtype=np.uint64), layout)


def cached_pairs(pairs: int) -> None:
    """Compare so many pairs of 32 codes that stay in the first-level cache, on as many threads as the library."""
    threads = torch.get_num_threads()
    words = random_codes(32).words

    def again(turns: int) -> None:
        for _ in range(turns):
            _kernels.long_distances(words, words)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(again, [pairs // (32 * 32 * threads)] * threads))


def distinct(number: int, units: int) -> list:
    """Return seconds, gigabytes above the import, and the number of distinct codes of 10 layers."""
    rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    before = peak_gigabytes()
    network = mlp(64, *[units // 10] * 10, 10)
    points = np.random.default_rng(0).normal(size=(number, 64))
    began = time.perf_counter()
    found = rs.codespace.distinct_codes(rs.codespace.sample_codes(network, points))
    return [time.perf_counter() - began, peak_gigabytes() - before, int(found.summary.finding("num_distinct_codes"))]


def run(quick: bool) -> list[Measurement]:
    """Compare with pairs in cache, SciPy, and faiss where it is installed."""
    threads = torch.get_num_threads()
    number = 2_000 if quick else 20_000
    codes = random_codes(number)
    ratio, seconds, reference = paired(codes.distance, lambda: cached_pairs(number * number // 2), 5)
    case = f"all pairs of {number:,} codes of 4,096 bits, {threads} threads, against pairs in cache"
    rows = [Measurement(case, seconds, ratio, reference)]
    some = random_codes(400 if quick else 1_500)
    bits = some.to_array().astype(bool)
    ratio, seconds, reference = paired(some.distance, lambda: pdist(bits, "hamming"), 3)
    case = f"all pairs of {len(some):,} of them against scipy.spatial.distance.pdist"
    rows.append(Measurement(case, seconds, ratio, reference))
    many, asked = (4_000, 100) if quick else (60_000, 2_000)
    codes = random_codes(many)
    queries = codes[:asked]
    try:
        import faiss
    except ImportError:
        faiss = None
    case = f"10 nearest of {many:,} codes for {asked:,} codes, {threads} threads"
    if faiss is None:
        began = time.perf_counter()
        rs.codespace.nearest_codes(codes, queries, k=10)
        rows.append(Measurement(case, time.perf_counter() - began))
    else:
        faiss.omp_set_num_threads(threads)
        index = faiss.IndexBinaryFlat(BITS)
        index.add(np.ascontiguousarray(codes.words).view(np.uint8))
        asked_bytes = np.ascontiguousarray(queries.words).view(np.uint8)
        ratio, seconds, reference = paired(
            lambda: rs.codespace.nearest_codes(codes, queries, k=10), lambda: index.search(asked_bytes, 10), 3
        )
        rows.append(Measurement(f"{case}, against faiss IndexBinaryFlat", seconds, ratio, reference))
    if not quick:
        began = time.perf_counter()
        rs.codespace.nearest_codes(codes, k=10)
        rows.append(Measurement(f"10 nearest among all {many:,} codes", time.perf_counter() - began))
    seconds, memory, count = in_fresh_process("benchmarks.codespace", "distinct", 2_000 if quick else 60_000, 10_000)
    detail = f"{count:,} distinct; memory above the import, network and points included"
    rows.append(Measurement("distinct codes on 10,000 units", seconds, memory=memory, detail=detail))
    return rows
