"""Swift above the runtime in C. There is no compiler of Swift here: its C is compiled and run, and what is above it is
parsed and held to the header that it calls."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Table, make_table
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.edges.swift import RULE
from mechdesign.tables.export.folder import export_package
from mechdesign.tables.labels import Labels
from mechdesign.words.domains import Finite

RUNTIME = Path(__file__).parents[2] / "mechdesign" / "runtimes" / "c"


def smokes() -> Table:
    labels = Labels(("no", 'rather "not"', "yes"), ("n", "?", "\u00e9"))
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=labels)


def asking(folder: Path) -> None:
    tables = {"smokes": smokes(), "mood": make_table(catalogue.pm(1.0), 32), "fruit": protocol_table("oue", 1.0, 12)}
    export_package(tables, "swift", "Survey", folder, cases=2)


def keeping(folder: Path) -> None:
    again = make_table(catalogue.randomised_response(0.5, Finite((0, 1, 2))))
    device = Device(smokes(), again, values=2, reports=3)
    export_package({"smokes": smokes(), "again": again}, "swift", "Survey", folder, cases=2, device=device)


def many(folder: Path) -> None:
    labels = tuple(f"label {i}" for i in range(1001))
    table = protocol_table("grr", 1.0, labels)
    device = Device(table, None, values=2, reports=3)
    export_package({"places": table}, "swift", "Survey", folder, cases=2, device=device)


PACKAGES = [asking, keeping, many]
packages = pytest.mark.parametrize("package", PACKAGES)


@pytest.fixture(scope="module")
def parse() -> Callable[[bytes], Any]:
    tree_sitter = pytest.importorskip("tree_sitter", reason="the Python package tree-sitter is not installed")
    grammar = pytest.importorskip("tree_sitter_swift", reason="the Python package tree-sitter-swift is not installed")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    return lambda text: parser.parse(text).root_node


@packages
def test_swift_is_of_its_grammar(
    package: Callable[[Path], None], parse: Callable[[bytes], Any], tmp_path: Path
) -> None:
    package(tmp_path / "p")
    assert parse(b"enum A { case }").has_error
    sources = sorted((tmp_path / "p").rglob("*.swift"))
    assert len(sources) > 4
    assert [path.name for path in sources if parse(path.read_bytes()).has_error] == []


@packages
def test_swift_calls_what_the_headers_declare_with_as_many_arguments(
    package: Callable[[Path], None], parse: Callable[[bytes], Any], tmp_path: Path
) -> None:
    package(tmp_path / "p")
    header = "".join(path.read_text() for path in (tmp_path / "p" / "Sources" / "CSurvey" / "include").glob("*.h"))
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    declared = {found[1]: found[2].count(",") + 1 for found in re.finditer(r"\b(mdp_\w+)\(([^()]+)\);", header)}
    called: dict[str, int] = {}
    for path in (tmp_path / "p").rglob("*.swift"):
        for name, arguments in _calls(parse(path.read_bytes())):
            if name in declared:
                assert arguments == declared[name], name
            elif not name.startswith("mdp_") or arguments == 0:
                continue  # an empty struct
            else:
                assert name == "mdp_storage"
            called[name] = arguments
    needed = {"mdp_table_read", "mdp_sample", "mdp_sample_label", "mdp_envelope"}
    assert needed | ({"mdp_device_report"} if "mdp_device_report" in declared else set()) <= set(called)
    constants = set(
        re.findall(r"\bSurvey_\w+", "".join(path.read_text() for path in (tmp_path / "p").rglob("*.swift")))
    )
    assert constants
    assert all(re.search(rf"\b{name};", header) for name in constants)


def _calls(node: Any) -> list[tuple[str, int]]:
    """The functions that are called, and with how many arguments."""
    found = []
    if node.type == "call_expression":
        name = node.children[0].text.decode()
        arguments = [child for suffix in node.children[1:] for child in _arguments(suffix)]
        found.append((name, len(arguments)))
    return found + [call for child in node.children for call in _calls(child)]


def _arguments(node: Any) -> list[Any]:
    if node.type == "value_argument":
        return [node]
    if node.type in ("call_suffix", "value_arguments"):
        return [argument for child in node.children for argument in _arguments(child)]
    return []


@packages
def test_the_c_below_it_compiles_with_the_header_of_its_module(package: Callable[[Path], None], tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    package(tmp_path / "p")
    inner = tmp_path / "p" / "Sources" / "CSurvey"
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iinclude", "-I."]
    (tmp_path / "all.c").write_text('#include "CSurvey.h"\n#include "mechdesign.h"\nint main(void) { return 0; }\n')
    sources = [path.name for path in inner.glob("*.c")]
    command = [*strict, str(tmp_path / "all.c"), *sources, "-pthread", "-o", str(tmp_path / "all")]
    done = subprocess.run(command, cwd=inner, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_runtime_is_carried_as_it_stands(tmp_path: Path) -> None:
    keeping(tmp_path / "p")
    for name in ("Table.swift", "Device.swift"):
        carried = tmp_path / "p" / "Sources" / "Survey" / name
        assert carried.read_bytes() == (RUNTIME / "swift" / "Sources" / name).read_bytes()


def code(path: Path) -> str:
    """A source without its comments and texts."""
    return re.sub(r"//.*|\"[^\"]*\"", "", path.read_text())


SOURCES = sorted((RUNTIME / "swift").rglob("*.swift"))
LETTERS = r"\b[A-Z][A-Za-z0-9]*\b"
INNER = {"Answer", "File", "Once", "Reporting", "RawValue", "Failure"}
"""Names inside a type or a call: one outside is another."""


@pytest.mark.parametrize(
    "name", sorted({found for path in SOURCES for found in re.findall(LETTERS, code(path))} - INNER)
)
def test_no_table_has_a_name_that_the_sources_say(name: str) -> None:
    """A type of a table would stand before the one that is meant."""
    assert name in RULE.members


def test_nothing_public_has_a_name_or_a_receiver_of_apple_s_or_of_the_language() -> None:
    declared = set()
    for path in SOURCES:
        if path.parent.name == "Sources":
            declared |= set(re.findall(r"^(?:public )?extension (\w+)", code(path), re.MULTILINE))
            declared |= set(re.findall(r"^public (?:final )?(?:\w+) (\w+)", code(path), re.MULTILINE))
    assert {"Report", "ReportTable", "Sampler", "Device"} <= declared
    assert declared.isdisjoint({"Table", "Label", "Value", "tables", "Double", "Int", "String", "Array"})


def test_only_few_labels_are_an_enum(tmp_path: Path) -> None:
    asking(tmp_path / "few")
    many(tmp_path / "many")
    assert "enum Input" in (tmp_path / "few" / "Sources" / "Survey" / "Tables.swift").read_text()
    text = (tmp_path / "many" / "Sources" / "Survey" / "Tables.swift").read_text()
    assert "enum Input" not in text
    assert "struct Input: ReportLabel" in text


def test_labels_that_swift_takes_for_the_same_text_are_refused(tmp_path: Path) -> None:
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1))), labels=Labels(("\u00e9", "e\u0301")))
    with pytest.raises(InvalidInput, match="differ by more than how letters are composed"):
        export_package({"t": table}, "swift", "Survey", tmp_path / "made")
