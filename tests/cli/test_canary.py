"""Two values of people, put wherever data is read, in every faulty way: nothing that is said or left holds them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import InvalidData, InvalidInput, showing_values
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.datasets import Dataset, read_dataset
from mechdesign.studies.frequencies.mean import mean_of_reports
from mechdesign.studies.frequencies.protocols import protocol
from mechdesign.studies.frequencies.reports import count_reports
from mechdesign.tables import apply, estimate, make_table, sample, tally
from mechdesign.tables.labels import Labels
from mechdesign.tables.reference import report
from mechdesign.words.domains import Finite
from mechdesign.words.priors import Atoms, prior_of_file, values_of_file

WORD, NUMBER = "my-HIV-status: positive", 7.1234567
CANARIES = ("HIV", "7.1234567", "7.12")


def told(error: BaseException | None) -> Iterator[str]:
    """All an error, and those behind it, can say."""
    while error is not None:
        yield from (str(error), repr(error), repr(error.args), repr(vars(error)), repr(pickle.dumps(error)))
        yield repr(pickle.loads(pickle.dumps(error)))
        yield from told(error.__cause__)
        error = error.__context__


def require_silent(texts: Iterator[str] | list[str]) -> None:
    for text in texts:
        assert not any(canary in text for canary in CANARIES), text


# -- commands ----------------------------------------------------------------------------------------------------------

COMMANDS: dict[str, tuple[str, ...]] = {
    "advise": ("advise", "--want", "value", "--data", "{}", "--eps", "1", "--bounds", "0,5"),
    "advise labels": ("advise", "--want", "categories", "--data", "{}", "--eps", "1", "--labels", "1,2,3"),
    "apply": ("apply", "pm.json", "--in", "{}", "--out", "out.csv"),
    "apply labels": ("apply", "words.json", "--in", "{}", "--out", "out.parquet"),
    "estimate": ("estimate", "pm.json", "--in", "{}"),
    "estimate labels": ("estimate", "words.json", "--in", "{}"),
    "estimate-counts": ("estimate-counts", "{}", "-p", "grr", "-e", "1", "--domain", "1,2,3"),
    "estimate-counts numbers": ("estimate-counts", "{}", "-p", "she", "-e", "1", "--domain", "1,2"),
    "bench": ("bench", "-d", "{}", "-e", "1", "-p", "grr", "-m", "raw", "-r", "1", "--domain", "1,2,3"),
    "budget": ("budget", "-d", "{}", "-p", "grr", "--at-least", "0.5", "--domain", "1,2,3"),
    "capacity": ("capacity", "-d", "{}", "-p", "grr", "--capacity", "10", "--metric", "fp", "--tau", "0.1"),
    "mean": ("mean", "{}", "--eps", "1", "--bounds", "0,5", "--mechanism", "pm"),
    "aaa": ("aaa", "--data", "{}", "--eps", "1", "--bounds", "0,5"),
    "minimax": ("minimax", "--eps", "1", "--criterion", "prior", "--domain", "0,5", "--prior-data", "{}"),
}
TEXTS = {
    "a word among numbers": f"x\n1\n{WORD}\n2\n",
    "a word in the last row": f"x\n1\n2\n{WORD}\n",
    "a number outside": f"x\n1\n{NUMBER}\n2\n",
    "too many cells": f"x\n1\n2,{WORD}\n",
    "too few cells": f"x,y\n1,2\n{WORD}\n",
    "an open quote": f'x\n1\n"{WORD}\n',
    "an empty line above": f"x\n1\n\n{WORD}\n",
    "a mistyped number": f"x\n1\n{NUMBER}e5x\n",
    "infinite": f"x\n1\n{NUMBER}e999\n",
    "no such column": f"x,y\n1,{WORD}\n",
    "several without a header": f"1,{WORD}\n2,{NUMBER}\n",
    "one without a header": f"{WORD}\n{WORD}\n1\n",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_table(catalogue.pm(1.0)).save("pm.json")
    words = catalogue.randomised_response(1.0, Finite((0, 1)))
    make_table(words, labels=Labels(("no", "yes"), ("no", "yes"))).save("words.json")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
def test_commands_refuse_text_files_without_a_word_of_what_they_hold(run: Any, command: str, named: bool) -> None:
    for fault, text in TEXTS.items():
        Path("data.csv").write_text(text)
        options = [part.format("data.csv") for part in COMMANDS[command]]
        if named and not command.startswith("estimate-counts"):
            options += ["--column", "z" if fault == "no such column" else "x"]
        for outcome in (run(*options, "--quiet"), run(*options, "--quiet", "--json")):
            assert outcome.code == 2, (fault, outcome)
            require_silent([outcome.out, outcome.err])
        assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "pm.json", "words.json"]


def _columns() -> dict[str, Any]:
    import pyarrow as pa

    return {
        "text": pa.array(["1", WORD]),
        "categories": pa.array(["1", WORD]).dictionary_encode(),
        "number": pa.array([1.0, NUMBER]),
        "missing": pa.array([NUMBER, None]),
        "infinite": pa.array([NUMBER, float("inf")]),
        "list": pa.array([[WORD], []]),
        "struct": pa.array([{"a": WORD}]),
        "binary": pa.array([WORD.encode()]),
    }


@pytest.mark.parametrize("command", [name for name in COMMANDS if not name.startswith("estimate-counts")])
def test_commands_refuse_parquet_without_a_word_of_what_it_holds(run: Any, command: str) -> None:
    pytest.importorskip("pyarrow", reason="an optional dependency")
    import pyarrow as pa
    from pyarrow import parquet

    for kind, column in _columns().items():
        parquet.write_table(pa.table({"x": column}), "data.parquet")
        outcome = run(*[part.format("data.parquet") for part in COMMANDS[command]], "--quiet")
        assert outcome.code == 2, (kind, outcome)
        require_silent([outcome.out, outcome.err])


@pytest.mark.parametrize("command", ["bench", "budget", "capacity"])
def test_commands_refuse_json_without_a_word_of_what_it_holds(run: Any, command: str) -> None:
    for text in (f'["1", "{WORD}", 3]', f'{{"{WORD}": -1, "1": 2}}', f'{{"1": 1, "{WORD}": 1}}', f'["{WORD}"'):
        Path("data.json").write_text(text)
        outcome = run(*[part.format("data.json") for part in COMMANDS[command]], "--quiet")
        assert outcome.code == 2, (text, outcome)
        require_silent([outcome.out, outcome.err])


def test_a_value_is_shown_to_whom_asks_for_it(run: Any) -> None:
    Path("data.csv").write_text(TEXTS["a word among numbers"])
    asked = [part.format("data.csv") for part in COMMANDS["mean"]]
    silent, shown = (run(*asked, "--column", "x", *more) for more in ((), ("--show-values",)))
    assert silent.err.endswith("row 3 of data.csv, column 'x' must be a number; --show-values shows the value\n")
    assert shown.err.endswith(f"row 3 of data.csv, column 'x' must be a number (got {WORD!r})\n")


# -- Python ------------------------------------------------------------------------------------------------------------

PM = make_table(catalogue.pm(1.0))
TEXTS_PER_READER: dict[str, Callable[[Path], object]] = {
    "prior_of_file": lambda path: prior_of_file(path, "x"),
    "values_of_file": lambda path: values_of_file(path, "x"),
    "read_dataset": lambda path: read_dataset(path, column="x", domain=("1", "2")),
    "count_reports": lambda path: count_reports(path, protocol("grr", 1.0, 2), ("1", "2")),
    "apply": lambda path: apply(PM, path, "x", path.with_name("out.csv")),
    "estimate": lambda path: estimate(PM, path, "x"),
}
READ = {"a word among numbers", "too many cells", "an open quote", "a mistyped number"}


@pytest.mark.filterwarnings("ignore:the first line of")
@pytest.mark.parametrize("reader", TEXTS_PER_READER)
@pytest.mark.parametrize("fault", sorted(READ))
def test_errors_of_readers_hold_no_value(tmp_path: Path, reader: str, fault: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TEXTS[fault])
    with pytest.raises(InvalidInput) as caught:
        TEXTS_PER_READER[reader](path)
    require_silent(told(caught.value))


VALUES: list[Any] = [
    NUMBER,
    [0.5, NUMBER],
    np.array([0.5, NUMBER]),
    [0.5, WORD],
    [[0.5], [NUMBER, 1.0]],
    [NUMBER, None],
    WORD,
    [NUMBER, float("nan")],
    np.array([0.5, NUMBER], dtype=object),
]
DOORS: dict[str, Callable[[Any], object]] = {
    "sample": lambda x: sample(PM, x),
    "apply": lambda x: apply(PM, x),
    "report": lambda x: report(PM, x),
    "estimate": lambda x: estimate(PM, x),
    "tally": lambda x: tally(PM, x),
    "mechanism": lambda x: catalogue.pm(1.0).sample([x, x], np.random.default_rng(1)),
    "protocol": lambda x: protocol("oue", 1.0, 4).report([x, x], np.random.default_rng(1)),
    "mean": lambda x: mean_of_reports([x, float("inf")], catalogue.pm(1.0)),
    "atoms": lambda x: Atoms.of_data([x, float("nan")]),
    "labels": lambda x: Dataset.of_labels([x, 1], domain=("1", "2")),
    "counts": lambda x: Dataset.of_counts({WORD: 1, "1": 2}, domain=("1", "2")),
}


@pytest.mark.parametrize("door", DOORS)
def test_errors_about_values_in_memory_hold_none(door: str) -> None:
    for value in VALUES:
        if isinstance(value, str) and door in ("apply", "estimate", "tally"):
            continue  # the name of a file
        with pytest.raises(InvalidInput) as caught:
            DOORS[door](value)
        require_silent(told(caught.value))


def test_errors_about_frames_hold_no_value() -> None:
    pl = pytest.importorskip("polars", reason="an optional dependency")
    pd = pytest.importorskip("pandas", reason="an optional dependency")
    columns: list[Any] = [[0.5, NUMBER], [WORD, "no"], [0.5, None]]
    frames = [make({"x": column}) for make in (pd.DataFrame, pl.DataFrame) for column in columns]
    frames += [pd.DataFrame({"x": [WORD, 1.0]}), pd.DataFrame({"x": pd.Categorical([WORD, "no"])})]
    frames += [pl.DataFrame({"x": [WORD]}).lazy().select(pl.col("x").cast(pl.Float64))]
    for frame in frames:
        for door in (apply, estimate):
            with pytest.raises(InvalidInput) as caught:
                door(PM, frame, "x")
            require_silent(told(caught.value))


def test_values_are_shown_where_python_asks_for_them() -> None:
    with showing_values(), pytest.raises(InvalidData, match=r"\(got 7.1234567\)") as caught:
        sample(PM, [0.5, NUMBER])
    assert pickle.loads(pickle.dumps(caught.value)).value == NUMBER


def test_capacity_refuses_a_negative_consumption_by_its_place(run: Any) -> None:
    for name, text in (("data.csv", f"x\n1\n-{NUMBER}\n2\n"), ("data.json", f'["1", "-{NUMBER}"]')):
        Path(name).write_text(text)
        outcome = run(*[part.format(name) for part in COMMANDS["capacity"]], "--quiet")
        assert outcome.code == 2
        assert "at least 0" in outcome.err
        assert "row 3 of data.csv" in outcome.err or name == "data.json"
        require_silent([outcome.out, outcome.err])


def test_numbers_beyond_doubles_in_geojson_are_not_quoted(run: Any) -> None:
    Path("data.geojson").write_text(f'{{"type": "LineString", "coordinates": [[{NUMBER}e999, 1]]}}')
    outcome = run(
        *("trajectory", "perturb", "data.geojson", "--eps", "1", "--bounds", "0,1,0,1", "--out", "o.csv", "--quiet")
    )
    assert outcome.code == 2
    require_silent([outcome.out, outcome.err])


def test_a_header_taken_by_estimate_counts_names_no_option_it_lacks(run: Any) -> None:
    Path("data.csv").write_text("answer\n" + "1\n2\n3\n" * 20)
    outcome = run("estimate-counts", "data.csv", "-p", "grr", "-e", "1", "--domain", "1,2,3", "--quiet")
    assert outcome.code == 0
    assert "taken for a header" in outcome.err
    assert "--column" not in outcome.err
