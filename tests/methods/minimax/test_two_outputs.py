"""The two-output theorem: its threshold, its optimum in exact arithmetic, and what it leaves to the search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechdesign import Absolute, Interval, Power, Squared, load_design
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.minimax.two_outputs import two_atoms, two_input_value, two_outputs
from mechdesign.methods.registry import solve
from tests.methods.problems import numbers

THRESHOLD = math.log(3 + 2 * math.sqrt(2))
UNIT = Interval(0, 1)


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with localcontext(prec=50):
        yield


def _value(epsilon: float) -> Decimal:
    """``c / (1 + c)^2`` with 50 digits."""
    c = Decimal(epsilon).exp()
    return c / (1 + c) ** 2


@pytest.mark.parametrize("inputs", [UNIT, Interval(-3, 5), Interval(0, 1e-7), Interval(-40, 1000)], ids=str)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.5, 1.0, 1.5, 1.7627])
def test_up_to_the_threshold_both_ends_are_the_optimum_in_all_digits(epsilon: float, inputs: Interval) -> None:
    certificate = solve(numbers(epsilon, Squared(), inputs)).certificate
    scale = (Decimal(inputs.upper) - Decimal(inputs.lower)) ** 2
    assert not certificate.claimed
    assert Decimal(certificate.lower) <= _value(epsilon) * scale <= Decimal(certificate.upper)
    assert certificate.relative_gap <= 1e-14


def test_the_certificate_of_the_theorem_survives_a_file(tmp_path: Path) -> None:
    design = solve(numbers(1.0, Squared(), Interval(2, 7)))
    assert load_design(design.save(tmp_path / "design.json")).certificate == design.certificate


@pytest.mark.parametrize("epsilon", np.linspace(0.05, 3.5, 24).round(4).tolist())
def test_the_threshold_is_where_the_middle_overtakes_the_ends(epsilon: float) -> None:
    """By the exact worst case of the two outputs themselves, whatever the module decides."""
    ratio = math.exp(epsilon) * (1 - 1e-15)
    share = 1 / (1 + ratio)
    mechanism = Window(epsilon, UNIT, np.array([share, 1 - share]), np.full(2, share), ratio)
    attains = exact_worst_error(mechanism, 2) <= Fraction(_value(epsilon)) * (1 + Fraction(1, 10**12))
    assert attains == (epsilon <= THRESHOLD) == (two_outputs(epsilon, 2.0, UNIT) is not None)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 12.0])
def test_two_atoms_prove_what_two_inputs_forbid(epsilon: float, exponent: int) -> None:
    ratio = math.exp(epsilon)
    atoms = two_atoms(ratio, float(exponent))
    assert float(atoms.least_worst_case(epsilon, exponent)) == pytest.approx(
        two_input_value(ratio, float(exponent)), rel=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_for_the_absolute_error_two_outputs_are_never_optimal(epsilon: float) -> None:
    """The middle loses 1/2 to the outputs 0 and 1, and no others attain the floor 1 / (1 + c) at both ends."""
    assert two_outputs(epsilon, 1.0, UNIT) is None
    certificate = solve(numbers(epsilon, Absolute()), gap=1e-3).certificate
    assert certificate.lower > 1 / (1 + math.exp(epsilon))


@pytest.mark.parametrize(("exponent", "epsilon"), [(1.5, 0.9), (3.0, 2.0), (4.0, 1.0), (6.5, 3.0)])
def test_other_powers_have_a_theorem_of_their_own(exponent: float, epsilon: float) -> None:
    """The value by a scan over single outputs, for the weights c and 1 of the two inputs."""
    design = solve(numbers(epsilon, Power(exponent)))
    c, places = math.exp(epsilon), np.linspace(0, 1, 200_001)
    value = float(((c * places**exponent + (1 - places) ** exponent) / (1 + c)).min())
    assert design.mechanism.points.size == 2
    assert design.certificate.claimed
    assert design.certificate.lower <= value * (1 + 1e-8)
    assert value * (1 - 1e-8) <= design.certificate.upper
    assert design.certificate.relative_gap < 1e-8
