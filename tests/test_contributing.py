"""The worked example of CONTRIBUTING.md is run as it stands there: supports, proof, search, registry, file, table."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import CheckFailed, FileProblem, load_design, make_table, solve
from mechdesign.cli import main
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods import registry
from mechdesign.methods.method import Method
from mechdesign.methods.result import Design
from mechdesign.values import files
from mechdesign.values.declare import evolved

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
FILES = re.findall(r"```python\n# (mechdesign/methods/wrong_label/\w+\.py)\n(.*?)```", PAGE, re.DOTALL)
FOLDER = "mechdesign.methods.wrong_label"


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The folder of the page as a package of that name, and its line in the registry."""
    package = ModuleType(FOLDER)
    package.__path__ = [str(tmp_path)]
    monkeypatch.setitem(sys.modules, FOLDER, package)
    names: dict[str, Any] = {}
    for path, code in FILES:
        name = f"{FOLDER}.{Path(path).stem}"
        target = tmp_path / Path(path).name
        target.write_text(code)
        spec = importlib.util.spec_from_file_location(name, target)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        names |= vars(module)
    line = re.search(r'^ +(Method\("wrong_label".*\)),$', PAGE, re.MULTILINE)
    assert line is not None
    method = eval(line[1], names | {"Method": Method})
    monkeypatch.setattr(registry, "METHODS", (method, *registry.METHODS))
    monkeypatch.setattr(registry, "EVIDENCE", (*registry.EVIDENCE, *method.evidence))
    yield ModuleType("example")
    names.clear()


def _problem(size: int, epsilon: float = 1.0) -> md.Problem:
    return md.Problem(loss=1 - np.eye(size), privacy=md.Pure(epsilon))


def test_the_page_shows_three_files() -> None:
    assert [Path(path).name for path, _ in FILES] == ["supports.py", "proof.py", "search.py"]


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (5, 0.5), (40, 3.0)])
def test_its_optimum_is_that_of_randomised_response(size: int, epsilon: float) -> None:
    problem = _problem(size, epsilon)
    assert md.methods(problem)["wrong_label"] is None
    design = solve(problem)
    assert design == solve(problem, method="wrong_label", gap=1e-9)
    certificate = design.certificate
    assert certificate.lower == pytest.approx((size - 1) / (np.exp(epsilon) + size - 1), rel=1e-12)
    assert certificate.relative_gap < 1e-12
    assert not certificate.claimed


@pytest.mark.usefixtures("example")
def test_its_designs_come_back_from_files_and_become_tables(tmp_path: Path) -> None:
    design = solve(_problem(4))
    assert load_design(design.save(tmp_path / "d.json")) == design
    assert make_table(design).privacy.epsilon == 1.0


@pytest.mark.usefixtures("example")
def test_it_is_told_in_its_own_words() -> None:
    said = solve(_problem(3)).summary()
    assert said.startswith("certified optimum for 3 inputs and 3 outputs, eps = 1: worst-case loss\n")
    assert "\nleast wrong label: " in said
    assert "\nworst-case loss: 0.42" in said


@pytest.mark.usefixtures("example")
def test_what_it_does_not_answer_is_said_and_left_to_others() -> None:
    other = md.Problem(loss=[[0, 1], [2, 0]], privacy=md.Pure(1.0))
    assert "the chance of a wrong label" in (md.methods(other)["wrong_label"] or "")
    assert solve(other).evidence.kind == "finite"


@pytest.mark.usefixtures("example")
def test_show_tells_of_its_designs(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = solve(_problem(3)).save(tmp_path / "d.json")
    with contextlib.suppress(SystemExit):
        main(["show", str(path)])
    captured = capfd.readouterr()
    assert captured.err == ""
    assert "certificate (worst-case loss" in captured.out


@pytest.mark.usefixtures("example")
def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    path = solve(_problem(4)).save(tmp_path / "d.json")
    document = files.read_json(path)
    document["problem"]["privacy"]["epsilon"] = 2.0
    path.write_text(files.dump_json(document))
    with pytest.raises(FileProblem, match=r"has eps 1\.0, and the problem 2\.0"):
        load_design(path)


@pytest.mark.usefixtures("example")
def test_a_table_for_other_reports_is_no_answer() -> None:
    design = solve(_problem(3))
    table = design.mechanism
    assert isinstance(table, Discrete)
    wider = evolved(table, outputs=type(table.outputs)((0, 1, 2.5)))
    with pytest.raises(CheckFailed, match="not the categories"):
        Design(design.problem, wider, design.evidence, design.report)
