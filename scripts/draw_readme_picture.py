"""Draw the picture at the top of README.md: one exact plane through the embedded network, seen twice.

    python scripts/draw_readme_picture.py

Writes docs/images/plane.png; deterministic for one version of matplotlib.
"""

from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import reluscope as rs
from reluscope import plots
from reluscope.analyses.samples.choosing import choose_triple
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits

TARGET = Path(__file__).parents[1] / "docs" / "images" / "plane.png"


def main() -> None:
    """Partition, draw, write."""
    data = digits("test")
    net = rs.load(demo_network(), data=data.points)
    points = data.points.reshape(len(data), -1)
    classes = net(points).argmax(1).numpy()
    right = np.flatnonzero(classes == data.labels)
    rows = choose_triple(points[right], classes[right], seed=0)
    assert rows is not None
    samples, labels = points[right[list(rows)]], [f"class {one}" for one in classes[right[list(rows)]]]
    part = rs.partition(net, rs.Plane(*samples, margin=0.25))
    figure = Figure(figsize=(11.6, 5.2), layout="constrained")
    left_axes, right_axes = figure.subplots(1, 2)
    plots.partition(part, color="class", samples=samples, sample_labels=labels, axes=left_axes)
    plots.boundaries(part, samples=samples, sample_labels=labels, axes=right_axes)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    # The usual median cut would turn the few lines of the last gate into those of another.
    image = Image.open(BytesIO(plots.to_png(figure, dpi=110))).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE)
    image.save(TARGET, optimize=True)
    print(f"{TARGET.name}: {len(part):,} regions, {TARGET.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
