"""Compile what numba compiles, once: two test processes that both start cold would each compile everything.

``make test`` runs this first. The compiled kernels lie beside the modules, and later runs load them in no time.
"""

import subprocess
import sys

# Two halves of about equal length; each line needs kernels that the lines before it do not.
HALVES = (
    """
    count(network(3), rs.Box(-1, 1, 3), method="tree")
    count(maxout(), rs.Box(-1, 1, 2), method="tree")
    """,
    """
    for dim in (1, 2, 3, 4):
        part = rs.partition(network(dim), rs.Box(-1, 1, dim))
    rs.partition(network(3), rs.Space(3))
    rs.partition(maxout(), rs.Box(-1, 1, 2))
    rs.decision_boundary(rs.partition(network(2), rs.Box(-1, 1, 2)))
    part.codes.distance()
    part.codes.unique()
    """,
)
START = """
import numpy as np, torch, reluscope as rs
from torch import nn
from reluscope import count
from reluscope.testing import default_network

def network(dim):
    return rs.load(default_network([dim, 6, 6, 2]))

class Maxout(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 6), nn.Linear(2, 1)
    def forward(self, x):
        return self.second(self.first(x).reshape(-1, 2, 3).amax(2))

def maxout():
    torch.manual_seed(0)
    return rs.load(Maxout(), input_shape=(2,))
"""

if __name__ == "__main__":
    scripts = [START + "\n".join(line[4:] for line in half.splitlines()) for half in HALVES]
    processes = [subprocess.Popen([sys.executable, "-c", script]) for script in scripts]
    sys.exit(max(process.wait() for process in processes))
