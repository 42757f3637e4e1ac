"""Where a process may have no more memory, kernels and all around them end with what they have, or an exception."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

resource = pytest.importorskip("resource")

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import resource, sys
import numpy as np
import reluscope as rs
from reluscope.testing import default_network
dim, widths, method, more = int(sys.argv[1]), eval(sys.argv[2]), sys.argv[3], int(sys.argv[4])
net, box = rs.load(default_network([dim, *widths, 1], seed=0)), rs.Box(-1, 1, dim)
rs.partition(net, box, method=method, budget=rs.Budget(regions=50))
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + more * 2**20, -1))
try:
    part = rs.partition(net, box, method=method)
    print(part.claim.name, part.note, len(part))
except rs.errors.ReluscopeError as error:
    print("refused", error)
except MemoryError as error:
    print("memory", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory is taken")
@pytest.mark.parametrize("more", [1, 20, 60])
@pytest.mark.parametrize(
    ("dim", "widths", "method"), [(2, (128, 128), "incidence"), (5, (14, 14), "cellwise"), (5, (14, 14), "tree")]
)
def test_a_partition_without_memory(dim, widths, method, more):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(dim), str(widths), method, str(more)],
        env=os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kind, *rest = done.stdout.split()
    assert kind in ("LOWER", "EXACT", "memory"), done.stdout
    assert kind != "LOWER" or "memory" in rest
