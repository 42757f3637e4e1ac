"""How much slower the engine is that is chosen for a network than the fastest of those that cover its domain."""

import json
import statistics
import subprocess
import sys

from benchmarks.measure import Measurement

TARGET = "never more than 1.3 times the time of the best engine"
# Widths of the hidden layers by dimension, half the width of the box, 0 for all of R^n.
CASES = (
    (3, (16,), 1.0),
    (3, (64,), 1.0),
    (3, (16, 16), 1.0),
    (3, (64, 64), 0.5),
    (3, (256, 256), 0.05),
    (3, (512, 512, 512), 0.015),
    (3, (12, 12, 12), 1.0),
    (3, (16, 16), 0.0),
    (4, (24,), 1.0),
    (4, (16, 16), 1.0),
    (4, (64, 64), 0.15),
    (4, (256, 256, 256), 0.02),
    (4, (8, 8, 8), 1.0),
    (4, (12, 12), 0.0),
    (5, (16,), 1.0),
    (5, (12, 12), 1.0),
    (5, (8, 8, 8), 1.0),
    (5, (8, 8), 0.0),
    (6, (12,), 1.0),
    (6, (12, 12), 1.0),
    (6, (8, 8, 8), 1.0),
    (6, (8, 8), 0.0),
    (7, (12,), 1.0),
    (7, (8, 8), 1.0),
    (8, (12,), 1.0),
    (8, (8, 8), 1.0),
)
# Max units and their candidates by dimension, and the widths of ReLU layers behind them; on [-1, 1]^d.
CASES_WITH_MAX = (
    (3, 8, 2, ()),
    (3, 8, 2, (16,)),
    (3, 6, 2, (6, 6)),
    (3, 16, 4, ()),
    (3, 8, 4, (8, 8)),
    (3, 10, 6, ()),
    (4, 12, 2, (8,)),
    (4, 8, 2, (8, 8)),
    (4, 8, 3, ()),
    (4, 5, 3, (6,)),
    (4, 6, 4, ()),
    (5, 8, 2, (8,)),
    (5, 10, 2, ()),
    (5, 6, 2, (6, 6)),
    (5, 6, 3, ()),
    (6, 6, 2, (6,)),
    (6, 4, 2, ()),
)
WORK = """
import json, sys, time, torch, reluscope as rs
from benchmarks.models import maxout, mlp
from reluscope.partitions.ask.engine_choice import covering_engines
from reluscope.partitions.ask.engine_costs import cheapest
torch.set_num_threads(1)
dim, first, hidden, size, keep, repeats = json.loads(sys.argv[1])
net = maxout(dim, *first, *hidden) if first else mlp(dim, *hidden, 1)
domain = rs.Box(-size, size, dim) if size else rs.Space(dim)
times, counts = {}, set()
able = covering_engines(net, domain, keep)
for engine in able:
    for _ in range(repeats):
        began = time.process_time()
        part = rs.partition(net, domain, method=engine, keep=keep, budget=rs.Budget(seconds=60))
        seconds = time.process_time() - began
        times[engine] = min(seconds, times.get(engine, seconds))
        if part.num_open:
            times[engine] *= 1e6  # not done in a minute
            break
        counts.add(len(part))
assert len(counts) == 1, counts
print(json.dumps([cheapest(able, net, domain, keep), times, counts.pop()]))
"""


def run(quick: bool) -> list[Measurement]:
    """Time all engines on every case, those that keep vertices and all of them; with max units one keeps vertices."""
    relus = [(dim, (), hidden, size) for dim, hidden, size in CASES]
    with_max = [(dim, (units, candidates), hidden, 1.0) for dim, units, candidates, hidden in CASES_WITH_MAX]
    every = slice(None, None, 8 if quick else 1)
    rows = []
    for keep in ("vertices", "codes"):
        rows += _rows(keep, relus[every], "", quick)
    return [*rows, *_rows("codes", with_max[every], " with max units", quick)]


def _rows(keep: str, cases: list[tuple], kind: str, quick: bool) -> list[Measurement]:
    rows, ratios, seconds = [], [], []
    for dim, first, hidden, size in cases:
        arguments = json.dumps([dim, first, hidden, size, keep, 1 if quick else 3])
        answer = subprocess.check_output([sys.executable, "-c", WORK, arguments], text=True)
        chosen, times, number = json.loads(answer)
        ratio = times[chosen] / min(times.values())
        ratios.append(ratio)
        seconds.append(times[chosen])
        if ratio > 1.3 or quick:
            where = f"[-{size:g}, {size:g}]^{dim}" if size else f"R^{dim}"
            others = ", ".join(f"{name} {1e3 * time:.0f} ms" for name, time in sorted(times.items()))
            net = f"{[dim, *hidden, 1]}" + (f" behind {first[0]} maxima of {first[1]}" if first else "")
            case = f"keep={keep!r}: {net} on {where}, chosen {chosen}"
            rows.append(
                Measurement(case, times[chosen], ratio, min(times.values()), detail=f"{number:,} regions; {others}")
            )
    case = f"keep={keep!r}: {len(cases)} networks{kind} of 3 to 8 inputs, median"
    detail = f"largest ratio {max(ratios):.2f}; processor time, one thread"
    return [*rows, Measurement(case, statistics.median(seconds), statistics.median(ratios), detail=detail)]
