"""The checker: passes what is right, names the entry that is not, needs nothing but Python."""

import contextlib
import hashlib
import json
import math
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from mechdesign.errors import FileProblem
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms.window import Window
from mechdesign.tables import Table, checker, load_table, make_table
from mechdesign.tables.document import decimal
from mechdesign.words.domains import Interval
from tests.tables.conftest import KINDS

MORE_KINDS = (*KINDS, "clamped wave", "clamped noise", "labelled", "repaired")

# what FORMAT.md and the checker say may change without being noticed
FREE = [("name",), ("provenance",), ("labels",), ("repair",), ("domain",), ("certificate", "atoms")]


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    else:
        yield path, value


def changes(value):
    """Other entries of the same form, near and far, and some of another."""
    if isinstance(value, int):
        return [value + 1, value - 1, -value, value + 10**12, 2 * value, str(value), float(value), None]
    if isinstance(value, str):
        digits = [value[:k] + str((int(c) + 1) % 10) + value[k + 1 :] for k, c in enumerate(value) if c.isdigit()]
        return [*neighbours(value), *digits[:1], *digits[-1:], value + "0", "", None, 1]
    return [0, "0"]


def neighbours(text):
    """Texts of other numbers: the doubles next to this one and far from it, and fractions near it."""
    try:
        number = Fraction(text)
        double = float(number)
    except (ValueError, OverflowError):
        return []
    doubles = [math.nextafter(double, -math.inf), math.nextafter(double, math.inf), 2 * double, -double, 1e6]
    p, q = number.numerator, number.denominator
    ratios = [Fraction(p + 1, q), Fraction(p - 1, q), Fraction(p, q + 1), number + Fraction(1, 10**40)]
    return [decimal(other) for other in doubles if math.isfinite(other)] + [str(ratio) for ratio in ratios]


def is_free(path):
    return any(path[: len(place)] == place for place in FREE)


def some(items, most):
    """All of a short list, an even choice from a long one."""
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


@pytest.mark.parametrize("kind", MORE_KINDS)
def test_every_kind_passes(tables, kind):
    found = checker.check(tables[kind].content)
    assert found["ratio"] == tables[kind].ratio
    assert found["epsilon"] == tables[kind].epsilon


@pytest.mark.parametrize("kind", KINDS)
def test_any_change_without_a_new_hash_is_caught(tables, altered, kind):
    table = tables[kind]
    for path, value in some(list(leaves(table.document)), 60):
        for other in changes(value):
            if other != value:
                with pytest.raises(checker.Failed):
                    checker.check(altered(table, path, other, rehash=False))


@pytest.mark.parametrize("kind", MORE_KINDS)
def test_a_single_entry_that_changes_is_noticed_behind_a_new_hash_unless_it_is_free(tables, altered, kind):
    table = tables[kind]
    tried, passed = 0, set()
    most = 100 if len(table.content) < 20_000 else 20
    for path, value in some([leaf for leaf in leaves(table.document) if leaf[0][0] != "sha256"], most):
        for other in changes(value):
            if type(other) is type(value) and other == value:
                continue
            tried += 1
            try:
                checker.check(altered(table, path, other))
            except checker.Failed:
                continue
            passed.add(path)
    assert tried > 100
    assert [path for path in passed if not is_free(path)] == []
    assert passed


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("pieces", ("name",), "another"),
        ("pieces", ("provenance",), {"seed": "1"}),
        ("labelled", ("labels", "inputs"), ["yes", "no", "neither, nor"]),
        ("repaired", ("repair", "mixed"), "1/7"),
        ("duchi", ("domain", "lower"), "0"),
        ("absolute", ("certificate", "atoms", 0, 1), lambda radius: decimal(math.nextafter(float(radius), 0))),
    ],
)
def test_what_is_said_to_be_free_is_free(tables, altered, kind, path, value):
    assert is_free(path)
    other = value(reduce(lambda entry, key: entry[key], path, tables[kind].document)) if callable(value) else value
    checker.check(altered(tables[kind], path, other))


@pytest.mark.parametrize("kind", ["clamped", "clamped wave"])
@pytest.mark.parametrize("name", ["first", "step", "anchor", "scale", "clamp"])
def test_where_a_clamped_window_stands_cannot_be_changed(tables, altered, kind, name):
    value = tables[kind].document["law"][name]
    others = [value + 1, value - 1, value + 10**12] if name == "first" else [None]
    for other in others if isinstance(value, int | list) else neighbours(value):
        with pytest.raises(checker.Failed):
            checker.check(altered(tables[kind], ("law", name), other))


@pytest.mark.parametrize("kind", ["small", "unbiased", "duchi", "finite", "pieces", "circle", "additive"])
def test_every_whole_number_off_by_one_is_caught_behind_a_new_hash(tables, altered, kind):
    table = tables[kind]
    for path, value in leaves(table.document["law"], ("law",)):
        if not isinstance(value, int):
            continue
        for other in (value - 1, value + 1):
            with pytest.raises(checker.Failed):
                checker.check(altered(table, path, other))


