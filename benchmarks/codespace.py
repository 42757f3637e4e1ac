"""Distances of many long codes, their nearest codes, and distinct codes of many points on many units."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numba import njit, types
from numba.extending import intrinsic
from scipy.spatial.distance import pdist

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import mlp

TARGET = (
    "all pairs: at most 1.5 cache-resident loops over the words of as many pairs, 200 times faster than SciPy; "
    "distinct codes of 60,000 points on 10,000 units: under 0.5 GB above import"
)
BITS = 4096


def random_codes(number: int, seed: int = 0) -> rs.Codes:
    """Return random codes of 4,096 units."""
    layout = rs.CodeLayout((rs.GateLayout("relu", BITS),))
    return rs.Codes(np.random.default_rng(seed).integers(0, 2**64, (number, BITS // 64), dtype=np.uint64), layout)


@intrinsic
def _popcount(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(nogil=True)
def _loop(rows, columns, repeats):
    """Exclusive or and population count of all pairs of two small sets, again and again."""
    total = np.uint64(0)
    for turn in range(repeats):
        for i in range(rows.shape[0]):
            one = rows[i]
            for j in range(columns.shape[0]):
                other = columns[j]
                found = np.uint64(0)
                for w in range(rows.shape[1]):
                    found += _popcount(one[w] ^ other[w])  # pyright: ignore[reportCallIssue]
                total += found ^ np.uint64(turn)
    return total


def cached_pairs(pairs: int) -> None:
    """Compare so many pairs of 4,096 bits that stay in the first-level cache, on as many threads as the library."""
    threads = torch.get_num_threads()
    words = random_codes(32).words
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: _loop(words, words, pairs // (32 * 32 * threads)), range(threads)))


def distinct(number: int, units: int) -> list:
    """Return seconds, gigabytes above the import, and the number of distinct codes of 10 layers."""
    rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    before = peak_gigabytes()
    network = mlp(64, *[units // 10] * 10, 10)
    points = np.random.default_rng(0).normal(size=(number, 64))
    began = time.perf_counter()
    found = rs.codespace.distinct_codes(network, points)
    return [time.perf_counter() - began, peak_gigabytes() - before, int(found.summary.finding("num_distinct_codes"))]


def run(quick: bool) -> list[Measurement]:
    """Compare with loops, SciPy, and faiss where it is installed."""
    threads = torch.get_num_threads()
    number = 2_000 if quick else 20_000
    codes = random_codes(number)
    ratio, seconds, reference = paired(codes.distance, lambda: cached_pairs(number * number // 2), 5)
    case = f"all pairs of {number:,} codes of 4,096 bits, {threads} threads, against a cache-resident loop"
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
