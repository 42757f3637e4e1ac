"""Timings against the machine's limit and against peers: ``python -m benchmarks [NAME ...]``.

Every figure is a ratio measured in one run: the work and what it is compared with take turns, and the median of the
ratios counts. One module per figure; each has ``TARGET``, a sentence, and ``run(quick) -> list of Measurement``.
"""
