"""What people do with samplers in databases: an earlier schema, parallel workers, a function without side effects."""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, export_package, export_table, make_table
from mechdesign.tables.export import sql
from mechdesign.tables.export.folder import package_texts
from mechdesign.words.domains import Finite

DRAWS = 4000
FEW = 100
"""Draws of the laws that are not compared: they take longer, and constant reports are noticed all the same."""

VIEW = "A view over it draws anew at every SELECT"


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    response = catalogue.randomised_response(1.0, Finite((-1, 0, 5)))
    return {
        "smokes": make_table(response, labels=Labels(("no", "yes", "?"), ("n", "y", "q"))),
        "age": make_table(catalogue.pm(1.0)),
        "noise": make_table(catalogue.laplace(1.0), 16),
        "fruit": protocol_table("olh", 1.0, 12),
        "pets": protocol_table("ss", 1.0, ("cat", "dog", "none", "other")),
        "visits": protocol_table("oue", 1.0, 12),
    }


INPUTS = {"smokes": "'yes'", "age": "0.5", "noise": "0.5", "fruit": "3", "pets": "'dog'", "visits": "3"}


def assert_follows(said: list[str], table: Table, place: int) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, a constant report is always noticed."""
    counts, row = Counter(said), table.law.rows[place]
    observed = [counts[label] for label in table.labels.outputs or ()]
    assert sum(observed) == len(said)
    assert stats.chisquare(observed, [len(said) * count / sum(row) for count in row]).pvalue > 1e-6


def installed(postgresql: Any, table: Table) -> str:
    stem = stem_of(table)
    assert postgresql.query(sql.postgresql(table, stem)) == ""
    return stem


def stem_of(table: Table) -> str:
    return f"sampler_{table.sha256[:8]}"


# -- PostgreSQL --------------------------------------------------------------------------------------------------------

HOSTILE = """
DROP SCHEMA IF EXISTS hostile CASCADE;
CREATE SCHEMA hostile;
CREATE FUNCTION hostile.@stem@_entropy() RETURNS bytea LANGUAGE sql AS $$ SELECT '\\x00000000'::bytea $$;
CREATE FUNCTION hostile.@stem@_more(bytea, integer, boolean) RETURNS bytea LANGUAGE sql AS
    $$ SELECT pg_catalog.decode(pg_catalog.repeat('00', 4096), 'hex') $$;
CREATE FUNCTION hostile.@stem@_number(bytea, integer, integer) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$;
CREATE FUNCTION hostile.gen_random_uuid() RETURNS uuid LANGUAGE sql AS
    $$ SELECT '00000000-0000-4000-8000-000000000000'::uuid $$;
CREATE FUNCTION hostile.uuid_send(uuid) RETURNS bytea LANGUAGE sql AS
    $$ SELECT pg_catalog.decode(pg_catalog.repeat('00', 16), 'hex') $$;
