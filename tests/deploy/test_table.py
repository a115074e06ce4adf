"""Tables as values and as files: 10^4 random designs, the schema, strict reading, the values they hold."""

import json
import math
from importlib.resources import files as resources

import numpy as np
import pytest

from mechdesign.deploy import BITS, Table, load_table, make_table
from mechdesign.design import FiniteProblem, load_design, optimal_finite, optimal_minimax
from mechdesign.design.minimax import MinimaxProblem
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window

KINDS = ("absolute", "squared", "small", "unbiased", "duchi", "finite", "pieces", "circle", "additive", "clamped")


def random_mechanism(rng):
    """A mechanism of a random kind, epsilon, size and domain."""
    epsilon = float(np.exp(rng.uniform(np.log(0.05), np.log(8))))
    ratio = math.exp(epsilon) * (1 - 1e-12)
    lower = float(rng.choice([0.0, -1.0, 5.0, -1e4, 0.3]))
    inputs = Interval(lower, lower + float(np.exp(rng.uniform(-3, 3))))
    size = int(rng.integers(1, 14))
    points = np.sort(inputs.lower + inputs.length * rng.uniform(-0.3, 1.3, size))
    base = rng.dirichlet(np.full(size, rng.uniform(0.3, 3))) + 1e-9
    kind = rng.choice(
        ["window", "unbiased", "finite", "two-point", "pieces", "additive"], p=[0.45, 0.15, 0.2, 0.05, 0.1, 0.05]
    )
    if kind == "window":
        total = rng.uniform(1.0001 / ratio, 0.9999)
        return Window(epsilon, inputs, points, base * (total / base.sum()), ratio)
    if kind == "unbiased":
        reach = inputs.length * rng.uniform(1.5, 3) / math.tanh(epsilon / 2)
        masses = np.concatenate([[1.0], base * 0.1, [1.0]])
        outputs = np.concatenate([[inputs.middle - reach], points, [inputs.middle + reach]])
        return UnbiasedWindow(epsilon, inputs, outputs, masses / masses.sum() * 2 / (1 + ratio), ratio)
    if kind == "finite":
        tilt = np.exp(0.49 * epsilon * rng.random((int(rng.integers(1, 8)), size)))
        table = base * tilt
        domain = Finite(tuple(range(len(tilt))))
        return Discrete(epsilon, domain, Finite(tuple(range(size))), table / table.sum(axis=1, keepdims=True))
    if kind == "two-point":
        return catalogue.duchi(epsilon, inputs)
    if kind == "pieces":
        build = rng.choice([catalogue.pm, catalogue.sw, catalogue.ogpm, catalogue.ogpm_squared])
        return build(epsilon, inputs)
    return rng.choice([catalogue.laplace, catalogue.truncated_laplace])(epsilon, inputs)


def ships(rng):
    mechanism = random_mechanism(rng)
    bits = int(rng.choice([16, 32] if mechanism.name in ("unbiased window", "Duchi") else BITS))
    try:
        return make_table(mechanism, bits)
    except InvalidInput as refused:  # too fine or too coarse a table for this eps
        if refused.field not in ("bits", "domain"):
            raise
        return None


def test_random_designs_verify():
    rng = np.random.default_rng(20_260)
    tables = [ships(rng) for _ in range(400)]
    assert sum(table is not None for table in tables) > 340
    assert {table.kind for table in tables if table} == {"window", "unbiased", "finite", "pieces", "additive"}


@pytest.mark.slow
def test_ten_thousand_random_designs_verify():
    rng = np.random.default_rng(4)
    shipped = sum(ships(rng) is not None for _ in range(10_000))
    assert shipped > 9000


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_files_come_back_as_they_were(tables, kind, tmp_path):
    path = tables[kind].save(tmp_path / "t.json")
    assert path.read_bytes() == tables[kind].content
    assert load_table(path) == tables[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_files_follow_the_schema_that_is_shipped(tables, kind):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(resources("mechdesign.deploy").joinpath("table.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert not list(validator.iter_errors(tables[kind].document))
    for broken in ({"version": 2}, {"law": {}}, {"more": 1}, {"epsilon": 1}, {"cap": "1.5"}):
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
    design = optimal_minimax(MinimaxProblem(1.0, gap=1e-2))
    saved = load_design(design.save(tmp_path / "d.json"))
    assert make_table(saved).law == make_table(design).law
    assert make_table(saved).document["certificate"] == make_table(design).document["certificate"]


def test_a_finite_design_ships():
    loss = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    design = optimal_finite(FiniteProblem(1.0, loss))
    assert make_table(design).privacy_loss <= 1


def test_domains_are_read_back(tables):
    assert tables["small"].domain == Interval(0, 1)
    assert tables["circle"].domain == Circle()
    assert tables["finite"].domain == Finite((0, 1, 5))


@pytest.mark.parametrize("bits", [0, 8, 64, True, 32.5, "32", None])
def test_other_numbers_of_bits_are_refused(bits):
    with pytest.raises(InvalidInput, match="bits"):
        make_table(catalogue.duchi(1.0), bits)


def test_products_are_refused():
    with pytest.raises(InvalidInput, match="to become a table"):
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
