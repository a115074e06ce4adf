"""Data of users: counted exactly, in a stated order, and refused where anything about them is doubtful."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.data.headers import TakenName
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.datasets import (
    Dataset,
    gaps,
    is_lone_first,
    observed_domain,
    parse_domain_labels,
    read_bins,
    read_dataset,
)
from mechdesign.words.domains import Interval


def written(folder: Path, text: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@given(st.lists(st.sampled_from(["a", "b", "c", "10", "9"]), min_size=2).filter(lambda v: len(set(v)) > 1))
def test_every_user_is_counted_once(values: list[str]) -> None:
    data = Dataset.of_labels(values)
    assert data.n == len(values)
    assert dict(zip(data.labels, data.counts.tolist(), strict=True)) == {v: values.count(v) for v in set(values)}
    assert data.frequencies.sum() == pytest.approx(1)


def test_whole_numbers_stand_by_value_and_other_labels_by_letter() -> None:
    assert observed_domain(["10", "9", "-1"]) == ("-1", "9", "10")
    assert observed_domain(["10", "9", "x"]) == ("10", "9", "x")


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("b\na\nb\n", None),
        ("\ufeffb\r\na\r\nb", None),
        ("b\na\nb\n\n \n\n", None),
        ("id,item\n1,b\n2,a\n3,b\n", "item"),
        ('item,note\n"b","x, y"\na,\nb,\n', "item"),
    ],
    ids=["plain", "windows", "empty-lines", "column", "quoted"],
)
def test_text_files_in_all_their_forms(tmp_path: Path, text: str, column: str | None) -> None:
    data = read_dataset(written(tmp_path, text), column=column)
    assert (data.labels, data.counts.tolist()) == (("a", "b"), [1, 2])


def test_json_holds_labels_or_counts(tmp_path: Path) -> None:
    for document in (["b", "a", "b"], {"b": 2, "a": 1}):
        data = read_dataset(written(tmp_path, json.dumps(document), "data.json"))
        assert (data.labels, data.counts.tolist()) == (("a", "b"), [1, 2])
    huge = read_dataset(written(tmp_path, '{"0": 600000000, "1": 400000000}', "huge.json"))
    assert huge.n == 10**9


def test_parquet_holds_a_column_of_labels(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="an optional dependency")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    parquet.write_table(pyarrow.table({"item": [2, 1, 2], "note": ["x", "y", "z"]}), path)
    data = read_dataset(path, column="item")
    assert (data.labels, data.counts.tolist()) == (("1", "2"), [1, 2])
    with pytest.raises(InvalidInput, match="be one of the columns"):
        read_dataset(path)


def test_a_domain_gives_items_nobody_holds(tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, "3\n1\n3\n"), domain=parse_domain_labels("0..4"))
    assert data.counts.tolist() == [0, 1, 0, 2, 0]


def test_gaps_between_whole_numbers_are_counted() -> None:
    assert gaps(["1", "2", "5"]) == 2
    assert gaps(["1", "2", "3"]) == 0
    assert gaps(["a", "c"]) == 0


def test_domains_are_lists_or_ranges() -> None:
    assert parse_domain_labels("b, a") == ("b", "a")
    assert parse_domain_labels("-1..1") == ("-1", "0", "1")
    assert parse_domain_labels("x..y,z") == ("x..y", "z")


def test_digests_tell_data_apart() -> None:
    same = Dataset(("a", "b"), np.array([1, 2])).digest
    assert same == Dataset.of_labels(["a", "b", "b"]).digest
    others = [Dataset(("a", "b"), np.array([2, 1])), Dataset(("a", "c"), np.array([1, 2]))]
    assert all(other.digest != same for other in others)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "data.csv", "at least one user"),
        ("\n\n", "data.csv", "at least one user"),
        ("a\na\n", "data.csv", "at least two items"),
        ("a,b\nc,d\n", "data.csv", "--column"),
        ("a\nb\nc,d\n", "data.csv", "row 3"),
        ("a\n  \nb\n", "data.csv", "row 2 .*empty lines may only end"),
        ("n/a\n31\n32\n31\n", "data.csv", "1 rows seem to hold none"),
        ("age\n31\n32\nage\n", "data.csv", "row 1 .*hold a number"),
        ('a\n"b\n', "data.csv", "CSV file in UTF-8"),
        ("1\n2\nx\n1\n", "data.csv", "row 3 .*hold a number.*--domain"),
        ("x\ny\n1\n2\n", "data.csv", "row 1 .*hold a number"),
        ("1\n1.0\n2\n", "data.csv", "row 2 .*as row 1 of data.csv does"),
        ("01\n2\n1\n", "data.csv", "row 3 .*as row 1 of data.csv does"),
        ("1e1\n2\n10\n", "data.csv", "row 3 .*as row 1 of data.csv does"),
        ("1.5\nnan\n2\nNaN\n", "data.csv", "1 rows seem to hold none"),
        ("red\nNULL\nblue\n", "data.csv", "--domain with all items"),
        ("a\n\nb\n", "data.csv", "row 2 .*not be empty"),
        ("[]", "data.json", "list of labels"),
        ("{}", "data.json", "list of labels"),
        ("3", "data.json", "list of labels"),
        ('["a", 1]', "data.json", "all text or all whole"),
        ('["a", null]', "data.json", "all text or all whole"),
        ("[true, false]", "data.json", "all text or all whole"),
        ('{"a": 1.5, "b": 1}', "data.json", "whole number"),
        ('{"a": -1, "b": 1}', "data.json", "whole number"),
        ('{"a": 1, "a": 2, "b": 1}', "data.json", "twice"),
        ('{"a": 0, "b": 0}', "data.json", "at least one user"),
        ("[1, 2", "data.json", "valid JSON"),
        ("text", "data.parquet", "Parquet"),
    ],
)
def test_doubtful_files_are_refused(tmp_path: Path, text: str, name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_dataset(written(tmp_path, text, name))


def test_a_domain_says_that_doubtful_labels_are_right(tmp_path: Path) -> None:
    data = read_dataset(written(tmp_path, "1\n1.0\nna\nx\nx\n"), domain=("1", "1.0", "na", "x"))
    assert data.counts.tolist() == [1, 1, 1, 2]


def test_a_word_in_the_first_row_only_may_be_a_header(tmp_path: Path) -> None:
    for text, is_lone in (("color\nred\nblue\nred\nblue\n", True), ("red\nblue\nred\n", False), ("1\n2\n2\n", False)):
        path = written(tmp_path, text)
        assert is_lone_first(path, read_dataset(path)) is is_lone


def test_a_word_above_nothing_but_numbers_is_a_header(tmp_path: Path) -> None:
    path = written(tmp_path, "age\n31\n32\n31\n")
    with pytest.warns(TakenName, match="a word above numbers, was taken for a header"):
        data = read_dataset(path)
    assert (data.labels, data.counts.tolist()) == (("31", "32"), [2, 1])
    assert read_dataset(path, domain=("31", "32", "age")).n == 4


@pytest.mark.parametrize("first", ["1e5x", "7 kWh", "1,5 ", "-3a", ".5.", "inf", "-Infinity", "nan"])
def test_what_begins_like_a_number_is_no_header(tmp_path: Path, first: str) -> None:
    path = written(tmp_path, f'"{first}"\n31\n32\n31\n')
    with pytest.raises(InvalidInput, match=r"hold (a number|an item)"):
        read_dataset(path)


@pytest.mark.parametrize("first", ['"use, kWh"', "\ufeffage", '"a ""b"""', "info", "x1"])
def test_headers_may_be_quoted_and_follow_a_byte_order_mark(tmp_path: Path, first: str) -> None:
    with pytest.warns(TakenName):
        assert read_dataset(written(tmp_path, f"{first}\n31\n32\n31\n")).labels == ("31", "32")