CREATE FUNCTION hostile.get_byte(bytea, integer) RETURNS integer LANGUAGE sql AS $$ SELECT 0 $$;
CREATE FUNCTION hostile.get_byte(bytea, bigint) RETURNS integer LANGUAGE sql AS $$ SELECT 0 $$;
CREATE FUNCTION hostile.array_position(text[], text) RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;
CREATE FUNCTION hostile.set_bit(bytea, integer, integer) RETURNS bytea LANGUAGE sql AS $$ SELECT $1 $$;
CREATE FUNCTION hostile.nothing(bigint, bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$;
CREATE OPERATOR hostile.<< (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = hostile.shifted);
"""


@pytest.mark.parametrize("name", INPUTS)
def test_an_earlier_schema_takes_no_noise_away(postgresql: Any, tables: dict[str, Table], name: str) -> None:
    """It has functions of the names that a sampler calls, its own and PostgreSQL's, and gives zeros."""
    stem = installed(postgresql, tables[name])
    shifted = (
        "CREATE FUNCTION hostile.shifted(bigint, integer) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$;\n"
    )
    hostile = HOSTILE.replace("@stem@", stem).replace("CREATE OPERATOR", shifted + "CREATE OPERATOR")
    assert "ERROR" not in postgresql.query(hostile)
    draws = DRAWS if name == "smokes" else FEW
    ask = f"SELECT {stem}({INPUTS[name]}) FROM generate_series(1, {draws});"
    said = postgresql.query(f"SET search_path = hostile, public, pg_catalog;\n{ask}").splitlines()
    assert len(said) == draws
    if name == "smokes":
        assert_follows(said, tables[name], 1)
    else:
        assert len(set(said)) > 3


def test_parallel_workers_draw_reports_of_their_own(postgresql: Any, tables: dict[str, Table]) -> None:
    stem = installed(postgresql, tables["smokes"])
    safe = f"SELECT count(*), count(*) FILTER (WHERE proparallel = 's') FROM pg_proc WHERE proname LIKE '{stem}%';"
    every, marked = postgresql.query(safe).split("|")
    assert every == marked
    forced = (
        "SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; "
        "SET parallel_tuple_cost = 0;\n"
    )
    postgresql.query(f"DROP TABLE IF EXISTS people; CREATE TABLE people AS SELECT generate_series(1, {DRAWS}) AS id;")
    ask = f"SELECT {stem}('yes') FROM people"
    plan = postgresql.query(f"{forced}EXPLAIN (COSTS OFF) {ask};")
    assert "Gather" in plan
    assert_follows(postgresql.query(f"{forced}{ask};").splitlines(), tables["smokes"], 1)


def test_a_schema_with_an_odd_name_holds_a_sampler(postgresql: Any, tables: dict[str, Table]) -> None:
    stem = stem_of(tables["pets"])
    text = sql.postgresql(tables["pets"], stem)
    said = postgresql.query(
        'CREATE SCHEMA "Odd ""one"; SET search_path = "Odd ""one";\n'
        f'{text}\nRESET search_path; SELECT length("Odd ""one".{stem}(\'cat\'));'
    )
    assert said == "1"


# -- DuckDB ------------------------------------------------------------------------------------------------------------


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("registration", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_registered_sampler_draws_for_every_row(tables: dict[str, Table], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    export_package(tables, "sql", "survey", tmp_path / "made", cases=0)
    with duckdb.connect() as connection:
        for _ in range(2):
            module_of(tmp_path / "made" / "duckdb" / "register.py").register(connection)
        for name, x in INPUTS.items():
            draws = DRAWS if name == "smokes" else FEW
            found = connection.execute(f"SELECT survey_{name}({x}) FROM range({draws})").fetchall()
            if name == "smokes":
                assert_follows([y for (y,) in found], tables[name], 1)
            else:
                assert len(set(found)) > 3


def test_a_single_sampler_has_its_registration_beside_it(tables: dict[str, Table], tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    export_table(tables["smokes"], "sql", tmp_path, cases=0)
    stem = stem_of(tables["smokes"])
    with duckdb.connect() as connection:
        module_of(tmp_path / f"{stem}_duckdb.py").register(connection)
        found = connection.execute(f"SELECT {stem}('yes') FROM range({DRAWS})").fetchall()
    assert_follows([y for (y,) in found], tables["smokes"], 1)


def test_a_function_registered_without_side_effects_is_asked_for_every_row_all_the_same(
    tables: dict[str, Table], tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    export_table(tables["smokes"], "sql", tmp_path, cases=0)
    stem = stem_of(tables["smokes"])
    with duckdb.connect() as connection:
        connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB")
        connection.execute((tmp_path / f"{stem}.duckdb.sql").read_text()).fetchall()
        ask = f"SELECT {stem}('yes', os_random({stem}_bytes())) FROM range({DRAWS})"
        assert_follows([y for (y,) in connection.execute(ask).fetchall()], tables["smokes"], 1)


def test_registration_refuses_a_function_that_gives_all_rows_the_same_bytes(
    tables: dict[str, Table], tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    export_package({"smokes": tables["smokes"]}, "sql", "survey", tmp_path / "made", cases=0)
    with duckdb.connect() as connection:
        connection.create_function("survey_smokes_random", os.urandom, ["BIGINT"], "BLOB")
        with pytest.raises(RuntimeError, match="the same random bytes"):
            module_of(tmp_path / "made" / "duckdb" / "register.py").register(connection)


# -- names and words ---------------------------------------------------------------------------------------------------


def test_functions_are_called_after_the_package_and_the_table(tables: dict[str, Table]) -> None:
    texts = package_texts(tables, "sql", "survey", cases=0)
    scripts = {path: text for path, text in texts.items() if path.endswith(".sql")}
    assert not any(stem_of(table) in path + text for table in tables.values() for path, text in scripts.items())
    for name in tables:
        for path in (f"postgresql/survey_{name}.postgresql.sql", f"duckdb/survey_{name}.duckdb.sql"):
            defined = re.findall(r"^CREATE OR REPLACE (?:FUNCTION|MACRO) (?:@extschema@[.])?(\w+)", texts[path], re.M)
            assert f"survey_{name}" in defined
            assert all(word.startswith(f"survey_{name}") for word in defined)


def test_tables_whose_functions_would_replace_each_other_are_refused(tables: dict[str, Table]) -> None:
    with pytest.raises(InvalidInput, match="both have a function survey_age_number"):
        package_texts({"age": tables["age"], "age_number": tables["smokes"]}, "sql", "survey", cases=0)
    texts = package_texts({"age": tables["age"], "age_now": tables["smokes"]}, "sql", "survey", cases=0)
    assert "duckdb/survey_age_now.duckdb.sql" in texts


def test_names_that_postgresql_would_cut_are_refused(tables: dict[str, Table]) -> None:
    with pytest.raises(InvalidInput, match="after 63 letters"):
        package_texts({"a" * 40: tables["age"]}, "sql", "survey_of_this_long_year", cases=0)


def test_scripts_and_the_readme_say_that_a_view_draws_anew(tables: dict[str, Table]) -> None:
    texts = package_texts(tables, "sql", "survey", cases=0)
    scripts = [text for path, text in texts.items() if re.search(r"/survey_[a-z]+\.(duckdb|postgresql)\.sql", path)]
    assert len(scripts) == 2 * len(tables)
    assert all(f"**{VIEW}" in text for text in scripts)
    assert "**Write reports to a table, once: `CREATE TABLE ... AS`." in texts["README.md"]
