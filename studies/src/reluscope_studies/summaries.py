"""One finding for many of a kind: the mean or median of their values, between those of their ends."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import reluscope as rs

WORDS: dict[str, Callable[..., Any]] = {"mean": np.mean, "median": np.median}


def summarized(found: Sequence[rs.Finding], how: str, *, name: str, over: str, domain: str = "") -> rs.Finding:
    """Return the mean or median of findings of one quantity.

    Parameters
    ----------
    found : sequence of Finding
        One at least; an estimate without ends makes the summary one.
    how : {"mean", "median"}
    name : str
    over : str
        What there is one of for each finding.
    domain : str
        Of the summary; by default that of the first.

    Examples
    --------
    >>> shares = [rs.Finding.of(0.5), rs.Finding.of(0.7, 0.6, 0.8)]
    >>> found = summarized(shares, "mean", name="share", over="outputs")
    >>> print(found, found.definition)
    0.6 (ESTIMATE, in [0.55, 0.65]) mean over 2 outputs
    """
    first, of = found[0], WORDS[how]
    said = f"{how} over {len(found)} {over}"
    fields: dict[str, Any] = {
        "name": name,
        "definition": f"{said} of: {first.definition}" if first.definition else said,
        "domain": domain or first.domain,
        "method": first.method,
        "source": first.source,
        "num_samples": first.num_samples,
        "is_share": first.is_share,
        "unit": first.unit,
    }
    value = float(of([float(one) for one in found]))
    ends = [_ends(one) for one in found]
    if None in ends:
        return rs.Finding.estimate(value, **fields)
    lower, upper = (float(of(each)) for each in zip(*(pair for pair in ends if pair), strict=True))
    return rs.Finding.of(value, min(value, lower), max(value, upper), **fields)


def _ends(one: rs.Finding) -> tuple[float, float] | None:
    if one.claim is rs.Claim.EXACT:
        error = one.tolerance or 0.0
        return float(one) - error, float(one) + error
    return one.interval
