"""Tables as values and as files: the schema, strict reading, the values they hold."""

import json
import re
from importlib.resources import files as resources

import numpy as np
import pytest

from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.product import Product
from mechdesign.methods import load_design
from mechdesign.methods.registry import solve
from mechdesign.tables import Labels, Table, load_table, make_table
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.losses import Absolute
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods import problems
from tests.methods.problems import numbers
from tests.tables.conftest import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_files_come_back_as_they_were(tables, kind, tmp_path):
    path = tables[kind].save(tmp_path / "t.json")
    assert path.read_bytes() == tables[kind].content
    assert load_table(path) == tables[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_files_follow_the_schema_that_is_shipped(tables, kind):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(resources("mechdesign.tables").joinpath("table.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert not list(validator.iter_errors(tables[kind].document))
    for broken in ({"version": 3}, {"law": {}}, {"more": 1}, {"epsilon": 1}, {"cap": "1.5"}):
        assert list(validator.iter_errors(dict(tables[kind].document) | broken))


def test_existing_files_are_kept_unless_told_otherwise(tables, tmp_path):
    path = tables["small"].save(tmp_path / "t.json")
    with pytest.raises(FileProblem, match="not exist yet"):
        tables["duchi"].save(path)
    assert load_table(path) == tables["small"]
    assert load_table(tables["duchi"].save(path, overwrite=True)) == tables["duchi"]


@pytest.mark.parametrize("bad", [b"", b"{}", b"NaN", b'{"a":1,"a":1}', b"\xff\xfe", b"[" * 10**5])
def test_files_that_are_no_tables_are_refused(tmp_path, bad):
    (tmp_path / "t.json").write_bytes(bad)
    with pytest.raises(FileProblem):
        load_table(tmp_path / "t.json")


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.json", "with\0null"):
        with pytest.raises(FileProblem):
            load_table(path)


# -- values -----------------------------------------------------------------------------------------------------------


def test_a_saved_design_ships_like_the_design(tmp_path):
    design = solve(numbers(1.0), gap=1e-2)
    saved = load_design(design.save(tmp_path / "d.json"))
    assert make_table(saved).document["law"] == make_table(design).document["law"]
    assert make_table(saved).document["certificate"] == make_table(design).document["certificate"]


def test_a_finite_design_ships():
    loss = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    design = solve(Problem(loss=loss, privacy=Pure(1.0)))
    assert make_table(design).privacy_loss <= 1


def test_domains_are_read_back(tables):
    assert tables["small"].domain == Interval(0, 1)
    assert tables["circle"].domain == Circle()
    assert tables["finite"].domain == Finite((0, 1, 5))


def test_products_are_refused():
    with pytest.raises(InvalidInput, match="make a table of each part"):
        make_table(Product((catalogue.sw(0.5), catalogue.sw(0.5))))


def test_provenance_is_text_that_is_kept():
    table = make_table(catalogue.duchi(1.0), provenance={"command": "table --eps 1 — ü"})
    assert table.document["provenance"]["command"] == "table --eps 1 — ü"
    assert table.content.isascii()
    with pytest.raises(CheckFailed, match="provenance"):
        make_table(catalogue.duchi(1.0), provenance={"seed": 1})  # type: ignore[dict-item]


def test_tables_with_equal_bytes_are_equal(tables):
    again = Table(tables["small"].content)
    assert again == tables["small"]
    assert len({again, tables["small"], tables["duchi"]}) == 2


def test_a_table_is_shown_in_one_short_line():
    assert len(repr(make_table(catalogue.randomised_response(1.0, Finite(tuple(range(50))))))) < 200


@pytest.mark.parametrize("bits", [np.int64(16), np.uint8(16)])
def test_bits_may_be_whole_numbers_of_numpy(bits):
    assert make_table(catalogue.duchi(1.0), bits).bits == 16


@pytest.mark.parametrize("bits", [0, 8, 31, 64, 32.0, "32", True, None])
def test_other_bits_are_refused_with_the_choice(bits):
    with pytest.raises(InvalidInput, match="be one of 16, 32, 53, 62"):
        make_table(catalogue.duchi(1.0), bits)


@pytest.mark.parametrize("source", ["design.json", None, 3])
def test_what_is_no_mechanism_is_refused(source):
    with pytest.raises(InvalidInput, match="be a design or a mechanism"):
        make_table(source)


@pytest.mark.parametrize(("name", "instead"), [("hm", "pm or duchi"), ("b-laplace", "t-laplace")])
def test_a_refused_mechanism_names_what_to_take_instead(name, instead):
    with pytest.raises(InvalidInput, match=instead):
        make_table(catalogue.build(name, 1.0, Interval(0, 1)))


def test_a_design_read_as_a_table_is_told_so(tmp_path):
    design = solve(problems.piecewise(1.0))
    design.save(tmp_path / "d.json")
    with pytest.raises(FileProblem, match="be a table, and is a design"):
        load_table(tmp_path / "d.json")
    make_table(design).save(tmp_path / "t.json")
    with pytest.raises(FileProblem, match="tables are read by verify"):
        load_design(tmp_path / "t.json")


def test_a_table_from_a_saved_design_says_how_it_was_found(tmp_path):
    design = solve(problems.piecewise(1.0))
    design.save(tmp_path / "d.json")
    said = make_table(load_design(tmp_path / "d.json")).document["provenance"]
    assert said == make_table(design).document["provenance"]
    assert said["solver"] == design.report.solver
    assert said["design"].startswith("optimum over piecewise mechanisms between 0.3")


@pytest.mark.parametrize("name", ["laplace", "staircase", "t-laplace", "ogpm", "pm", "sw", "t-pm", "t-sw", "duchi"])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
def test_where_bits_are_too_few_the_number_that_is_named_works(name, epsilon):
    mechanism = catalogue.build(name, epsilon, Interval(0, 1), Absolute())
    step = ""
    try:
        make_table(mechanism, 16)
    except InvalidInput as problem:
        step = problem.next_step
    named = re.search(r"take (\d+) bits", step)
    assert named or not step or "take a larger eps" in step
    if named:
        assert make_table(mechanism, int(named[1])).ratio > 1


def test_a_table_too_large_for_its_file_is_refused_before_it_is_made():
    mechanism = catalogue.randomised_response(1.0, Finite(range(4096)))
    with pytest.raises(
        InvalidInput, match=r"table must be a file of at most 64 MB \(got '1\d\d MB'\); take fewer bits"
    ):
        make_table(mechanism)


def test_labels_are_for_finite_mechanisms_and_as_many_as_their_points():
    with pytest.raises(InvalidInput, match="only tables of a finite domain have labels"):
        make_table(catalogue.pm(1.0), labels=Labels(("a", "b")))
    with pytest.raises(InvalidInput, match=r"labels.outputs must be one for each of the 2 outputs"):
        make_table(catalogue.randomised_response(1.0, Finite((0, 1))), labels=Labels(None, ("a", "b", "c")))
