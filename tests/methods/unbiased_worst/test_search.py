"""The least worst variance over all unbiased mechanisms: against a program on grids, rivals and its own bounds."""

from __future__ import annotations

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram

import mechdesign as md
from mechdesign import Interval, NoAnswer, Squared, catalogue
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from tests.methods import problems


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.5, 1.0, 2.0, 4.0])
def test_the_bounds_are_proven_and_as_near_as_was_asked(epsilon: float) -> None:
    certificate = solve(problems.unbiased(epsilon)).certificate
    assert not certificate.claimed
    assert certificate.relative_gap <= 1e-4
    assert certificate.valid_for == "unbiased mechanisms"


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "gap"), [(6.0, 1e-4), (8.0, 1e-4), (12.0, 1e-2)])
def test_large_eps_have_bounds_as_near_as_is_usual_for_them(epsilon: float, gap: float) -> None:
    assert solve(problems.unbiased(epsilon)).certificate.relative_gap <= gap


def _on_grids(epsilon: float, outputs: np.ndarray, x: np.ndarray | None = None) -> float:
    """The least worst variance over a few inputs, 9 if left out, and given outputs, by a law for each input."""
    x, ratio = np.linspace(-1, 1, 9) if x is None else x, np.exp(epsilon)
    n, m = x.size, outputs.size
    width = 1 + m + n * m  # the worst variance, the base, the laws
    rows, lower, upper = [], [], []

    def add(entries: dict[int, float] | np.ndarray, least: float, most: float) -> None:
        rows.append(entries)
        lower.append(least)
        upper.append(most)

    for i in range(n):
        law = slice(1 + m + i * m, 1 + m + (i + 1) * m)
        for values, least, most in ((np.ones(m), 1.0, 1.0), (outputs, x[i], x[i])):
            row = np.zeros(width)
            row[law] = values
            add(row, least, most)
        row = np.zeros(width)
        row[law], row[0] = outputs**2, -1.0
        add(row, -np.inf, x[i] ** 2)
        for j in range(m):
            for own, base, least, most in ((1.0, -1.0, 0.0, np.inf), (1.0, -ratio, -np.inf, 0.0)):
                row = np.zeros(width)
                row[1 + m + i * m + j], row[1 + j] = own, base
                add(row, least, most)
    program = LinearProgram.of(np.eye(width)[0], np.array(rows), lower, upper, 0.0, np.inf)
    objective = Highs().solve(program).require_optimal().objective
    assert objective is not None
    return objective


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_program_with_a_law_for_each_input_finds_hardly_less(epsilon: float) -> None:
    """Fewer inputs ask for less, fewer outputs for more."""
    certificate = solve(problems.unbiased(epsilon)).certificate
    reach = 1.2 / np.tanh(epsilon / 2)
    found = _on_grids(epsilon, np.unique(np.append(np.linspace(-reach, reach, 33), [-2.1, 2.1])))
    assert found == pytest.approx(certificate.upper, rel=2e-2)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_channel_with_random_reports_is_below_the_bound(epsilon: float, seed: int) -> None:
    """For the inputs of the evidence alone, which ask for less than all: the best laws of a linear program."""
    design = solve(problems.unbiased(epsilon), gap=0.1)
    own = design.evidence.inputs  # type: ignore[attr-defined]
    inputs, rng = np.unique(np.concatenate([-own, own])), np.random.default_rng(seed)
    reach = 1 / np.tanh(epsilon / 2)
    reports = np.concatenate([rng.uniform(-2.5, 2.5, 12) * reach, [-1.05 * reach, 1.05 * reach]])
    found = _on_grids(epsilon, np.unique(reports), inputs)
    assert found >= design.certificate.lower * (1 - 1e-9)
    assert found <= 4 * design.certificate.upper  # the reports are not so far off that nothing was tried


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_published_mechanisms_are_above_it(epsilon: float) -> None:
    upper = solve(problems.unbiased(epsilon)).certificate.upper
    rivals = [build(epsilon).worst_case(Squared())[0] for build in (catalogue.duchi, catalogue.pm, catalogue.hm)]
    piecewise = solve(evolved(problems.unbiased(epsilon), among=md.UnbiasedPiecewise()))
    assert upper < min(*rivals, piecewise.certificate.lower)


def test_other_inputs_have_the_same_optimum_but_for_their_length() -> None:
    unit, far = (solve(problems.unbiased(1.0, inputs)) for inputs in (Interval(-1, 1), Interval(100, 103)))
    assert far.certificate.lower == pytest.approx(2.25 * unit.certificate.lower, rel=1e-9)
    assert far.certificate.relative_gap <= 1e-4


def test_reports_are_unbiased_and_the_worst_variance_is_attained() -> None:
    design = solve(problems.unbiased(1.0))
    law, x = design.scalar_law, np.linspace(-1, 1, 257)
    assert np.allclose(law.mean(x), x, rtol=0, atol=1e-12)
    assert float(law.variance(x).max()) == pytest.approx(design.certificate.upper, rel=1e-3)
    assert float(law.variance(x).max()) <= design.certificate.upper * (1 + 1e-12)


def test_the_field_has_the_rivals_of_means() -> None:
    field = md.field_of(solve(problems.unbiased(1.0)))
    assert field.rows[0].name == "this design"
    assert {"duchi", "pm", "hm", "laplace"} <= {row.name for row in field.rivals}


def test_too_little_time_leaves_bounds() -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(problems.unbiased(4.0), 1e-6)
    assert 0 <= stopped.value.lower <= stopped.value.upper
