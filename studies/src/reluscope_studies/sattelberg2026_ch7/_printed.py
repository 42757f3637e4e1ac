"""The dissertation's Figure 7.9: accuracies on CIFAR-10 after mapping, in %, as far as they can be read.

Rows are networks that are mapped from, columns those that are mapped to, in the order of `COLUMNS`. A cell is here if
its accuracy and its drop add up to the accuracy of Table 7.1, within rounding, or if it can be read without its drop;
rows of which several are printed alike are left out. Figure 7.8, the same on MNIST, cannot be read.
"""

from collections.abc import Mapping

from reluscope_studies.sattelberg2026_networks import OPTIMIZERS, models

COLUMNS = tuple(model.name for optimizer in OPTIMIZERS for model in models(1, 1) if model.optimizer == optimizer)
_ROWS: Mapping[str, tuple[float | None, ...]] = {
    "linear SGD": (
        None, 30.17, 29.59, 14.26, 13.89, 14.30, 13.73, 31.66, 25.00, 25.31, 15.26, 16.30, 14.78, 14.39,
    ),
    "dense 1 SGD": (
        25.43, None, 47.83, None, 31.35, 28.62, 29.08, 31.66, 42.17, 43.18, None, 27.44, 28.87, 29.15,
    ),
    "dense 2 SGD": (
        25.43, 49.01, None, None, 30.70, 29.01, 28.82, 31.66, 41.47, 42.81, None, 27.40, 28.25, None,
    ),
    "simple 1 SGD": (
        25.02, 45.62, 44.79, None, 61.19, 55.75, 56.80, 31.50, 39.19, 40.47, 56.80, 54.98, 57.42, 57.24,
    ),
    "simple 2 SGD": (
        25.06, 45.77, 44.81, 63.02, None, 56.09, 56.15, 31.30, 39.04, 39.96, 56.23, 55.12, 57.03, 56.92,
    ),
    "complex 1 SGD": (
        25.25, 45.50, 44.38, 60.81, 59.59, None, 60.40, 31.23, 38.44, 40.08, 54.85, 53.95, 58.16, 56.57,
    ),
    "complex 2 SGD": (
        24.55, 45.94, 45.63, 60.98, 60.11, 59.02, None, 31.40, 38.69, 39.93, 54.38, 54.07, 58.16, 56.67,
    ),
    "linear AdamW": (
        25.43, None, 29.45, 14.36, 13.79, 14.36, 13.70, None, 25.01, 25.41, 15.21, 16.28, 14.84, 14.41,
    ),
    "complex 1 AdamW": (
        22.40, 39.30, 38.93, 45.23, 43.34, 40.72, 40.17, 28.35, 31.47, 32.74, 46.94, 45.03, None, 50.67,
    ),
}  # fmt: skip
MAPPED: Mapping[tuple[str, str], float] = {
    (first, second): value
    for first, row in _ROWS.items()
    for second, value in zip(COLUMNS, row, strict=True)
    if value is not None
}
