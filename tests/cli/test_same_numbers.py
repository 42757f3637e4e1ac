"""The same command twice: alone, and beside four busy loops with other vector instructions. The numbers are equal.

Other kernels of linear algebra are chosen by hand, since some do not run on every processor:
``OPENBLAS_CORETYPE=Haswell python -m pytest -m nightly tests/cli/test_same_numbers.py``.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conformance.clocks import differences

LOOPS = 4
DEEP = ("my_models:kept", "--data", "points.npz")
COMMANDS = {
    "demo": ("demo", "-o", "demo", "--force"),
    "analyze": ("analyze", *DEEP, "-o", "deep", "--force"),
    "codes": ("codes", *DEEP),
    "region": ("region", *DEEP, "--sample", "1"),
    "preimage": ("preimage", *DEEP, "--sample", "1"),
    "partition": ("partition", "my_models:kept", "--box", "-1,1", "--regions", "300"),
    "count": ("count", "my_models:kept", "--box", "-1,1"),
    "probes": ("count", "my_models:kept", "--box", "-1,1", "--method", "probes"),
    "surface": ("surface", "my_models:kept", "--box", "-1,1", "--of", "0-1"),
    "snapshot": ("snapshot", *DEEP, "-o", "deep.html", "--force"),
    "bounds": ("bounds", "my_models:kept"),
    "boolean": ("boolean", "x1 & (x2 | x3) ^ x4"),
}


# PyTorch draws other weights with other vector instructions: the ones that are drawn first are kept.
KEPT = """
def kept():
    model = deep()
    model.load_state_dict(torch.load("deep.pt"))
    return model
"""


@pytest.mark.nightly
@pytest.mark.parametrize("name", COMMANDS)
def test_alone_and_beside_others(folder, name):
    points = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    np.savez("points.npz", x=points, y=np.arange(40) % 3)
    with open("my_models.py", "a", encoding="utf-8") as models:
        models.write(KEPT)
    keep = "import torch; from my_models import deep; torch.save(deep().state_dict(), 'deep.pt')"
    subprocess.run([sys.executable, "-c", keep], check=True)
    alone = _numbers(name)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    try:
        beside = _numbers(name, ATEN_CPU_CAPABILITY="default")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert not differences(alone, beside)


def _numbers(name, **variables):
    command = [sys.executable, "-m", "reluscope", *COMMANDS[name], "--json"]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