def test_whole_numbers_are_labels_as_text() -> None:
    for values in ([1, 2, 1], np.array([1, 2, 1]), ["1", "2", "1"], range(1, 3)):
        assert Dataset.of_labels(values).labels == ("1", "2")
    data = Dataset.of_labels([1, 2, 1], domain=range(4))
    assert (data.labels, data.counts.tolist()) == (("0", "1", "2", "3"), [0, 2, 1, 0])
    assert Dataset.of_counts({3: np.int64(5), 4: 1}).counts.tolist() == [5, 1]


@pytest.mark.parametrize(
    "values", [[None, "a"], [1, "a"], [1.0, 2.0], [True, False], ["a", ""], "ab", 5, [["a"], "b"]], ids=str
)
def test_labels_of_no_one_kind_are_refused(values: Any) -> None:
    with pytest.raises(InvalidInput, match="labels"):
        Dataset.of_labels(values)


@pytest.mark.parametrize(
    "counts",
    [{"a": 1.9, "b": 1}, {"a": True, "b": 1}, {"a": "5", "b": 1}, {"a": None, "b": 1}, {"a": -1, "b": 3}, [1, 2]],
    ids=str,
)
def test_counts_are_never_rounded(counts: Any) -> None:
    with pytest.raises(InvalidInput, match="count"):
        Dataset.of_counts(counts)