def test_the_entry_that_fails_is_named(tables, altered):
    table = tables["small"]
    for path, name in (
        (("law", "caps", 2), r"law.caps\[2\]: must be floor"),
        (("law", "starts", 1), r"law.starts\[1\]: must be"),
        (("law", "base", 0), r"law.caps\[0\]"),
    ):
        value = table.document[path[0]][path[1]][path[2]]
        with pytest.raises(checker.Failed, match=name):
            checker.check(altered(table, path, value + 1))
    with pytest.raises(checker.Failed, match=r"law.thresholds\[0\]: must be 0.15|law.thresholds\[0\]: must be"):
        checker.check(altered(table, ("law", "thresholds", 0), "0.25"))
    with pytest.raises(checker.Failed, match=r"law.rows\[1\]: sums to"):
        checker.check(altered(tables["finite"], ("law", "rows", 1, 1), 5))


def test_a_consistent_table_with_too_large_a_ratio_is_caught(tables, altered):
    table = tables["finite"]
    rows = [[2**32 - 2, 1, 1], [1, 2**32 - 2, 1], [1, 1, 2**32 - 2]]
    with pytest.raises(checker.Failed, match=r"law.rows\[0\]\[0\]: 4294967294 is over cap times 1"):
        checker.check(altered(table, ("law", "rows"), rows))


def test_a_larger_epsilon_needs_its_own_cap(tables, altered):
    with pytest.raises(checker.Failed, match="cap: must be"):
        checker.check(altered(tables["small"], ("epsilon",), "2"))
    with pytest.raises(checker.Failed, match="cap: must be"):
        checker.check(altered(tables["small"], ("cap",), str(int(tables["small"].document["cap"]) + 1)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(64)])
def test_the_cap_is_the_floor_of_the_exponential(epsilon):
    cap = checker.exponential(epsilon)
    assert Fraction(cap, 2**96) <= exp_upper(epsilon)
    assert Fraction(cap + 1, 2**96) > exp_lower(epsilon)


