"""The worked example of CONTRIBUTING.md is run as it stands there: problem, proof, search, registry, file, table."""

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

from mechdesign import CheckFailed, FileProblem, load_design, make_table, solve
from mechdesign.cli import main
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods import registry
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
    line = re.search(r"^ +(Entry\(WrongLabelProblem.*\)),$", PAGE, re.MULTILINE)
    assert line is not None
    entry = eval(line[1], names | {"Entry": registry.Entry})
    proven_by = registry.PROVEN_BY | {entry.problem: entry.proven_by}
    monkeypatch.setattr(registry, "PROVEN_BY", proven_by)
    monkeypatch.setattr(registry, "_ANSWERS", registry._ANSWERS | {entry.problem: entry.answer})
    yield ModuleType("example")
    names.clear()


def _problem(size: int, epsilon: float = 1.0) -> Any:
    return sys.modules[f"{FOLDER}.problem"].WrongLabelProblem(epsilon, size)


def test_the_page_shows_three_files() -> None:
    assert [Path(path).name for path, _ in FILES] == ["problem.py", "proof.py", "search.py"]


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (5, 0.5), (40, 3.0)])
def test_its_optimum_is_that_of_randomised_response(size: int, epsilon: float) -> None:
    certificate = solve(_problem(size, epsilon)).certificate
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
    assert said.startswith("certified optimum for {0, 1, 2}, eps = 1: worst-case chance of a wrong label\n")
    assert "\nworst-case chance of a wrong label: 0.42" in said


@pytest.mark.usefixtures("example")
def test_show_tells_of_its_designs(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = solve(_problem(3)).save(tmp_path / "d.json")
    with contextlib.suppress(SystemExit):
        main(["show", str(path)])
    captured = capfd.readouterr()
    assert captured.err == ""
    assert "chance of a wrong label, worst case" in captured.out


@pytest.mark.usefixtures("example")
def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    path = solve(_problem(4)).save(tmp_path / "d.json")
    document = files.read_json(path)
    document["problem"]["size"] = 3
    path.write_text(files.dump_json(document))
    with pytest.raises(FileProblem, match="takes"):
        load_design(path)


@pytest.mark.usefixtures("example")
def test_a_table_for_other_reports_is_no_answer() -> None:
    design = solve(_problem(3))
    table = design.mechanism
    assert isinstance(table, Discrete)
    wider = evolved(table, outputs=type(table.outputs)((0, 1, 2.5)))
    with pytest.raises(CheckFailed, match="not the categories"):
        Design(design.problem, wider, design.evidence, design.report)
