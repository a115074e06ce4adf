"""LDP3, a toolkit: what its tables hold, and two formulas of its published code."""

from __future__ import annotations

import math

from mechdesign.collect import metrics
from mechdesign.collect.protocols import protocol
from mechdesign.reproduce.claim import Claim, Item, Value, within

PAPER = "LDP3, a toolkit for frequency estimation"

_ITEMS, _USERS = 128, 990_002
"""Kosarak: the pages that are kept, and the users of the public file; the paper gives the first only."""
_CLOSE = 0.1
"""Ten runs, and the users without any of the kept pages are left out of the paper's data."""


def _absolute_errors(of_how_many: int) -> list[Value]:
    """Expected absolute errors of unprocessed estimates at eps = 1, in thousandths, by their normal law."""
    laws = [protocol(name, 1.0, _ITEMS) for name in ("grr", "oue")]
    return [1e3 * of_how_many * math.sqrt(2 / math.pi * float(law.variance(0.0, _USERS))) for law in laws]


def _count_variance() -> list[Value]:
    items, users = 64, 20_000
    return [float(protocol("oue", 1.0, items).variance(0.0, users)) * users**2]


def _divergence() -> list[Value]:
    return [metrics.kl([0.5, 0.5], [0.9, 0.1], smoothing=1e-12)]


CLAIMS = (
    Claim(
        "ldp3.table-1",
        PAPER,
        "section III-C, equation (22), and table I",
        "Kosarak, 128 items, eps = 1, no post-processing: the l1 distance, which is a sum over the items, in "
        "thousandths (990,002 users; corrected: the mean over the items)",
        (within("GRR", "5.65", _CLOSE), within("OUE", "1.48", _CLOSE)),
        lambda: _absolute_errors(_ITEMS),
        mended=lambda: _absolute_errors(1),
        erratum=10,
    ),
    Claim(
        "ldp3.power",
        PAPER,
        "section III-B, Power, in the published code",
        "the variance of a count that Power is given (OUE, 64 items, 20,000 users, eps = 1)",
        (Item("variance", "1150.84", "73653.89"),),
        _count_variance,
        erratum=10,
    ),
    Claim(
        "ldp3.kl",
        PAPER,
        "section III-C, equation (24), in the published code",
        "the divergence sum f log(f / estimate), which the code computes with the two exchanged (f = .5, .5, "
        "estimate .9, .1)",
        (Item("divergence", "0.3681", "0.5108"),),
        _divergence,
        erratum=10,
    ),
)
