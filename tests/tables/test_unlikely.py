"""Reports that no honest client sends: decided exactly, for every input, and never refused to an honest one."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, make_table, sample
from mechdesign.tables.estimators import Tally
from mechdesign.tables.reports import Collector, Envelope, Store, Subject
from mechdesign.tables.reports.payload import payload_of
from mechdesign.tables.unlikely import likely, limits
from tests.tables.reports.conftest import LATER, TODAY

BOUND = Fraction(1, 2**65)


def chances(bits: int, own: tuple[int, int], other: tuple[int, int]) -> list[Fraction]:
    """The law of the number of ones, bit by bit in fractions."""
    law = [Fraction(1)]
    for none, one in [own] + [other] * (bits - 1):
        p = Fraction(one, none + one)
        law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


@pytest.mark.parametrize("bits", [2, 64, 65, 66, 130, 300])
@pytest.mark.parametrize(
    ("own", "other"), [((32768, 32768), (47913, 17623)), ((1, 65535), (65535, 1)), ((9, 7), (7, 9))]
)
def test_numbers_of_ones_are_left_out_exactly_where_their_side_has_less_than_two_to_the_minus_65(
    bits: int, own: tuple[int, int], other: tuple[int, int]
) -> None:
    """Against a convolution of the bits in fractions."""
    law, (least, most) = chances(bits, own, other), limits(bits, own, other)
    assert sum(law[:least]) < BOUND <= sum(law[: least + 1])
    assert sum(law[most + 1 :]) < BOUND <= sum(law[most:])


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_noise_beyond_its_ends_has_a_chance_below_two_to_the_minus_65(epsilon: float) -> None:
    """``P(m >= b R) = q^b`` over ``1 - P(m = 0) / 2``, halved by the sign: in logarithms, with q as a fraction.

    And a report within 4 + 1e-5 b blocks of the ends is more likely than that.
    """
    table = make_table(catalogue.laplace(epsilon))
    law, judged = table.law, likely(table.law)
    assert judged is not None
    q = Fraction(law.tail, law.whole)
    blocks = (judged.most - law.offset) * law.scale - law.most
    count = blocks / len(law.weights)
    falls = -math.log1p(-float(1 - q))
    assert count * falls >= 65 * math.log(2)
    assert (count - 4 - 1e-5 * count) * falls < 65 * math.log(2)


def oue() -> Table:
    return make_table(encoding("oue", 1.0, 1000))


FAKES = {
    "oue, all bits": (oue(), b"\xff" * 125),
    "oue, no bit": (oue(), bytes(125)),
    "cms, all bits": (make_table(encoding("cms", 1.0, 40, functions=4, buckets=1024)), b"\x01" + b"\xff" * 128),
    "laplace, far out": (make_table(catalogue.laplace(1.0), 32), np.float64(2.0**40).tobytes()),
}


@pytest.mark.parametrize("name", FAKES)
def test_a_report_that_no_honest_client_sends_is_refused_and_counted(name: str, tmp_path: Path) -> None:
    table, fake = FAKES[name]
    honest = payload_of(table).written(sample(table, _inputs(table))[0], table)
    lines = [
        Envelope(Subject(table.sha256), LATER, bytes([k]) * 16, said).line for k, said in enumerate((fake, honest))
    ]
    with Store(tmp_path / "s.db", new=True) as store:
        intake = Collector(store, [table], today=TODAY).take(lines)
    assert (intake.accepted, intake.refused["too unlikely"], sum(intake.refused.values())) == (1, 1, 1)


@pytest.mark.parametrize("name", FAKES)
def test_an_estimate_leaves_it_out_and_counts_it(name: str) -> None:
    table, fake = FAKES[name]
    reports = sample(table, _inputs(table) * 50)
    code = payload_of(table).read(fake, table) if table.chances is None else fake.hex()
    both = [*reports, code]
    alone, found = Tally(table).add_codes(reports), Tally(table).add_codes(both)
    assert (found.count, found.unlikely) == (alone.count, 1)
    assert found._sums == alone._sums
    assert found.estimate().unlikely == 1
    assert Tally(table).merge(found).unlikely == 1


def test_honest_reports_are_all_kept() -> None:
    """20,000 reports of each; an honest one is refused with a chance below 2^-64."""
    for table, _ in FAKES.values():
        assert Tally(table).add_codes(sample(table, _inputs(table) * 10_000)).unlikely == 0


@pytest.mark.parametrize("mechanism", [catalogue.duchi(1.0), catalogue.pm(1.0)])
def test_laws_whose_reports_are_alike_leave_nothing_out(mechanism: object) -> None:
    assert likely(make_table(mechanism).law) is None


def _inputs(table: Table) -> list[float]:
    return [0, 1] if table.chances is not None else [0.0, 0.5]
