"""What IBU gains: cells against the definition written out, averages, and the paper's own statements."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies import gain
from mechdesign.studies.frequencies import estimators, postprocess
from mechdesign.studies.frequencies.laws import made_of_law
from mechdesign.studies.frequencies.protocols import protocol
from mechdesign.studies.gain import Gain, Gains, GainStudy

PLAN = GainStudy(("grr", "oue"), ("poisson", "uniform"), (1.0, 4.0), (10, 40), (2000,), runs=2, method="ibu", seed=3)


def test_a_cell_is_the_ratio_of_mean_errors_over_the_runs() -> None:
    """From the data and generators of the cell, by hand."""
    (found,) = (
        cell
        for cell in PLAN.answer().cells
        if (cell.law, cell.protocol, cell.bins, cell.epsilon) == ("uniform", "oue", 40, 1.0)
    )
    law, data = protocol("oue", 1.0, 40), []
    for name in PLAN.laws:
        for run in range(2):
            data.append(made_of_law(name, 2000, 40, gain._generator(PLAN, name, 2000, 40, run)).counts)
    rng = gain._generator(PLAN, "oue", (1.0).hex(), 2000, 40)
    seen = [law.simulate(counts, rng) for counts in data][2:]
    errors = np.zeros((2, 2))
    for counts, support in zip(data[2:], seen, strict=True):
        truth = counts / 2000
        for place, estimate in enumerate(
            (postprocess.norm_mul(law.estimate(support, 2000)), estimators.ibu(support, law.p, law.q).frequencies)
        ):
            errors[place] += np.mean((estimate - truth) ** 2), np.mean(np.abs(estimate - truth))
    assert (found.mse, found.mae) == pytest.approx(np.maximum(100 * (1 - errors[1] / errors[0]), 0))


def test_cells_do_not_depend_on_their_company() -> None:
    alone = GainStudy(("oue",), PLAN.laws, (4.0,), (40,), (2000,), runs=2, method="ibu", seed=3)
    assert set(alone.answer().cells) <= set(PLAN.answer().cells)


def test_averages_are_over_the_cells_that_are_meant() -> None:
    cells = (
        Gain("poisson", "grr", 10, 2, 1.0, 10, 1),
        Gain("poisson", "oue", 10, 2, 1.0, 20, 2),
        Gain("uniform", "grr", 10, 2, 1.0, 60, 3),
    )
    found = Gains(GainStudy(), cells)
    assert found.average("mse", law="poisson") == 15
    assert found.average("mse", protocol="grr") == 35
    assert found.average("mae") == 2
    with pytest.raises(InvalidInput, match="be among those of the plan"):
        found.average("mse", law="gaussian")


def test_the_limit_gains_more_where_epsilon_is_small_and_bins_are_many() -> None:
    """The abstract's statement, of Poisson data and OUE: 20,000 users, 4 runs; both differences are above 10 points."""
    plan = GainStudy(("oue",), ("poisson",), (1.0, 4.0), (20, 100), (20_000,), method="ibu")
    found = plan.answer()
    assert found.average("mse", bins=100) > found.average("mse", bins=20) + 10
    assert found.average("mse", epsilon=1.0, bins=20) > found.average("mse", epsilon=4.0, bins=20) + 10


def test_tables_have_a_line_for_each_law_and_each_setting() -> None:
    of_squares, of_distances, settings = PLAN.answer().grids()
    assert [row[0] for row in of_squares.rows] == ["poisson", "uniform", "average"]
    assert of_squares.headings == of_distances.headings == ("law", "grr", "oue", "average")
    assert [row[0] for row in settings.rows] == ["eps = 1", "eps = 4", "bins = 10", "bins = 40", "users = 2000"]
    assert "<table>" in PLAN.answer()._repr_html_()


@pytest.mark.parametrize(
    "change",
    [{"protocols": ("she",)}, {"protocols": ("xyz",)}, {"protocols": ()}, {"laws": ("cauchy",)}, {"bins": (1,)},
     {"users": (1,)},
     {"runs": 0}, {"method": "raw"}, {"epsilons": (0.0,)}, {"epsilons": np.linspace(0.1, 9, 9000)}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_plans_that_make_no_sense_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        GainStudy(**change)  # type: ignore[arg-type]
