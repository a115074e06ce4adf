"""The site's own machinery: the check of links and fetches, the pages made from code, and the way to an answer."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mechdesign.cli.overview import NAMES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

QUESTIONS = {
    "a mean of 50,000 salaries": ("tutorials/mean.md", "mean salaries.csv --column salary"),
    "a histogram of them": ("tutorials/distribution.md", "bench -e 1 -d bins.csv"),
    "ages as whole numbers": ("howto/whole_numbers.md", "table --eps 1 --domain 18..90"),
    "a yes/no survey": ("howto/yes_no.md", "table --eps 1 --mechanism grr --labels no,yes"),
    "a Likert scale": ("howto/likert.md", "table --eps 1 --mechanism grr --labels 1,2,3,4,5"),
    "200 categories": ("howto/many_categories.md", "bench -e 1 -d categories.csv"),
    "a distribution function": ("tutorials/distribution.md", "md.frequencies.estimate_by_em("),
    "an angle": ("howto/angle.md", "ogpm --eps 2 --circular"),
    "places": ("howto/places.md", "trajectory perturb places.csv"),
    "my own matrix against the optimum": ("howto/own_matrix.md", "compare --channel own.csv --loss-matrix loss.csv"),
    "a figure for my paper": ("howto/figure.md", "compare --eps 0.5:2:4 --plot"),
    "the budget for a capacity alarm": ("howto/capacity.md", "capacity -p grr,oue,pm --capacity 1700000"),
}


def loaded(name: str) -> ModuleType:
    """A program of the documentation, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def linked(page: Path) -> set[Path]:
    return {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text())}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_in_two_clicks_and_one_command(question: str) -> None:
    page, command = QUESTIONS[question]
    start, target = DOCS / "index.md", (DOCS / page).resolve()
    near = linked(start)
    assert target in near or any(target in linked(step) for step in near)
    assert command in target.read_text()


@pytest.mark.parametrize("page", sorted((DOCS / "howto").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_a_how_to_gives_the_answer_first(page: Path) -> None:
    title, _, first, *_ = page.read_text().splitlines()
    assert title.startswith("# ")
    assert first.startswith("**Answer:** ")


def test_every_page_is_in_the_table_of_contents() -> None:
    pages = {page.relative_to(DOCS).with_suffix("") for page in DOCS.glob("**/*.md")} - {Path("index")}
    listed = set()
    for index in DOCS.glob("**/*.md"):
        for found in re.findall(r"```\{toctree\}\n(.*?)```", index.read_text(), re.DOTALL):
            lines = [line for line in found.splitlines() if line and not line.startswith(":")]
            listed |= {(index.parent / line).relative_to(DOCS) for line in lines}
    made = {page for page in pages if page.parts[:2] in (("api", "modules"), ("gallery", "pages"))}
    assert pages - made <= listed


def test_every_command_is_on_a_page() -> None:
    text = "".join(page.read_text() for page in DOCS.glob("**/*.md"))
    for name in NAMES:
        assert re.search(rf"\$ python -m mechdesign {name}\b", text), name


def test_every_command_of_the_pictures_is_told_on_the_page_that_shows_it() -> None:
    pictures = loaded("pictures").COMMANDS
    text = re.sub(r" +", " ", "".join(page.read_text() for page in DOCS.glob("**/*.md")))
    for name, command in pictures.items():
        first = " ".join(command.split()[:4])
        assert f"_static/{name}" in text
        assert f"python -m mechdesign {first}" in text
        assert (DOCS / "_static" / name).is_file()


@pytest.mark.parametrize(
    ("head", "body", "fault"),
    [
        ("", '<a href="b.html">b</a> <a href="#here">h</a> <p id="here">', None),
        ("", '<a href="https://example.org/">out</a>', None),
        ("", '<a href="missing.html">m</a>', "leads to missing.html, which is not there"),
        ("", '<a href="b.html#nowhere">b</a>', "leads to b.html#nowhere, and there is no such place"),
        ('<script src="https://example.org/x.js"></script>', "", "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "", "fetches //example.org/x.css"),
        ("", '<p style="background: url(https://example.org/x.png)">', "fetches https://example.org/x.png"),
        ("", '<img src="missing.png">', "fetches missing.png"),
    ],
)
def test_links_to_nowhere_and_fetches_from_elsewhere_are_found(
    tmp_path: Path, head: str, body: str, fault: str | None
) -> None:
    (tmp_path / "a.html").write_text(f"<html><head>{head}</head><body>{body}</body></html>")
    (tmp_path / "b.html").write_text("<p>b</p>")
    found = loaded("check_site").faults(tmp_path)
    assert (found == []) if fault is None else any(line.endswith(fault) for line in found)


def test_styles_that_fetch_from_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>a</p>")
    (tmp_path / "x.css").write_text(
        "@import 'https://example.org/y.css'; p { background: url(data:image/png;base64,) }"
    )
    assert loaded("check_site").faults(tmp_path) == ["x.css: fetches https://example.org/y.css"]


def test_a_site_without_pages_is_a_fault(tmp_path: Path) -> None:
    assert loaded("check_site").faults(tmp_path)


def test_the_site_is_built_in_ci_with_warnings_as_errors() -> None:
    assert "make docs" in (ROOT / ".ci" / "run").read_text().splitlines()
    assert "sphinx -q -W" in (ROOT / "Makefile").read_text()


def test_the_citation_has_the_version_of_the_package() -> None:
    from mechdesign import __version__

    assert f'version: "{__version__}"' in (ROOT / "CITATION.cff").read_text()


def test_numbers_of_the_decision_page_are_computed_on_a_page() -> None:
    """Each number of the table, to the digits it has there, begins a number in what commands and examples print."""
    decision = (DOCS / "which.md").read_text()
    shown = "".join(
        block
        for page in DOCS.glob("**/*.md")
        for block in re.findall(r"```(?:console|python)\n(.*?)```", page.read_text(), re.DOTALL)
    )
    table = [line for line in decision.splitlines() if line.startswith("| [")]
    printed = [float(number) for number in re.findall(r"\d+\.\d+", shown)]
    for row in table:
        for number in re.findall(r"\d+\.\d+", row.split("|")[3]):
            digits = len(number.partition(".")[2])
            assert any(abs(value - float(number)) <= 0.51 * 10**-digits for value in printed), number


def test_links_of_the_readme_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    assert len(links) >= 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 70
