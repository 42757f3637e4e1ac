"""See whether an installed reluscope works: run with the interpreter that has it, outside the sources.

It partitions a small network, looks at what a wheel has to hold and says what it found. Wheels are tried with it before
they are published, and `tests/test_packaging.py` installs one into an environment of its own.
"""

import importlib.metadata
import re
import sys
from pathlib import Path


def main() -> None:
    """Raise where something is missing."""
    import numpy as np

    import reluscope as rs
    from reluscope import _kernels

    package, kernels = Path(rs.__file__).parent, Path(_kernels.__file__)
    assert kernels.parent == package, f"the kernels are those of {kernels}"
    assert sys.version_info < (3, 12) or "abi3" in kernels.name or kernels.suffix == ".pyd", kernels.name
    assert (package / "py.typed").is_file()

    about = importlib.metadata.distribution("reluscope")
    metadata = about.metadata
    assert metadata["Version"] == rs.__version__
    assert metadata["License-Expression"] == "MIT"
    assert any(str(file).endswith("licenses/LICENSE") for file in about.files or ())
    addresses = [line.partition(", ")[2] for line in metadata.get_all("Project-URL") or ()]
    assert all(re.fullmatch(r"https://\S+", address) for address in addresses), addresses
    assert "reluscope" in {one.name for one in about.entry_points}

    # |x| bends at 0: two regions of a segment; three lines cut a square into seven.
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    part = rs.partition(net, rs.Box(-1.0, 1.0, 1))
    assert int(part.finding()) == 2, part.finding()
    lines = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 0.0, -0.5])
    part = rs.partition(rs.load([lines, (np.ones((1, 3)), np.zeros(1))]), rs.Box(-1.0, 1.0, 2))
    assert int(part.finding()) == 7, part.finding()
    python = ".".join(str(one) for one in sys.version_info[:3])
    print(f"reluscope {rs.__version__} works on Python {python}, kernels {kernels.name}")  # noqa: T201


if __name__ == "__main__":
    main()