@pytest.mark.parametrize("domain", [5, "ab", [None, "a"], [1, "a"]], ids=str)
def test_domains_that_are_no_lists_of_labels_are_refused(domain: Any) -> None:
    with pytest.raises(InvalidInput, match="domain"):
        Dataset.of_labels(["a", "b"], domain)


def test_labels_are_text_in_the_end() -> None:
    with pytest.raises(InvalidInput, match="text"):
        Dataset((1, 2), np.array([1, 2]))  # type: ignore[arg-type]


def test_unknown_labels_are_named_and_counted(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"row 2 of data.csv must hold an item of the domain; 2 labels of 3 users"):
        read_dataset(written(tmp_path, "a\nd\ne\nd\n"), domain=("a", "b"))
    with pytest.raises(InvalidInput, match="in the domain"):
        read_dataset(written(tmp_path, '{"a": 1, "d": 2}', "data.json"), domain=("a", "b"))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "data.csv"
    binary.write_bytes(b"\xff\xfe\x00a\n")
    for path in (tmp_path / "none.csv", tmp_path / "none.json", tmp_path / "none.parquet", tmp_path, binary):
        with pytest.raises(FileProblem):
            read_dataset(path)


@pytest.mark.parametrize("column", ["age", "item"])
def test_columns_must_be_there_once(tmp_path: Path, column: str) -> None:
    with pytest.raises(InvalidInput, match="column"):
        read_dataset(written(tmp_path, "item,item\na,b\n"), column=column)


@pytest.mark.parametrize("text", ["", "a", "a,a", "a,,b", "3..1", "0..99999999", "5..5"])
def test_domains_with_gaps_or_duplicates_or_one_item_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="domain"):
        Dataset(parse_domain_labels(text), np.array([1]))


@pytest.mark.parametrize("counts", [[1], [1, -1], [0, 0], [0.5, 0.5], [10**15, 10**15], [True, True]], ids=str)
def test_counts_that_cannot_be_are_refused(counts: list[float]) -> None:
    with pytest.raises(InvalidInput, match="counts"):
        Dataset(("a", "b"), np.array(counts))


# -- numbers in bins ---------------------------------------------------------------------------------------------------


def test_bins_are_those_of_a_histogram_over_the_domain() -> None:
    values = np.random.default_rng(1).normal(0, 1, 1000).clip(-3, 3)
    data = Dataset.of_numbers(values, 7, Interval(-3, 3))
    assert data.counts.tolist() == np.histogram(values, 7, range=(-3, 3))[0].tolist()
    assert (data.n, data.size, data.labels[0]) == (1000, 7, "[-3, -2.14286)")


def test_without_a_domain_bins_reach_from_the_least_to_the_largest() -> None:
    data = Dataset.of_numbers([2.0, 3.0, 6.0], 4)
    assert data.labels == ("[2, 3)", "[3, 4)", "[4, 5)", "[5, 6]")
    assert data.counts.tolist() == [1, 1, 0, 1]


def test_a_column_of_a_file_is_put_in_bins(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text("id,pay\n1,0\n2,10\n3,4.5\n")
    assert read_bins(path, 2, column="pay").counts.tolist() == [2, 1]
    assert read_bins(path, 2, column="pay", domain=Interval(0, 100)).counts.tolist() == [3, 0]


def test_a_number_outside_the_domain_is_refused_by_its_row_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text("pay\n0\n12345.5\n")
    with pytest.raises(InvalidInput, match=r"data row 2 must lie in \[0, 10\]; 1 of these rows") as caught:
        read_bins(path, 2, column="pay", domain=Interval(0, 10))
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "bins", "words"),
    [
        ([1.0, 2.0], 1, "bins must be"),
        ([1.0, 1.0], 2, "have numbers to tell apart"),
        ([1.0, math.nan], 2, "be a number"),
        ([1.0, math.inf], 2, "be finite"),
        ([], 2, "at least one number"),
        ([1.0, 1.0 + 2**-50], 100, "have numbers to tell apart"),
    ],
)
def test_bins_that_cannot_be_made_are_refused(values: list[float], bins: int, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Dataset.of_numbers(values, bins)
