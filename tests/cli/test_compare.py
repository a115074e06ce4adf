"""`compare`: the table over epsilon and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mechdesign import Absolute, Interval, catalogue


def test_cells_are_the_catalogue_s_own_numbers(run: Any) -> None:
    cells = run("compare", "--eps", "1,2", "--domain", "-2,3", "--json").json["cells"]
    assert len(cells) == 2 * (len(catalogue.ON_INTERVALS) + 1)
    for cell in cells:
        if cell["name"] == "optimal piecewise":
            continue
        mechanism = catalogue.build(cell["name"], cell["eps"], Interval(-2, 3), Absolute())
        assert cell["worst"] == pytest.approx(mechanism.worst_case(Absolute())[0])
        assert cell["average"] == pytest.approx(mechanism.average_loss(Absolute()))


def test_section_5_6_s_ratios_come_out(run: Any) -> None:
    cells = run("compare", "--eps", "2,4", "--mechanisms", "ogpm,pm-c,sw-c", "--json").json["cells"]
    average = {(cell["name"], cell["eps"]): cell["average"] for cell in cells}
    ratios = [average["ogpm", eps] / average[rival, eps] for eps in (2.0, 4.0) for rival in ("pm-c", "sw-c")]
    assert ratios == pytest.approx([0.942, 0.923, 0.905, 0.747], abs=5e-4)


def test_a_range_is_drawn(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "errors.png"
    outcome = run("compare", "--eps", "0.5:4:12", "--circular", "--plot", str(path))
    assert outcome.code == 0
    assert "optimal piecewise" in outcome.out
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eps", "1", "--mechanisms", "gauss"), "be one of laplace"),
        (("--eps", "2,1"), "increase"),
        (("--eps", "1:2"), "FROM:TO:COUNT"),
        (("--eps", "1:2:1"), "count from 2"),
        (("--eps", "1,nan"), "eps must be a number"),
        (("--eps", ""), "FROM:TO:COUNT"),
        (("--eps", "1", "--plot", "x"), ".png"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("compare", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""
