"""Options without effect are refused for being given, also with the value they have when left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mechdesign.studies.budgets.capacity import LEAST, MOST
from mechdesign.studies.frequencies.two_phase import SHARE

CAPACITY = ("capacity", "-p", "grr", "--capacity", "1800000", "--population", "water-like", "--at-eps", "1")
POLAR = ("ogpm", "--eps", "2", "--polar", "--domain", "0,1")
UNBIASED = ("ogpm", "--eps", "2", "--unbiased")


@pytest.mark.parametrize(
    ("command", "option", "default"),
    [
        (CAPACITY, "--min-eps", str(LEAST)),
        (CAPACITY, "--max-eps", str(MOST)),
        (CAPACITY, "--method", "exact"),
        (POLAR, "--method", "reduction"),
        (UNBIASED, "--method", "reduction"),
    ],
    ids=str,
)
def test_an_option_without_effect_is_refused_with_its_default_value_too(
    run: Callable[..., Any], command: tuple[str, ...], option: str, default: str
) -> None:
    outcome = run(*command, option, default, "--quiet")
    assert outcome.code == 2
    assert f"'{option}'" in outcome.err
    assert outcome.out == ""
    assert run(*command, "--json", "--quiet").code == 0


@pytest.mark.parametrize(("more", "option"), [(("--mechanism", "pm"), "--share"), (("--guess", "uniform"), "--share")])
def test_the_share_of_two_phases_is_refused_where_nobody_asks_for_it(
    run: Callable[..., Any], tmp_path: Any, more: tuple[str, ...], option: str
) -> None:
    ages = tmp_path / "ages.csv"
    ages.write_text("age\n" + "".join(f"{k % 80}\n" for k in range(2000)))
    command = ("mean", str(ages), "--column", "age", "--bounds", "0,100", "--eps", "1", *more)
    outcome = run(*command, option, str(SHARE), "--quiet")
    assert outcome.code == 2
    assert option.strip("-") in outcome.err
