"""What is no mechanism is told where it has one, wherever a mechanism is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies import mean, numeric, square_wave
from mechdesign.tables.measured import measured
from tests.methods.problems import numbers

DESIGN = md.solve(numbers(1.0))
TABLE = md.make_table(DESIGN)
REPORTS = [0.2, 0.4, 0.6]

WANTED: dict[str, Callable[[Any], Any]] = {
    "field_of": lambda law: md.field_of(DESIGN, {"mine": law}),
    "prove_privacy": lambda law: md.prove_privacy(law, 1.0),
    "estimate_by_em": lambda law: square_wave.estimate_by_em(REPORTS, law),
    "estimate_by_ems": lambda law: square_wave.estimate_by_ems(REPORTS, law),
    "report_counts": lambda law: square_wave.report_counts(REPORTS, law),
    "mean_of_reports": lambda law: mean.mean_of_reports(REPORTS, law),
    "expected_error": lambda law: mean.expected_error(law, REPORTS),
    "simulate_mean": lambda law: numeric.simulate_mean(law, REPORTS, 2, np.random.default_rng(0)),
    "densities": md.plot.densities,
}


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize(
    ("what", "words"), [(TABLE, "mechanism that it was made from"), (DESIGN, "design.mechanism"), (1.0, "for example")]
)
def test_a_table_a_design_and_a_number_are_refused_with_what_to_pass(name: str, what: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=f"must be a mechanism .*{words}"):
        WANTED[name](what)


def test_a_table_is_no_source_of_a_table() -> None:
    with pytest.raises(InvalidInput, match="be a design or a mechanism"):
        md.make_table(TABLE)  # type: ignore[arg-type]


def test_the_mechanism_that_the_message_names_is_ranked() -> None:
    ranked = md.field_of(DESIGN, {"mine": measured(TABLE)})
    row = ranked.row("mine")
    assert row is not None
    assert row.worst == pytest.approx(DESIGN.certificate.upper, rel=1e-3)


def test_a_mechanism_without_a_window_is_refused_by_em() -> None:
    with pytest.raises(InvalidInput, match="have a window that moves with the input"):
        square_wave.estimate_by_ems(REPORTS, md.catalogue.laplace(1.0))  # type: ignore[arg-type]