def test_bytes_that_are_no_table_fail_in_words(tables):
    content = tables["small"].content
    body = content[:-2]
    for bad, words in (
        (b"", "JSON"),
        (b"[]\n", "object"),
        (b"{}\n", "object with"),
        (content + b"x", "JSON"),
        (content + content, "JSON"),
        (content + b" ", "canonical"),
        (content[:-1], "canonical"),
        (content.replace(b'"version":2', b'"version": 2'), "canonical"),
        (content.replace(b'"version":2', b'"version":3'), "version"),
        (content.replace(b'"version":2', b'"version":NaN'), "NaN"),
        (content.replace(b'"version":2', b'"version":1.0'), "1.0"),
        (content.replace(b'"version":2', b'"version":true'), "version"),
        (body + b',"version":2}\n', "twice"),
        (content.decode().encode("utf-16"), "canonical"),
        (b"\xff" * 10, "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"1" * 5000, "JSON"),
        (b" " * (checker.LARGEST + 1), "larger"),
    ):
        with pytest.raises(checker.Failed, match=words):
            checker.check(bad)


JUNK = (
    None,
    True,
    -1,
    0,
    2**70,
    "",
    "x",
    "1e999999999",
    "1/0",
    "-0",
    "0.1",
    "9" * 5000,
    [],
    [[]],
    ["0"],
    {},
    {"kind": []},
)


@pytest.mark.parametrize("kind", KINDS)
def test_junk_anywhere_ends_in_a_verdict(tables, altered, kind):
    table = tables[kind]
    rng = np.random.default_rng(1)
    places = list(nodes(table.document))
    for path in some(places, 80):
        junk = JUNK[int(rng.integers(len(JUNK)))]
        with contextlib.suppress(checker.Failed):  # some junk is a legitimate name: anything but Failed is an error
            checker.check(altered(table, path, junk))


def nodes(value, path=()):
    """Every place in a document, objects and lists included."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from nodes(inner, (*path, key))


def test_every_truncation_fails(tables):
    content = tables["small"].content
    for length in range(0, len(content), 7):
        with pytest.raises(checker.Failed):
            checker.check(content[:length])


def test_a_flipped_bit_fails(tables):
    content = tables["small"].content
    for place in range(0, len(content), 11):
        with pytest.raises(checker.Failed):
            checker.check(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])


@pytest.fixture
def alone(tmp_path):
    """Runs the checker as its reader would: one copied file, an isolated Python."""
    script = tmp_path / "checker.py"
    shutil.copy(Path(checker.__file__), script)

    def run(*arguments):
        command = [sys.executable, "-I", "-S", str(script), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    return run


def test_it_runs_alone(tables, alone, tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(tables["absolute"].content)
    bad.write_bytes(tables["absolute"].content.replace(b'"bits":32', b'"bits":53'))
    passed, failed = alone(good), alone(bad)
    assert (passed.returncode, passed.stdout[:4], passed.stderr) == (0, "PASS", "")
    assert (failed.returncode, failed.stdout) == (1, "FAIL sha256: does not match the content\n")
    assert alone(tmp_path / "missing.json").returncode == 2
    assert alone().returncode == 2


def test_a_table_of_a_thousand_outputs_passes(alone, tmp_path):
    points = np.linspace(0, 1, 1001)
    base = np.full(1001, 0.5 / 1001)
    table = make_table(Window(1.0, Interval(0, 1), points, base, math.e * (1 - 1e-12)))
    path = table.save(tmp_path / "large.json")
    assert alone(path).returncode == 0


def test_no_table_object_exists_without_passing(tables):
    with pytest.raises(FileProblem, match="pass its check"):
        Table(tables["small"].content.replace(b'"bits":32', b'"bits":16'))


def sealed(document):
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


def test_atoms_outside_the_domain_prove_nothing():
    """Far from the domain any mechanism errs much; the bound is about inputs."""
    far = make_table(Window(1.0, Interval(0, 1), np.array([-5.0, 6.0]), np.array([0.26, 0.26]), 2.7), bits=16)
    atoms = [[decimal(x), "4", "1"] for x in np.linspace(-9.5, 10.5, 41).tolist()]
    error = far.worst_error(1)
    lower = checker.proven_lower(atoms, int(far.document["cap"]), 1)
    assert 0.5 < lower < error  # a constant report has an error of one half
    said = {"criterion": "worst case", "exponent": 1, "atoms": atoms, "lower": str(lower), "error": str(error)}
    with pytest.raises(checker.Failed, match=r"atoms\[0\]: must be an input of the domain"):
        checker.check(sealed(dict(far.document) | {"certificate": said}))


def test_a_table_without_inputs_fails_in_words(tables):
    document = json.loads(tables["finite"].content)
    document["domain"]["points"], document["law"]["rows"] = [], []
    with pytest.raises(checker.Failed, match="at least one"):
        checker.check(sealed(document))


def test_a_domain_the_package_cannot_use_is_a_file_problem(tables):
    document = json.loads(tables["pieces"].content)
    document["domain"] = {"kind": "interval", "lower": "1", "upper": decimal(1 + 2.0**-45)}
    document["estimator"] = checker.check_pieces(document, document["law"], 1 << document["bits"], 0)[1]
    checker.check(sealed(document))
    with pytest.raises(FileProblem, match="domain that this package can use"):
        Table(sealed(document))


def test_version_1_is_refused_with_what_to_do(tables, tmp_path):
    document = {key: value for key, value in tables["finite"].document.items() if key not in ("sha256", "labels")}
    path = tmp_path / "old.json"
    path.write_bytes(sealed(document | {"version": 1}))
    with pytest.raises(checker.Failed, match="version: 1 is not read any more: make the table again from its design"):
        checker.check(path.read_bytes())
    with pytest.raises(FileProblem) as refused:
        load_table(path)
    assert "make the table again from its design" in str(refused.value)
    assert "was it edited" not in str(refused.value)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"inputs": ["a", "b"], "outputs": None}, r"labels.inputs: must be a list of 3"),
        ({"inputs": None, "outputs": ["a", "b", "a"]}, r"labels.outputs: must be different"),
        ({"inputs": ["a", "b", " c"], "outputs": None}, r"labels.inputs\[2\]: must be a text of 1 to 200"),
        ({"inputs": ["a", "", "c"], "outputs": None}, r"labels.inputs\[1\]"),
        ({"inputs": ["a" * 201, "b", "c"], "outputs": None}, r"labels.inputs\[0\]"),
        ({"inputs": ["a\x85", "b", "c"], "outputs": None}, r"labels.inputs\[0\]"),
        ({"inputs": ["\ud800", "b", "c"], "outputs": None}, r"labels.inputs\[0\]"),
        ({"inputs": [1, 2, 3], "outputs": None}, r"labels.inputs\[0\]"),
        ({"inputs": None, "outputs": None}, r"labels: must be null if there are none"),
        ({"inputs": None}, r"labels: must be an object"),
        ([], r"labels: must be an object"),
    ],
)
def test_labels_are_texts_that_name_their_side_one_to_one(tables, altered, labels, words):
    with pytest.raises(checker.Failed, match=words):
        checker.check(altered(tables["finite"], ("labels",), labels))
    with pytest.raises(checker.Failed, match="labels: must be null but for finite tables"):
        checker.check(altered(tables["pieces"], ("labels",), labels))


def test_labels_of_the_longest_and_of_any_script_pass(tables, altered):
    texts = ["a" * 200, '\u00fcber, "quoted"', "\u0634\u0627\u064a"]
    content = altered(tables["finite"], ("labels",), {"inputs": texts, "outputs": None})
    assert Table(content).labels.inputs == tuple(texts)


def test_two_epsilons_never_share_a_cap(tables, altered):
    table = tables["pieces"]
    for other in (table.epsilon + Fraction(1, 10**40), Fraction(1, 3), Fraction(1, 10**13)):
        document = dict(table.document) | {"epsilon": str(other), "cap": str(checker.exponential(other))}
        with pytest.raises(checker.Failed, match="epsilon: must be"):
            checker.check(sealed(document))
    least = Fraction(1e-12)
    assert checker.exponential(Fraction(math.nextafter(1e-12, 1))) > checker.exponential(least)
